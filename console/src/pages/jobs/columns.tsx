/** The columns of the list (R200): what each says of a job, how wide it is, and by what a click on its heading sorts. */
import { StarFilled } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Tag } from "antd";
import { type ReactNode, useCallback } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, type Job } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration, labelText, mib, number, percent } from "../../shared/format";
import { useLeft } from "../../shared/left";
import { useFrameworkTitle } from "../../shared/meta";
import { StateTag, toneOf } from "../../shared/state";
import { Ago, Elapsed, useFormatTime } from "../../shared/time";
import { Nothing } from "../../shared/ui";
import { goalOf } from "../job/curves";

export const COLUMNS = [
  "name",
  "state",
  "run",
  "metric",
  "owner",
  "workspace",
  "submitted",
  "where",
  "resources",
  "framework",
  "priority",
  "ended",
  "labels",
  "tags",
  "note",
] as const;
const METRIC = "metric:";
/** The last value of one metric, by its name. */
export type MetricKey = `metric:${string}`;
export type ColumnKey = (typeof COLUMNS)[number] | MetricKey;

export const metricKey = (name: string): MetricKey => `${METRIC}${name}`;
/** The name of the metric that a column shows; undefined for any other column. */
export const metricOf = (key: ColumnKey): string | undefined =>
  key.startsWith(METRIC) ? key.slice(METRIC.length) : undefined;
/** A comma parts columns in an address. */
export const isColumn = (key: unknown): key is ColumnKey =>
  typeof key === "string" &&
  ((COLUMNS as readonly string[]).includes(key) ||
    (key.startsWith(METRIC) && key.length > METRIC.length && !key.includes(",")));

export interface Column {
  /** In pixels; 0: what is left. */
  width: number;
  /** The server's name of its order; without one there is none. */
  order?: string;
  /** The first click sorts from the highest. */
  falling?: boolean;
  Cell: (props: { job: Job }) => ReactNode;
}

/** The narrowest that a name can be read in: less on a phone. */
export const leastName = (room: number): number => (room < 640 ? 120 : 200);
const TABLE: Record<(typeof COLUMNS)[number], Column> = {
  name: { width: 0, order: "name", Cell: NameCell },
  state: { width: 138, order: "state", Cell: ({ job }) => <StateTag state={job.state} /> },
  run: { width: 140, order: "run_s", falling: true, Cell: RunCell },
  metric: { width: 82, Cell: MetricCell },
  owner: { width: 86, order: "owner", Cell: ({ job }) => <Text>{job.owner}</Text> },
  workspace: { width: 94, order: "workspace", Cell: ({ job }) => <Text>{job.workspace}</Text> },
  submitted: { width: 102, order: "submitted_at", falling: true, Cell: ({ job }) => <Ago at={job.submitted_at} /> },
  where: { width: 110, order: "pool", Cell: WhereCell },
  resources: { width: 142, order: "gpus", falling: true, Cell: ResourceCell },
  framework: { width: 120, order: "framework", Cell: FrameworkCell },
  priority: { width: 100, order: "priority", falling: true, Cell: ({ job }) => <Priority priority={job.priority} /> },
  ended: { width: 106, order: "ended_at", falling: true, Cell: ({ job }) => <Ago at={job.ended_at} /> },
  labels: { width: 150, Cell: LabelsCell },
  tags: { width: 150, order: "tags", Cell: TagsCell },
  note: { width: 180, Cell: ({ job }) => (job.note ? <Text>{job.note}</Text> : <Nothing />) },
};

const METRICS = new Map<MetricKey, Column>();

export function columnOf(key: ColumnKey): Column {
  const name = metricOf(key);
  if (name === undefined) return TABLE[key as (typeof COLUMNS)[number]];
  const known = METRICS.get(key as MetricKey);
  if (known) return known;
  const Cell = ({ job }: { job: Job }): ReactNode => {
    const value = job.metrics[name];
    return value == null ? <Nothing /> : <span className="tm-num">{number(value)}</span>;
  };
  const made = { width: 100, order: key, falling: goalOf(name) !== "min", Cell };
  METRICS.set(key as MetricKey, made);
  return made;
}

/** By which order the column of the key metric sorts: by that which most of these jobs show there. */
export function keyOrder(jobs: readonly Job[]): MetricKey | undefined {
  const names = new Map<string, number>();
  for (const job of jobs) {
    const name = keyMetric(job.metrics)?.[0];
    if (name !== undefined) names.set(name, (names.get(name) ?? 0) + 1);
  }
  const [most] = [...names].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return most && metricKey(most[0]);
}

