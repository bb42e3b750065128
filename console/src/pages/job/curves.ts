/** What can be said of curves: which is the best value, which are the same, their x axis, and as a table. Pure. */
import type { MetricSeries } from "../../api/types";

export type Goal = "min" | "max";
export type Axis = "steps" | "epoch" | "relative" | "time";

const LOW = /\b(loss|error|err|perplexity|ppl|nll|mae|mse|rmse|wer|cer|fid)\b|loss$/;
const HIGH =
  /\b(acc\w*|f1|auc|auroc|precision|recall|bleu|rouge\w*|map|miou|iou|dice|score|reward|return|r2|psnr|ssim|top1|top5)\b/;

/** Whether less or more of a metric is better, by its name; null where the name does not say. */
export function goalOf(name: string): Goal | null {
  const words = name.toLowerCase().replace(/[^a-z0-9]+/g, " ");
  if (LOW.test(words)) return "min";
  return HIGH.test(words) ? "max" : null;
}

export interface Best {
  goal: Goal;
  value: number;
  step: number | null;
}

/** Where two sources know a name, the first of these counts; as on the server (service/curves). */
const SOURCES: readonly string[] = ["sdk", "log", "tensorboard"];

/** The curves by which a job is judged, as the server does it: in the newest attempt those of one source, of several replicas that of the first;
    and what the same replica said in earlier attempts, the oldest first. */
export function countedOf(series: readonly MetricSeries[]): MetricSeries[] {
  const rank = (one: MetricSeries): number => SOURCES.indexOf(one.source);
  const [first] = [...series].sort(
    (a, b) => b.attempt - a.attempt || rank(a) - rank(b) || compareTasks(a.task, b.task),
  );
  if (first === undefined) return [];
  const same = series.filter((one) => one.source === first.source && one.task === first.task);
  return same.sort((a, b) => a.attempt - b.attempt);
}

const compareTasks = (a: string | null, b: string | null): number => ((a ?? "") < (b ?? "") ? -1 : a === b ? 0 : 1);

/** The best value of a metric, and at which step; the first where there are several. */
export function bestOf(name: string, series: readonly MetricSeries[]): Best | null {
  const goal = goalOf(name);
  if (goal === null) return null;
  let best: Best | null = null;
  for (const one of series)
    one.values.forEach((value, i) => {
      if (value === null || !Number.isFinite(value)) return;
      if (best === null || (goal === "min" ? value < best.value : value > best.value))
        best = { goal, value, step: one.steps[i] ?? null };
    });
  return best;
}

const KEYS = ["loss", "train/loss", "train_loss", "val_loss", "eval_loss", "accuracy", "acc", "val_accuracy"];
const COUNTS = /^(step|epoch|iteration|global_step|lr|learning_rate)$|\/(epoch|global_step|lr|learning_rate)$/i;

/** The one metric that is shown first. */
export function keyMetric(names: readonly string[]): string | undefined {
  const known = KEYS.find((name) => names.includes(name));
  const told = names.filter((name) => !COUNTS.test(name)).sort((a, b) => a.localeCompare(b));
  return known ?? told.find((name) => goalOf(name) !== null) ?? told[0] ?? names[0];
}

export interface Distinct {
  one: MetricSeries;
  /** The tasks whose curve it is. */
  tasks: string[];
}

/** Curves of one name, those that are the same of several replicas once. */
export function distinct(series: readonly MetricSeries[]): Distinct[] {
  const found = new Map<string, Distinct>();
  for (const one of series) {
    const key = JSON.stringify([one.attempt, one.source, one.steps, one.values]);
    const known = found.get(key);
    if (known && one.task !== null && one.count > 1) known.tasks.push(one.task);
    else found.set(known ? `${key} ${one.task ?? ""}` : key, { one, tasks: one.task === null ? [] : [one.task] });
  }
  return [...found.values()];
}

export const EPOCHS = ["epoch", "epochs", "train/epoch"];

/** The curve that says which epoch it was at each step of `one`; undefined where there is none. */
export function epochsFor(one: MetricSeries, all: readonly MetricSeries[]): MetricSeries | undefined {
  const same = all.filter((other) => EPOCHS.includes(other.name) && other.attempt === one.attempt);
  return same.find((other) => other.task === one.task && other.source === one.source) ?? same[0];
}

/** The epoch at a moment, between those that were told of; what lies before the first or behind the last is that one. */
function epochAt(epochs: MetricSeries, at: number): number | null {
  let low: [number, number] | null = null;
  for (let i = 0; i < epochs.t.length; i += 1) {
    const [when, value] = [epochs.t[i] ?? 0, epochs.values[i]];
    if (value == null) continue;
    if (when >= at) return low && when > low[0] ? low[1] + ((value - low[1]) * (at - low[0])) / (when - low[0]) : value;
    low = [when, value];
  }
  return low?.[1] ?? null;
}

/** Where the points of a curve lie on an axis. */
export function xOf(one: MetricSeries, axis: Axis, all: readonly MetricSeries[]): number[] {
  if (axis === "time") return one.t;
  const begin = one.t[0] ?? 0;
  if (axis === "relative") return one.t.map((at) => at - begin);
  const steps = one.steps.map((step, i) => step ?? i);
  if (axis === "steps") return steps;
  const epochs = epochsFor(one, all);
  return epochs ? one.t.map((at, i) => epochAt(epochs, at) ?? steps[i] ?? i) : steps;
}

const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Curves as a table, a point a line (RFC 4180). */
export function csvOf(series: readonly MetricSeries[]): string {
  const lines = ["name,attempt,task,source,step,time,value"];
  for (const one of series)
    one.values.forEach((value, i) => {
      const time = new Date((one.t[i] ?? 0) * 1000).toISOString();
      const cells = [one.name, one.attempt, one.task ?? "", one.source, one.steps[i] ?? "", time, value ?? ""];
      lines.push(cells.map((cell) => quoted(String(cell))).join(","));
    });
  return `${lines.join("\r\n")}\r\n`;
}
