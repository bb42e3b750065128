/** Volumes: folders that jobs read and write; files in them are sent one by one, and are there when they are whole. */
import type { AssetQuery } from "./assets";
import { bytes, get, type Part, patch, post, put, remove, upload, url } from "./client";
import type { FileItem, FilePage, JobShare, VolumeDetail, VolumePage } from "./types";

const at = (id: string): string => `/volumes/${encodeURIComponent(id)}`;
const asked = (path: string): string => `path=${encodeURIComponent(path)}`;

export interface NewVolume {
  name: string;
  workspace: string;
  description: string;
  share: JobShare;
}

export const listVolumes = (query: AssetQuery, signal?: AbortSignal): Promise<VolumePage> =>
  get("/volumes", { ...query }, signal);
export const readVolume = (id: string, signal?: AbortSignal): Promise<VolumeDetail> => get(at(id), {}, signal);
export const createVolume = (wanted: NewVolume): Promise<VolumeDetail> => post("/volumes", wanted);
export const describeVolume = (id: string, description: string): Promise<VolumeDetail> =>
  patch(at(id), { description });
export const renameVolume = (id: string, name: string): Promise<VolumeDetail> => patch(at(id), { name });
export const shareVolume = (id: string, share: JobShare): Promise<VolumeDetail> => put(`${at(id)}/share`, { share });
export const deleteVolume = (id: string): Promise<void> => remove(at(id));

export const listVolumeFiles = (id: string, path: string): Promise<FilePage> => get(`${at(id)}/files`, { path });
export const volumeFileUrl = (id: string, path: string): string => url(`${at(id)}/files/content`, { path });
export const volumeFolderUrl = (id: string, path: string): string => url(`${at(id)}/files/download`, { path });
export const readVolumeFile = (id: string, path: string, signal?: AbortSignal, part?: Part): Promise<Blob> =>
  bytes(`${at(id)}/files/content`, { path }, signal, part);
export const sendVolumeFile = (
  id: string,
  path: string,
  file: Blob,
  told: (fraction: number) => void,
): Promise<FileItem> => upload(`${at(id)}/files/content?${asked(path)}`, file, "application/octet-stream", told, "PUT");
export const deleteVolumeFiles = (id: string, path: string): Promise<void> => remove(`${at(id)}/files?${asked(path)}`);
export const makeVolumeFolder = (id: string, path: string): Promise<void> => post(`${at(id)}/folders`, { path });
export const moveVolumeFiles = (id: string, path: string, to: string): Promise<void> =>
  post(`${at(id)}/moves`, { path, to });
