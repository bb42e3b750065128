/** Algorithms: programs with versions, and with what may be set of them; jobs run them. */
import type { AssetQuery } from "./assets";
import { get, patch, post, put, remove, url } from "./client";
import type { AlgorithmDetail, AlgorithmPage, AlgorithmSpec, JobShare, JsonObject } from "./types";

const at = (id: string): string => `/algorithms/${encodeURIComponent(id)}`;

/** The next version of `name`. `description` and `share` are of an algorithm that is made by it. */
export interface NewAlgorithm {
  name: string;
  spec: JsonObject;
  workspace?: string;
  description?: string;
  share?: JobShare;
}

export const listAlgorithms = (query: AssetQuery, signal?: AbortSignal): Promise<AlgorithmPage> =>
  get("/algorithms", { ...query }, signal);
export const readAlgorithm = (id: string, version?: number, signal?: AbortSignal): Promise<AlgorithmDetail> =>
  get(at(id), version === undefined ? {} : { version }, signal);
export const createAlgorithm = (made: NewAlgorithm): Promise<AlgorithmDetail> => post("/algorithms", made);
export const describeAlgorithm = (id: string, description: string): Promise<AlgorithmDetail> =>
  patch(at(id), { description });
export const shareAlgorithm = (id: string, share: JobShare): Promise<AlgorithmDetail> =>
  put(`${at(id)}/share`, { share });
export const deleteAlgorithm = (id: string): Promise<void> => remove(at(id));
export const deleteAlgorithmVersion = (id: string, version: number): Promise<void> =>
  remove(`${at(id)}/versions/${version}`);
export const algorithmUrl = (id: string, version: number): string => url(`${at(id)}/versions/${version}/download`);

/** What the version that is shown says; undefined where none is left, or it cannot be read. Pure. */
export const specOf = ({ spec }: AlgorithmDetail): AlgorithmSpec | undefined =>
  "command" in spec && "parameters" in spec ? (spec as unknown as AlgorithmSpec) : undefined;