/** The columns of all metrics that these jobs have. */
export const metricKeys = (jobs: readonly Job[]): MetricKey[] =>
  [...new Set(jobs.flatMap((job) => Object.keys(job.metrics)))].sort().map(metricKey).filter(isColumn) as MetricKey[];

/** Shown until somebody chooses; the last of `SPARE` goes first where there is no room. */
export const USUAL: readonly ColumnKey[] = COLUMNS.slice(0, 9);
const SPARE: readonly ColumnKey[] = ["run", "submitted", "where", "resources", "owner", "workspace", "metric"];
/** Pixels of the tick box and of the menu. */
export const TICK = 40;
export const MENU = 44;

export const widthOf = (keys: readonly ColumnKey[], name: number): number =>
  keys.reduce((sum, key) => sum + (columnOf(key).width || name), TICK + MENU);

/** The usual columns that fit beside a readable name. */
export function fitting(room: number, mine: boolean): ColumnKey[] {
  let keys = USUAL.filter((key) => !(mine && key === "owner"));
  for (const spare of [...SPARE].reverse()) {
    if (widthOf(keys, leastName(room)) <= room) break;
    keys = keys.filter((key) => key !== spare);
  }
  return keys;
}

function Text({ children }: { children: string }): ReactNode {
  return (
    <span className="tm-ellipsis" title={children}>
      {children}
    </span>
  );
}

/** What there is to say of a job that waits or failed takes the second line of its whole row, so that it can be read. */
export const speaks = (job: Job): boolean =>
  job.reason !== null || (job.verdict !== null && (job.state === "failed" || job.state === "expired"));

function NameCell({ job }: { job: Job }): ReactNode {
  const pick = useBilingual();
  const failed = job.verdict && speaks(job) ? pick(job.verdict.title) : "";
  const labels = Object.entries(job.labels).map(labelText).join(" · ");
  const said = [...job.tags, labels].filter(Boolean).join(" · ");
  const line = failed || job.description || said || job.id.slice(0, 12);
  return (
    <>
      <span className="tm-name-line">
        <a href={`/jobs/${job.id}`} className="tm-name" data-testid="job-link" title={job.name}>
          {job.name}
        </a>
        {job.favorite && <Star />}
        {job.priority !== "normal" && <Priority priority={job.priority} />}
      </span>
      {job.reason ? (
        <WaitLine job={job} />
      ) : job.sweep && line === job.id.slice(0, 12) ? (
        <SweepLine sweep={job.sweep} />
      ) : (
        <span className={failed ? "tm-line tm-line-bad tm-why" : "tm-line"} title={line}>
          {line}
        </span>
      )}
    </>
  );
}

function SweepLine({ sweep }: { sweep: NonNullable<Job["sweep"]> }): ReactNode {
  const { t } = useTranslation();
  return (
    <Link
      to="/sweeps/$id"
      params={{ id: sweep.id }}
      search={{}}
      className="tm-line"
      onClick={(event) => event.stopPropagation()} // the row leads to the job
      data-testid="job-sweep"
    >
      {t("jobs.sweep.of", { name: sweep.name, n: sweep.index })}
    </Link>
  );
}

function Star(): ReactNode {
  const { t } = useTranslation();
  return (
    <StarFilled
      className="tm-star"
      title={t("jobs.favorite.is")}
      aria-label={t("jobs.favorite.is")}
      data-testid="star"
    />
  );
}

