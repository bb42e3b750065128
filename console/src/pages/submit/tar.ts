/** A folder chosen in the browser becomes one tar.gz, made here so that the server needs one kind of upload only. */
import { createTarPacker } from "modern-tar";

export interface Entry {
  /** Path inside the folder, with slashes. */
  path: string;
  file: File;
}

const LEFT_OUT = new Set([
  ".git",
  "node_modules",
  "__pycache__",
  ".venv",
  "venv",
  ".mypy_cache",
  ".pytest_cache",
  ".ipynb_checkpoints",
  ".DS_Store",
]);

export const wanted = (path: string): boolean =>
  !path.split("/").some((part) => LEFT_OUT.has(part) || part.endsWith(".pyc"));

/** The files of `<input webkitdirectory>`, without the folder's own name in front. */
export function chosenEntries(files: Iterable<File>): Entry[] {
  return [...files]
    .map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/") || file.name, file }))
    .filter((entry) => wanted(entry.path));
}

/** The files of a folder dropped on the page. */
export async function droppedEntries(root: FileSystemEntry): Promise<Entry[]> {
  const found: Entry[] = [];
  const walk = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (!wanted(path)) return;
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
  await walk(root, "");
  return found;
}

/** Times are left at zero and files sorted, so the same folder always has the same digest. */
export async function packFolder(entries: Entry[]): Promise<Blob> {
  const { readable, controller } = createTarPacker();
  const fill = async (): Promise<void> => {
    for (const { path, file } of [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))) {
      const body = controller.add({ name: path, size: file.size, type: "file", mode: 0o644, mtime: new Date(0) });
      await file.stream().pipeTo(body);
    }
    controller.finalize();
  };
  const zipped = readable.pipeThrough(new CompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>);
  const [blob] = await Promise.all([new Response(zipped).blob(), fill()]);
  return blob;
}
