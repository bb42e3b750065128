/** Saved models and their immutable versions. */
import type { AssetQuery } from "./assets";
import { bytes, get, type Part, remove, url } from "./client";
import type { FilePage, ModelDetail, ModelPage } from "./types";

const at = (id: string): string => `/models/${encodeURIComponent(id)}`;

export const listModels = (query: AssetQuery, signal?: AbortSignal): Promise<ModelPage> =>
  get("/models", { ...query }, signal);
export const readModel = (id: string): Promise<ModelDetail> => get(at(id));
export const listModelFiles = (id: string, version: number, path: string): Promise<FilePage> =>
  get(`${at(id)}/versions/${version}/files`, { path });
export const modelFileUrl = (id: string, version: number, path: string): string =>
  url(`${at(id)}/versions/${version}/files/content`, { path });
export const readModelFile = (
  id: string,
  version: number,
  path: string,
  signal?: AbortSignal,
  part?: Part,
): Promise<Blob> => bytes(`${at(id)}/versions/${version}/files/content`, { path }, signal, part);
export const deleteModel = (id: string): Promise<void> => remove(at(id));
export const deleteModelVersion = (id: string, version: number): Promise<void> =>
  remove(`${at(id)}/versions/${version}`);
export const modelUrl = (id: string, version: number): string => url(`${at(id)}/versions/${version}/download`);
