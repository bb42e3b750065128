/** Files that were chosen or dropped, with their paths inside the data set. Everything is taken: data have no caches. */
import type { Chosen } from "./send";

/** The files of an input, without the name of the folder that was chosen in front. */
export const chosenFiles = (files: Iterable<File>): Chosen[] =>
  [...files].map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/") || file.name, file }));

/** What was dropped: one folder is the data set itself, several things lie in it. */
export async function droppedFiles(entries: readonly FileSystemEntry[]): Promise<Chosen[]> {
  const found: Chosen[] = [];
  const walk = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.push({ path, file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    // A reader gives at most a hundred at a time.
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return;
      for (const child of some) await walk(child, path === "" ? child.name : `${path}/${child.name}`);
    }
  };
  const [first] = entries;
  if (entries.length === 1 && first?.isDirectory) await walk(first, "");
  else for (const entry of entries) await walk(entry, entry.name);
  return found;
}
