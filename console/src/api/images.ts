/** Images: Python environments and containers; a build goes on in the background and becomes a version. */
import type { AssetQuery } from "./assets";
import { get, patch, post, put, remove } from "./client";
import type { ImageBuild, ImageBuilds, ImageDetail, ImagePage, JobShare } from "./types";

const at = (id: string): string => `/images/${encodeURIComponent(id)}`;
const on = (id: string): string => `/image-builds/${encodeURIComponent(id)}`;

/** What an image is made of, and what it is for: `requirements`, `pyproject` with or without `uv_lock`, or `container`. */
export interface NewImage {
  name: string;
  workspace?: string;
  description: string;
  requirements?: string;
  pyproject?: string;
  uv_lock?: string;
  container?: string;
  secret?: string;
  code?: string;
  python: string;
  frameworks: string[];
  cards: string[];
  share: JobShare;
}

export const listImages = (query: AssetQuery, signal?: AbortSignal): Promise<ImagePage> =>
  get("/images", { ...query }, signal);
export const readImage = (id: string, version?: number, signal?: AbortSignal): Promise<ImageDetail> =>
  get(at(id), { version }, signal);
export const createImage = (wanted: NewImage): Promise<ImageBuild> => post("/images", wanted);
export const describeImage = (id: string, description: string): Promise<ImageDetail> => patch(at(id), { description });
export const shareImage = (id: string, share: JobShare): Promise<ImageDetail> => put(`${at(id)}/share`, { share });
export const deleteImage = (id: string): Promise<void> => remove(at(id));
export const deleteImageVersion = (id: string, version: number): Promise<void> =>
  remove(`${at(id)}/versions/${version}`);

export const listBuilds = (signal?: AbortSignal): Promise<ImageBuilds> => get("/image-builds", {}, signal);
export const readBuild = (id: string, signal?: AbortSignal): Promise<ImageBuild> => get(on(id), {}, signal);
export const stopBuild = (id: string): Promise<void> => remove(on(id));
