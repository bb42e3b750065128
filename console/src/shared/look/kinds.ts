/** How a file is looked at, by its name and its size; and what its bytes are. Pure. */
import type { FileItem } from "../../api/types";

export type Look = "text" | "table" | "json" | "notebook" | "picture" | "audio" | "video";

/** Read at first, and with each "show more". */
export const FIRST = 64 << 10;
export const MORE = 256 << 10;
/** Shown of a text or a table, whatever its size: the rest is a matter of a download. */
export const MOST_SHOWN = 4 << 20;

/** What is shown whole, and up to which size. What is larger and a text is shown as one. */
const WHOLE: Record<Exclude<Look, "text" | "table">, number> = {
  json: 1 << 20,
  notebook: 16 << 20,
  picture: 32 << 20,
  audio: 64 << 20,
  video: 64 << 20,
};
const TEXTS: readonly Look[] = ["json", "notebook"];

/** As what the browser is given the bytes: a name decides, never what the file says of itself. */
const TYPES: Record<string, [Look, string]> = {
  png: ["picture", "image/png"],
  jpg: ["picture", "image/jpeg"],
  jpeg: ["picture", "image/jpeg"],
  gif: ["picture", "image/gif"],
  webp: ["picture", "image/webp"],
  svg: ["picture", "image/svg+xml"],
  wav: ["audio", "audio/wav"],
  mp3: ["audio", "audio/mpeg"],
  ogg: ["audio", "audio/ogg"],
  oga: ["audio", "audio/ogg"],
  flac: ["audio", "audio/flac"],
  m4a: ["audio", "audio/mp4"],
  mp4: ["video", "video/mp4"],
  webm: ["video", "video/webm"],
  csv: ["table", ""],
  tsv: ["table", ""],
  json: ["json", ""],
  ipynb: ["notebook", ""],
};

const kindOf = (name: string): [Look, string] => {
  const end = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(TYPES, end) ? (TYPES[end] as [Look, string]) : ["text", ""];
};

/** How a file is looked at; null: it cannot be. Whether what nothing says is a text, its first bytes tell. */
export function lookOf({ name, size, kind }: Pick<FileItem, "name" | "size" | "kind">): Look | null {
  if (kind !== "file") return null;
  const [look] = kindOf(name);
  if (look === "text" || look === "table" || size <= WHOLE[look]) return look;
  return TEXTS.includes(look) ? "text" : null;
}

export const typeOf = (name: string): string => kindOf(name)[1];

/** Whether bytes are no text: a text has no NUL, and nearly all of it is UTF-8. */
export function isBinary(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return true;
  const text = new TextDecoder().decode(bytes);
  const wrong = text.split("\ufffd").length - 1;
  return wrong > 1 + text.length / 50;
}

export const isFolder = ({ kind }: Pick<FileItem, "kind">): boolean =>
  kind === "dir" || kind === "folder" || kind === "directory";

/** Where one is in a tree: a folder ends with a slash, the top is nothing. */
export function placeOf(at: string | undefined): { folder: string; file: string | null } {
  const path = at ?? "";
  if (path === "" || path.endsWith("/")) return { folder: path.replace(/\/+$/, ""), file: null };
  const cut = path.lastIndexOf("/");
  return { folder: cut < 0 ? "" : path.slice(0, cut), file: path };
}
