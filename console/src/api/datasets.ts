/** Data sets: trees of files with versions; uploaded as a list, then what the server lacks of it, then a commit. */
import type { AssetQuery } from "./assets";
import { bytes, get, type Part, patch, post, put, remove, upload, url } from "./client";
import type { DatasetDetail, DatasetPage, DatasetUpload, FilePage, JobShare, MadeVersion, Received } from "./types";

const at = (id: string): string => `/datasets/${encodeURIComponent(id)}`;
const on = (id: string): string => `/datasets/uploads/${encodeURIComponent(id)}`;

const BYTES = "application/octet-stream";

export interface ListedFile {
  path: string;
  size: number;
  sha256: string;
}

/** What an upload begins with. `description` and `share` are of a data set that is made by it. */
export interface NewUpload {
  name: string;
  workspace?: string;
  description: string;
  share: JobShare;
  files: ListedFile[];
}

export const listDatasets = (query: AssetQuery, signal?: AbortSignal): Promise<DatasetPage> =>
  get("/datasets", { ...query }, signal);
export const readDataset = (id: string, signal?: AbortSignal): Promise<DatasetDetail> => get(at(id), {}, signal);
export const describeDataset = (id: string, description: string): Promise<DatasetDetail> =>
  patch(at(id), { description });
export const shareDataset = (id: string, share: JobShare): Promise<DatasetDetail> => put(`${at(id)}/share`, { share });
export const deleteDataset = (id: string): Promise<void> => remove(at(id));
export const deleteDatasetVersion = (id: string, version: number): Promise<void> =>
  remove(`${at(id)}/versions/${version}`);

export const listDatasetFiles = (id: string, version: number, path: string): Promise<FilePage> =>
  get(`${at(id)}/versions/${version}/files`, { path });
export const datasetFileUrl = (id: string, version: number, path: string): string =>
  url(`${at(id)}/versions/${version}/files/content`, { path });
export const readDatasetFile = (
  id: string,
  version: number,
  path: string,
  signal?: AbortSignal,
  part?: Part,
): Promise<Blob> => bytes(`${at(id)}/versions/${version}/files/content`, { path }, signal, part);
export const datasetUrl = (id: string, version: number): string => url(`${at(id)}/versions/${version}/download`);

export const beginUpload = (wanted: NewUpload): Promise<DatasetUpload> => post("/datasets/uploads", wanted);
export const readUpload = (id: string): Promise<DatasetUpload> => get(on(id));
export const cancelUpload = (id: string): Promise<void> => remove(on(id));
export const commitUpload = (id: string): Promise<MadeVersion> => post(`${on(id)}/commit`);
export const sendBatch = (id: string, body: Blob, told: (fraction: number) => void): Promise<Received> =>
  upload(`${on(id)}/contents`, body, BYTES, told);
export const sendPiece = (
  id: string,
  sha256: string,
  offset: number,
  body: Blob,
  told: (fraction: number) => void,
): Promise<Received> => upload(`${on(id)}/contents/${sha256}?offset=${offset}`, body, BYTES, told, "PUT");
