/** What the page of a sweep makes of its entries: orders, the best of them, and all of them as a table. Pure. */
import type { Json, Scalar, SweepDetail, SweepEntries, SweepEntry } from "../../api/types";

/** The order after a click on a heading: its first direction, then the other. */
export function nextOrder(order: string, key: string, falling: boolean): string {
  const first = falling ? `-${key}` : key;
  return order === first ? (falling ? key : `-${key}`) : first;
}

/** The best first where a metric says which that is. */
export const usualOrder = (sweep: SweepDetail): string =>
  sweep.metric === null ? "index" : sweep.goal === "max" ? "-best" : "best";

export const shownValue = (value: Json | undefined): string => (value == null ? "" : String(value));

export const scalar = (value: unknown): Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;

/** What an entry reached: the best value of the sweep's metric, else the last one. */
export const reachedBy = (sweep: SweepDetail, entry: SweepEntry, metric: string): number | null =>
  metric === sweep.metric && entry.best !== null ? entry.best : (entry.metrics[metric] ?? null);

/** The `most` entries with the best values; those that ran last where nobody knows which are. */
export function topOf(sweep: SweepDetail, entries: readonly SweepEntry[], most: number): SweepEntry[] {
  const sign = sweep.goal === "max" ? -1 : 1;
  const rank = (one: SweepEntry): number => {
    const value = sweep.metric === null ? null : reachedBy(sweep, one, sweep.metric);
    return value === null ? Number.POSITIVE_INFINITY : sign * value;
  };
  const began = entries.filter((one) => one.started_at !== null);
  return began.sort((a, b) => compare(rank(a), rank(b)) || a.index - b.index).slice(0, most);
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** An entry a line (RFC 4180). */
export function csvOf(found: SweepEntries): string {
  const named = found.items.some((one) => one.algorithm);
  const head = [
    ...["index", "job", "name"],
    ...(named ? ["algorithm"] : []),
    ...["state", "run_s"],
    ...found.parameters.map((name) => `parameters.${name}`),
    ...found.metrics,
    "best",
  ];
  const lines = found.items.map((one) => [
    ...[one.index, one.job, one.name],
    ...(named ? [one.algorithm ?? ""] : []),
    ...[one.state, one.run_s ?? ""],
    ...found.parameters.map((name) => shownValue(one.parameters[name])),
    ...found.metrics.map((name) => one.metrics[name] ?? ""),
    one.best ?? "",
  ]);
  return [head, ...lines].map((line) => `${line.map((cell) => quoted(String(cell))).join(",")}\r\n`).join("");
}
