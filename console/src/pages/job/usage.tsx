/** What the replicas use: processor, memory, cards, disk, network, with the line of what they asked for (R211). */
import { useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import type { TFunction } from "i18next";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, type JobDetail, type Usage } from "../../api/types";
import { readUsage } from "../../api/watch";
import { Chart, type Line } from "../../shared/chart";
import { bytes, MIB_STEPS, mib, number, percent, replicaOf, WHOLE_STEPS } from "../../shared/format";
import { Empty, Pending } from "../../shared/ui";
import { SERIES } from "../../theme";
import type { TabProps } from "./tab";

const POINTS = 300;
const MOST_TASKS = 8;

interface Plot {
  key: "cpu" | "memory_mib" | "gpu" | "gpu_memory_mib" | "disk" | "net" | "processes";
  columns: [column: string, suffix: "read" | "write" | "rx" | "tx" | null][];
  format: (value: number) => string;
  limit?: "cpu" | "memory_mib";
  steps?: number[];
}

const rate = (value: number): string => `${bytes(value * 1024 * 1024)}/s`;
const PLOTS: Plot[] = [
  { key: "cpu", columns: [["cpu", null]], format: number, limit: "cpu" },
  { key: "memory_mib", columns: [["memory_mib", null]], format: mib, limit: "memory_mib", steps: MIB_STEPS },
  { key: "gpu", columns: [["gpu", null]], format: (v) => `${percent(v)}%` },
  { key: "gpu_memory_mib", columns: [["gpu_memory_mib", null]], format: mib, steps: MIB_STEPS },
  {
    key: "disk",
    columns: [
      ["disk_read", "read"],
      ["disk_write", "write"],
    ],
    format: rate,
    steps: MIB_STEPS,
  },
  {
    key: "net",
    columns: [
      ["net_rx", "rx"],
      ["net_tx", "tx"],
    ],
    format: rate,
    steps: MIB_STEPS,
  },
  { key: "processes", columns: [["processes", null]], format: number, steps: WHOLE_STEPS },
];

export function UsageTab({ job, search, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const ended = ENDED.has(job.state);
  const attempt = search.attempt ?? "last";
  const query = useQuery({
    queryKey: ["usage", job.id, attempt, ended],
    queryFn: () => readUsage(job.id, attempt, POINTS),
    refetchInterval: ended ? false : 3000,
    enabled: job.attempt_list.length > 0,
  });
  if (job.attempt_list.length === 0) return <None />;
  if (!query.data) return <Pending query={query} />;
  const names = Object.keys(query.data.tasks);
  if (names.every((name) => (query.data.tasks[name]?.t.length ?? 0) === 0)) return <None />;
  const chosen = search.task && names.includes(search.task) ? [search.task] : names.slice(0, MOST_TASKS);
  return (
    <>
      <div className="tm-toolbar">
        <Select
          value={search.task && names.includes(search.task) ? search.task : ""}
          onChange={(task: string) => update({ task: task || undefined })}
          className="tm-select-task"
          aria-label={t("unit.replica")}
          showSearch
          options={[
            { value: "", label: names.length > MOST_TASKS ? `1–${MOST_TASKS} / ${names.length}` : t("job.usage.all") },
            ...names.map((name) => ({ value: name, label: replicaOf(name, job.roles) })),
          ]}
        />
        {job.attempt_list.length > 1 && (
          <Select
            value={search.attempt ?? job.attempts}
            aria-label={t("unit.attempt")}
            onChange={(number: number) => update({ attempt: number })}
            options={job.attempt_list.map((a) => ({
              value: a.number,
              label: t("job.timeline.attempt", { n: a.number }),
            }))}
          />
        )}
      </div>
      <div className="tm-charts" data-testid="usage">
        {PLOTS.filter((plot) => isMeasured(plot, query.data, chosen)).map((plot) => (
          <PlotCard key={plot.key} job={job} plot={plot} usage={query.data} tasks={chosen} />
        ))}
      </div>
      <NotMeasured job={job} plots={PLOTS.filter((plot) => !isMeasured(plot, query.data, chosen))} />
    </>
  );
}

function None(): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-panel">
      <Empty title={t("job.usage.none")}>
        <p className="tm-faint">{t("job.usage.noneHint")}</p>
      </Empty>
    </div>
  );
}

const isMeasured = (plot: Plot, usage: Usage, tasks: readonly string[]): boolean =>
  tasks.some((task) => plot.columns.some(([column]) => usage.tasks[task]?.[column]?.some((value) => value !== null)));

/** One line for all that has no chart, and why. */
function NotMeasured({ job, plots }: { job: JobDetail; plots: readonly Plot[] }): ReactNode {
  const { t } = useTranslation();
  if (plots.length === 0) return null;
  const cards = job.resources.gpu > 0;
  const why = (key: Plot["key"]): string => {
    if (key === "net") return t("job.usage.why.net");
    if (key === "gpu" || key === "gpu_memory_mib") return t(cards ? "job.usage.why.cards" : "job.usage.why.noCards");
    return t("job.usage.why.other");
  };
  const reasons = new Map<string, string[]>();
  for (const { key } of plots) reasons.set(why(key), [...(reasons.get(why(key)) ?? []), t(`job.usage.${key}`)]);
  return (
    <p className="tm-faint tm-not-measured" data-testid="not-measured">
      {t("job.usage.unavailable")}
      {t("mark.colon")}
      {[...reasons]
        .map(([reason, names]) => `${names.join(t("mark.comma"))}${t("mark.aside", { text: reason })}`)
        .join(t("mark.semicolon"))}
    </p>
  );
}

function PlotCard({
  job,
  plot,
  usage,
  tasks,
}: {
  job: JobDetail;
  plot: Plot;
  usage: Usage;
  tasks: string[];
}): ReactNode {
  const { t } = useTranslation();
  const lines = useMemo(() => plotLines(plot, usage, tasks, job.roles, t), [plot, usage, tasks, job.roles, t]);
  return (
    <section className="tm-panel tm-chart-card" data-testid={`usage-${plot.key}`}>
      <header>
        <h3>{t(`job.usage.${plot.key}`)}</h3>
      </header>
      <Chart
        lines={lines}
        time
        format={plot.format}
        steps={plot.steps}
        height={180}
        sync="usage"
        minY={0}
        xLabel={t("job.metrics.time")}
      />
    </section>
  );
}

function plotLines(plot: Plot, usage: Usage, tasks: string[], roles: JobDetail["roles"], t: TFunction): Line[] {
  const lines: Line[] = [];
  const limits = new Set<number>();
  tasks.forEach((task, i) => {
    const series = usage.tasks[task];
    if (!series) return;
    plot.columns.forEach(([column, suffix], k) => {
      lines.push({
        label: [replicaOf(task, roles), suffix ? t(`job.usage.${suffix}`) : ""].filter(Boolean).join(" "),
        x: series.t,
        y: series[column] ?? [],
        color: SERIES[i % SERIES.length] ?? SERIES[0],
        dash: k === 1 ? [5, 4] : undefined,
      });
    });
    const limit = plot.limit ? usage.limits[task]?.[plot.limit] : undefined;
    if (limit != null) limits.add(limit);
  });
  const first = usage.tasks[tasks[0] ?? ""];
  if (first && limits.size > 0 && lines.length > 0) {
    const ends = [first.t[0] ?? 0, first.t[first.t.length - 1] ?? 0];
    for (const limit of limits)
      lines.push({ label: t("job.usage.limit"), x: ends, y: [limit, limit], color: "#e03131", width: 1, dash: [3, 3] });
  }
  return lines;
}
