/** Where things lie in a volume. Pure. */

export interface Chosen {
  path: string;
  file: File;
}

/** The path of `name` in a folder, "" for the top. */
export const below = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

/** The folder that holds what lies at `path`, as the page's address has it; undefined: the top. */
export function above(path: string): string | undefined {
  const cut = path.lastIndexOf("/");
  return cut < 0 ? undefined : path.slice(0, cut + 1);
}

/** Files of an input, each with its place in the volume: a folder that was chosen keeps its name. */
export const chosen = (files: readonly File[], folder: string): Chosen[] =>
  files.map((file) => ({ path: below(folder, file.webkitRelativePath || file.name), file }));
