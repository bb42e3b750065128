/** What a version or a job was made of, and what was made of it. */
import { get } from "./client";
import type { Lineage, LineageAsked } from "./types";

export const readLineage = (kind: LineageAsked, ref: string, signal?: AbortSignal): Promise<Lineage> =>
  get("/lineage", { kind, ref }, signal);
