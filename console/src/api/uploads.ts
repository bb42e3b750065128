/** Code folders on their way to the server. */
import { upload } from "./client";

export interface Uploaded {
  upload: string;
  files: number;
  size_bytes: number;
}

export const uploadCode = (archive: Blob, onProgress: (fraction: number) => void): Promise<Uploaded> =>
  upload("/uploads", archive, "application/gzip", onProgress);
