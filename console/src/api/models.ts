/** Saved models and their immutable versions. */
import { get, url } from "./client";
import type { FilePage, ModelDetail, ModelItem } from "./types";

const at = (id: string): string => `/models/${encodeURIComponent(id)}`;

export const listModels = (q: string): Promise<{ items: ModelItem[] }> => get("/models", { q });
export const readModel = (id: string): Promise<ModelDetail> => get(at(id));
export const listModelFiles = (id: string, version: number, path: string): Promise<FilePage> =>
  get(`${at(id)}/versions/${version}/files`, { path });
export const modelFileUrl = (id: string, version: number, path: string): string =>
  url(`${at(id)}/versions/${version}/files/content`, { path });
export const modelUrl = (id: string, version: number): string => url(`${at(id)}/versions/${version}/download`);