function WaitLine({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const time = useFormatTime();
  if (!job.reason) return null;
  const at = job.forecast?.at ?? null;
  const start = at === null ? "" : t("queue.forecast.about", { time: time(at, "minute") });
  const by = job.forecast?.by && start ? t("queue.forecast.by", { engine: job.forecast.by }) : "";
  const position = job.reason.position;
  const place = position != null && position > 0 ? t("jobs.position", { n: position }) : "";
  const text = [place, pick(job.reason.message), start].filter(Boolean).join(" · ");
  return (
    <span className="tm-line tm-why" data-testid="wait-reason" title={[text, by].filter(Boolean).join(" · ")}>
      {text}
    </span>
  );
}

export function Priority({ priority }: { priority: string }): ReactNode {
  const { t, i18n } = useTranslation();
  const key = `priority.${priority}`;
  return (
    <Tag color={priority === "normal" ? "default" : priority === "urgent" ? "orange" : "red"} className="tm-tag">
      {i18n.exists(key) ? t(key as "priority.normal") : priority}
    </Tag>
  );
}

/** Which of many metrics is shown in one cell: what people ask for first. */
const KEY_METRICS = [
  "accuracy",
  "acc",
  "val_accuracy",
  "eval_accuracy",
  "top1",
  "reward",
  "f1",
  "val_loss",
  "eval_loss",
  "loss",
];

export function keyMetric(metrics: Record<string, number | null>): [string, number] | null {
  const names = Object.keys(metrics).filter((name) => metrics[name] !== null);
  const wanted =
    KEY_METRICS.find((name) => names.includes(name)) ?? names.find((name) => name !== "step" && name !== "epoch");
  return wanted === undefined ? null : [wanted, metrics[wanted] ?? Number.NaN];
}

function MetricCell({ job }: { job: Job }): ReactNode {
  const found = keyMetric(job.metrics);
  if (!found) return <Nothing />;
  const all = Object.entries(job.metrics).map(([name, value]) => `${name}: ${value === null ? "–" : number(value)}`);
  return (
    <div className="tm-cell" title={all.join("\n")}>
      <span className="tm-num">{number(found[1])}</span>
      {!speaks(job) && <span className="tm-line">{found[0]}</span>}
    </div>
  );
}

/** How long, of how much, and how far. Nothing before it has started. */
function RunCell({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  if (job.started_at === null) return <Nothing />;
  const live = !ENDED.has(job.state);
  const progress = job.progress && job.state !== "succeeded" && !speaks(job);
  const limit =
    live && job.duration_s !== null ? t("jobs.ranOf", { run: "", limit: duration(job.duration_s) }).trim() : "";
  return (
    <div className="tm-cell">
      <span className="tm-ellipsis">
        <Elapsed from={job.started_at} to={job.ended_at} calm />
        {progress && limit && <span className="tm-faint"> {limit}</span>}
      </span>
      {progress ? <SmallProgress job={job} /> : limit && <span className="tm-line">{limit}</span>}
    </div>
  );
}

function SmallProgress({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  const p = job.progress;
  const left = useLeft()(job, Date.now() / 1000);
  if (!p) return null;
  const share = percent(p.fraction);
  return (
    <div
      className="tm-progress"
      role="progressbar"
      aria-label={t("mark.named", { what: t("jobs.col.progress"), name: job.name })}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share}
      data-testid="progress"
      title={[t("jobs.step", { step: number(p.step), of: number(p.of) }), left?.text].filter(Boolean).join(" · ")}
    >
      <div className="tm-progress-track">
        <div
          className={`tm-progress-bar tm-fill-${job.state === "running" ? "blue" : toneOf(job.state)}`}
          style={{ width: `${share}%` }}
        />
      </div>
      <span className="tm-num">{Math.floor(share)}%</span>
    </div>
  );
}

function WhereCell({ job }: { job: Job }): ReactNode {
  const nodes = job.nodes.join(", ");
  return (
    <div className="tm-cell" title={nodes ? `${job.pool}: ${nodes}` : job.pool}>
      <span className="tm-ellipsis">{job.pool}</span>
      {nodes && !speaks(job) && (
        <span className="tm-line">{job.nodes.length > 2 ? `${job.nodes[0]} +${job.nodes.length - 1}` : nodes}</span>
      )}
    </div>
  );
}

function ResourceCell({ job }: { job: Job }): ReactNode {
  const { t } = useTranslation();
  const { gpu, cpu, memory_mib, gpu_type } = job.resources;
  const cores = t("unit.cores", { n: number(cpu), count: cpu });
  const cards = gpu > 0 ? (gpu_type ? `${number(gpu)} × ${gpu_type}` : t("unit.cards", { n: gpu, count: gpu })) : "";
  const rest = cards ? `${cores} · ${mib(memory_mib)}` : mib(memory_mib);
  const replicas = t("jobs.replicas", { count: job.tasks.total });
  return (
    <div className="tm-cell" title={[replicas, cards, cores, mib(memory_mib)].filter(Boolean).join(" · ")}>
      <span className="tm-ellipsis">{cards || cores}</span>
      {!speaks(job) && <span className="tm-line">{rest}</span>}
    </div>
  );
}

function FrameworkCell({ job }: { job: Job }): ReactNode {
  return <Text>{useFrameworkTitle()(job.framework)}</Text>;
}

function LabelsCell({ job }: { job: Job }): ReactNode {
  const labels = Object.entries(job.labels).map(labelText);
  return labels.length > 0 ? <Text>{labels.join(" · ")}</Text> : <Nothing />;
}

function TagsCell({ job }: { job: Job }): ReactNode {
  return job.tags.length > 0 ? <Text>{job.tags.join(" · ")}</Text> : <Nothing />;
}

export function useColumnTitle(): (key: ColumnKey) => string {
  const { t } = useTranslation();
  return useCallback((key) => metricOf(key) ?? t(`jobs.col.${key as (typeof COLUMNS)[number]}`), [t]);
}
