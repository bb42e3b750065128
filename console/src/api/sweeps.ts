/** Sweeps: many jobs of one document. */
import { get, post, remove } from "./client";
import type { JsonObject, SweepDetail, SweepEntries, SweepPage, SweepPreview } from "./types";

const at = (id: string): string => `/sweeps/${encodeURIComponent(id)}`;

export interface SweepQuery {
  q?: string;
  mine?: boolean;
  limit?: number;
  cursor?: string | null;
}

export const listSweeps = (query: SweepQuery, signal?: AbortSignal): Promise<SweepPage> =>
  get("/sweeps", { ...query }, signal);

export const readSweep = (id: string, signal?: AbortSignal): Promise<SweepDetail> => get(at(id), {}, signal);

export const readEntries = (
  id: string,
  order: string,
  state: readonly string[],
  signal?: AbortSignal,
): Promise<SweepEntries> => get(`${at(id)}/entries`, { order, state, limit: 1000 }, signal);

export const stopSweep = (id: string): Promise<SweepDetail> => post(`${at(id)}/stop`, {});

export const retrySweep = (id: string, key: string): Promise<SweepDetail> =>
  post(`${at(id)}/retry`, {}, { headers: { "idempotency-key": key } });

export const deleteSweep = (id: string): Promise<void> => remove(at(id));

export const previewSweep = (spec: JsonObject, signal?: AbortSignal): Promise<SweepPreview> =>
  post("/sweeps/preview", { spec, dialect: "native" }, signal ? { signal } : {});

export const submitSweep = (spec: JsonObject, key: string): Promise<SweepDetail> =>
  post("/sweeps", { spec, dialect: "native" }, { headers: { "idempotency-key": key } });
