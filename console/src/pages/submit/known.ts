/** What the code that was uploaded from this browser was: the name of its folder and how many files, by its digest. */
import type { Uploaded } from "../../api/types";

const KEY = "trainmaster.uploads";
const MOST = 100;

export interface Known {
  name: string;
  files: number;
  bytes: number;
}

function read(): [string, Known][] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? (kept as [string, Known][]) : [];
  } catch {
    return [];
  }
}

export function remember(name: string, sent: Uploaded): void {
  const rest = read().filter(([digest]) => digest !== sent.upload);
  const one: Known = { name, files: sent.files, bytes: sent.size_bytes };
  localStorage.setItem(KEY, JSON.stringify([[sent.upload, one], ...rest].slice(0, MOST)));
}

export const knownUpload = (digest: string): Known | undefined => read().find(([one]) => one === digest)?.[1];

/** sha256:3070abcd... as people compare it. Pure. */
export const shortDigest = (digest: string): string => digest.replace(/^(sha256:[0-9a-f]{8})[0-9a-f]+$/, "$1…");
