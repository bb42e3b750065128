/** Code folders on their way to the server. */
import { upload } from "./client";
import type { Uploaded } from "./types";

export const uploadCode = (archive: Blob, onProgress: (fraction: number) => void): Promise<Uploaded> =>
  upload("/uploads", archive, "application/gzip", onProgress);
