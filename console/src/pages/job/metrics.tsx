/** Training metrics as charts: one per name, a line per source, live while the job runs (R209). */
import { useQuery } from "@tanstack/react-query";
import { Input, Segmented, Slider, Switch } from "antd";
import type { TFunction } from "i18next";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, type MetricSeries } from "../../api/types";
import { readMetrics } from "../../api/watch";
import { Chart, type Line } from "../../shared/chart";
import { number } from "../../shared/format";
import { smooth } from "../../shared/smooth";
import { Empty, Pending } from "../../shared/ui";
import { SERIES } from "../../theme";
import type { TabProps } from "./tab";

type Axis = "steps" | "time" | "relative";
const POINTS = 500;

export function MetricsTab({ job }: TabProps): ReactNode {
  const { t } = useTranslation();
  const ended = ENDED.has(job.state);
  const query = useQuery({
    queryKey: ["metrics", job.id, ended],
    queryFn: () => readMetrics(job.id, POINTS),
    refetchInterval: ended ? false : 2000,
  });
  const [weight, setWeight] = useState(0);
  const [log, setLog] = useState(false);
  const [axis, setAxis] = useState<Axis>("steps");
  const [filter, setFilter] = useState("");
  const groups = useMemo(() => grouped(query.data?.series ?? [], filter), [query.data, filter]);
  if (!query.data) return <Pending query={query} />;
  if (query.data.series.length === 0) return <NoMetrics ended={ended} />;
  return (
    <>
      <div className="tm-toolbar">
        <Segmented<Axis>
          value={axis}
          onChange={setAxis}
          options={(["steps", "relative", "time"] as const).map((value) => ({
            value,
            label: t(`job.metrics.${value}`),
          }))}
          aria-label={t("job.metrics.axis")}
        />
        <label className="tm-switch">
          {t("job.metrics.smoothing")}
          <Slider
            min={0}
            max={0.99}
            step={0.01}
            value={weight}
            onChange={setWeight}
            className="tm-slider"
            tooltip={{ open: false }}
          />
          <span className="tm-num">{weight.toFixed(2)}</span>
        </label>
        <label className="tm-switch">
          <Switch size="small" checked={log} onChange={setLog} />
          {t("job.metrics.log")}
        </label>
        <Input
          allowClear
          placeholder={t("job.metrics.filter")}
          value={filter}
          onChange={(e) => setFilter(e.target.value)}
          style={{ width: 180 }}
        />
      </div>
      <div className="tm-charts" data-testid="metrics">
        {groups.map(([name, series]) => (
          <MetricCard
            key={name}
            name={name}
            series={series}
            last={query.data.last[name]}
            axis={axis}
            weight={weight}
            log={log}
          />
        ))}
      </div>
    </>
  );
}

function grouped(series: MetricSeries[], filter: string): [string, MetricSeries[]][] {
  const groups = new Map<string, MetricSeries[]>();
  for (const one of series) {
    if (!one.name.toLowerCase().includes(filter.trim().toLowerCase())) continue;
    groups.set(one.name, [...(groups.get(one.name) ?? []), one]);
  }
  return [...groups.entries()].sort(([a], [b]) => a.localeCompare(b));
}

interface CardProps {
  name: string;
  series: MetricSeries[];
  last: number | null | undefined;
  axis: Axis;
  weight: number;
  log: boolean;
}

function MetricCard({ name, series, last, axis, weight, log }: CardProps): ReactNode {
  const { t } = useTranslation();
  const lines = useMemo(
    () => series.flatMap((one, i) => linesOf(one, i, series, axis, weight, t)),
    [series, axis, weight, t],
  );
  const sources = [...new Set(series.map((one) => one.source))];
  return (
    <section className="tm-panel tm-chart-card" data-testid={`metric-${name}`}>
      <header>
        <h3>{name}</h3>
        <span className="tm-faint">
          {sources
            .map((s) => (s === "sdk" || s === "log" || s === "tensorboard" ? t(`job.metrics.source.${s}`) : s))
            .join(", ")}
        </span>
        <span className="tm-grow" />
        {last != null && (
          <span className="tm-num">
            <span className="tm-faint">{t("job.metrics.last")}</span> <b>{number(last)}</b>
          </span>
        )}
      </header>
      <Chart
        lines={lines}
        log={log}
        time={axis === "time"}
        sync={`metrics-${axis}`}
        xLabel={t(`job.metrics.${axis}`)}
        height={210}
      />
    </section>
  );
}

function linesOf(
  one: MetricSeries,
  index: number,
  all: MetricSeries[],
  axis: Axis,
  weight: number,
  t: TFunction,
): Line[] {
  const color = SERIES[index % SERIES.length] ?? SERIES[0];
  const several = new Set(all.map((s) => s.attempt)).size > 1;
  const label =
    [
      one.task,
      several ? t("job.metrics.attempt", { n: one.attempt }) : "",
      new Set(all.map((s) => s.source)).size > 1 ? one.source : "",
    ]
      .filter(Boolean)
      .join(" · ") || one.name;
  const begin = one.t[0] ?? 0;
  const x =
    axis === "steps" ? one.steps.map((step, i) => step ?? i) : axis === "time" ? one.t : one.t.map((at) => at - begin);
  if (weight <= 0) return [{ label, x, y: one.values, color }];
  return [
    { label: `${label} raw`, x, y: one.values, color: `${color}40`, width: 1, ghost: true },
    { label, x, y: smooth(one.values, weight), color, width: 2 },
  ];
}

const SNIPPET = `import trainmaster
trainmaster.log({"loss": loss, "accuracy": accuracy}, step=step)`;

function NoMetrics({ ended }: { ended: boolean }): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-panel">
      <Empty title={t(ended ? "job.metrics.noneEnded" : "job.metrics.none")}>
        <p className="tm-faint">{t("job.metrics.noneHint")}</p>
        <pre className="tm-code tm-snippet">{SNIPPET}</pre>
      </Empty>
    </div>
  );
}
