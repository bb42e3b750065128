/** What the page makes of a comparison: which value is the best, which metric says most, and all of it as a table. Pure. */
import type { ComparedMetric, ComparedRow, Comparison, Job, Scalar } from "../../api/types";
import { shortId } from "../../shared/format";
import { SERIES } from "../../theme";
import { keyMetric } from "../job/curves";

export type Goal = "min" | "max";

/** The value by which a job is judged: the best that it reached, the last where nobody knows which is the best. */
export function reached(metric: ComparedMetric, at: number, goal: Goal | null): number | null {
  const value = metric.values[at];
  if (!value) return null;
  return goal === "min" ? value.low : goal === "max" ? value.high : value.last;
}

/** The places of the jobs with the best value; none where nobody knows, or only one job has the metric. */
export function leading(metric: ComparedMetric, goal: Goal | null): Set<number> {
  if (goal === null) return new Set();
  const values = metric.values.map((_, at) => reached(metric, at, goal));
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return new Set();
  const top = goal === "min" ? Math.min(...known) : Math.max(...known);
  return new Set(values.flatMap((value, at) => (value === top ? [at] : [])));
}

/** The metric that is drawn first. */
export const firstMetric = (found: Comparison): string | undefined => keyMetric(found.metrics.map((one) => one.name));

/** The parameters that differ. */
export const parametersOf = (found: Comparison): ComparedRow[] =>
  found.rows.filter((row) => row.section === "parameters" && row.differs);

/** What a job is called beside others: its name, with the beginning of its id where two have the same. */
export function namesOf(jobs: readonly Pick<Job, "id" | "name">[]): string[] {
  return jobs.map((job) =>
    jobs.some((other) => other.name === job.name && other.id !== job.id) ? `${job.name} ${shortId(job.id)}` : job.name,
  );
}

/** The colour of the job at a place, and how its lines are dashed: colours come again after ten. */
export function lookOf(at: number): { color: string; dash: number[] | undefined } {
  const round = Math.floor(at / SERIES.length);
  const dashes = [undefined, [6, 4], [2, 3], [10, 3, 2, 3], [1, 5]];
  return { color: SERIES[at % SERIES.length] ?? SERIES[0], dash: dashes[round % dashes.length] };
}

export const shown = (value: Scalar | undefined): string => (value == null ? "" : String(value));

const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A job a line (RFC 4180): who it is, the settings that differ, and of each metric the last, the least and the largest value. */
export function csvOf(found: Comparison, everything: boolean): string {
  const rows = found.rows.filter((row) => everything || row.differs);
  const head = [
    ...["id", "name", "state", "owner", "workspace", "submitted_at", "run_s", "attempts"],
    ...rows.map((row) => `${row.section}.${row.name}`),
    ...found.metrics.flatMap(({ name }) => [name, `${name}.min`, `${name}.max`]),
  ];
  const lines = found.jobs.map((job, at) => [
    ...[job.id, job.name, job.state, job.owner, job.workspace, job.submitted_at, job.run_s ?? "", job.attempts],
    ...rows.map((row) => shown(row.values[at])),
    ...found.metrics.flatMap(({ values }) => {
      const value = values[at];
      return [value?.last ?? "", value?.low ?? "", value?.high ?? ""];
    }),
  ]);
  return [head, ...lines].map((line) => `${line.map((cell) => quoted(String(cell))).join(",")}\r\n`).join("");
}
