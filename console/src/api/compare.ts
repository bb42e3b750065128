/** Jobs side by side. */
import { get } from "./client";
import type { CodeDiff, Comparison, Overlay } from "./types";

export const readComparison = (jobs: readonly string[], signal?: AbortSignal): Promise<Comparison> =>
  get("/compare", { job: jobs }, signal);

/** Of each job, by its id, its curves and the names of its sub-tasks. */
export type Overlaid = ReadonlyMap<string, Overlay["jobs"][number]>;

/** The curves of some metrics, at most `points` points each. */
export async function readOverlay(
  jobs: readonly string[],
  metrics: readonly string[],
  points: number,
  signal?: AbortSignal,
): Promise<Overlaid> {
  const found = await get<Overlay>("/compare/curves", { job: jobs, metric: metrics, points }, signal);
  return new Map(found.jobs.map((one) => [one.id, one]));
}

export const readCodeDiff = (base: string, other: string, signal?: AbortSignal): Promise<CodeDiff> =>
  get("/compare/code", { base, other }, signal);
