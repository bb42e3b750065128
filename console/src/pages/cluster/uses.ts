/** Who uses a node, job by job: what the platform tells card by card, put together as people read it. Pure. */
import type { NodeRow } from "../../api/types";
import { SERIES } from "../../theme";

type CardUse = NodeRow["usage"][number];

export interface JobUse {
  key: string;
  job: string | null;
  name: string | null;
  owner: string | null;
  workspace: string;
  /** "0–3, 6"; of sliced GPUs each with its slice: "0.1". */
  gpus: string;
  /** Of each GPU, 0 to 1. */
  share: number;
}

/** 0, 1, 2, 5 -> "0–2, 5". Pure. */
export function ranges(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const n of sorted) {
    const last = runs.at(-1);
    if (last && n === last[1] + 1) last[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`)).join(", ");
}

/** The GPUs of a node by the job that holds them, in the order of the first. Of others' jobs one row is one person. Pure. */
export function usesOf(usage: readonly CardUse[], sliced: boolean): JobUse[] {
  const groups = new Map<string, CardUse[]>();
  for (const use of usage) {
    const key = use.job ?? `${use.owner ?? ""}/${use.workspace}/${use.share}`;
    groups.set(key, [...(groups.get(key) ?? []), use]);
  }
  return [...groups].map(([key, uses]) => {
    const { job, name, owner, workspace, share } = uses[0] as CardUse;
    const gpus = sliced
      ? uses.map((use) => `${use.physical}.${use.virtual}`).join(", ")
      : ranges(uses.map((use) => use.physical));
    return { key, job, name, owner, workspace, share, gpus };
  });
}

/** Whether any GPU of a node is cut into slices. Pure. */
export const slicedIn = (usage: readonly CardUse[]): boolean =>
  usage.some((use) => use.virtual > 0 || use.index !== use.physical);

/** A color for each job that the reader knows, else for each person, in the order of their names. Pure. */
export function colorsOf(
  tasks: readonly { job: string | null; owner: string | null }[],
): (task: { job: string | null; owner: string | null }) => string {
  const keyOf = (task: { job: string | null; owner: string | null }): string => task.job ?? `@${task.owner ?? ""}`;
  const keys = [...new Set(tasks.map(keyOf))].sort();
  const table = new Map(keys.map((key, i) => [key, SERIES[i % SERIES.length] ?? SERIES[0]]));
  return (task) => table.get(keyOf(task)) ?? SERIES[9];
}
