/** Training metrics as charts: one per name, a line per source, live while the job runs; what is shown of them is in the address (R209). */
import { useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, type JobDetail, type MetricSeries, type Metrics } from "../../api/types";
import { readMetrics } from "../../api/watch";
import { Empty, Pending } from "../../shared/ui";
import { MetricCard } from "./card";
import { CurveControls } from "./controls";
import { type Axis, epochsFor, keyMetric } from "./curves";
import type { TabProps } from "./tab";

const POINTS = 500;

function useMetrics(job: JobDetail): { data: Metrics | undefined; error: unknown; refetch: () => unknown } {
  const ended = ENDED.has(job.state);
  return useQuery({
    queryKey: ["metrics", job.id, ended],
    queryFn: () => readMetrics(job.id, POINTS),
    refetchInterval: ended ? false : 2000,
  });
}

export function MetricsTab({ job, search, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const query = useMetrics(job);
  const all = useMemo(() => query.data?.series ?? [], [query.data]);
  const groups = useMemo(() => grouped(all), [all]);
  if (!query.data) return <Pending query={query} />;
  if (all.length === 0) return <NoMetrics ended={ENDED.has(job.state)} />;
  const epochs = all.some((one) => epochsFor(one, all) !== undefined);
  const axis: Axis = search.axis === "epoch" && !epochs ? "steps" : (search.axis ?? "steps");
  const weight = Math.min(search.smooth ?? 0, 99) / 100;
  const chosen = groups.filter(([name]) => search.metrics === undefined || search.metrics.includes(name));
  return (
    <>
      <div className="tm-toolbar">
        <CurveControls
          axis={axis}
          setAxis={(axis) => update({ axis })}
          epochs={epochs}
          drawn={search}
          update={update}
        />
        <Select
          mode="multiple"
          allowClear
          maxTagCount="responsive"
          placeholder={t("job.metrics.choose")}
          aria-label={t("job.metrics.choose")}
          value={search.metrics ?? []}
          onChange={(names: string[]) => update({ metrics: names.length > 0 ? names : undefined })}
          options={groups.map(([name]) => ({ value: name, label: name }))}
          className="tm-choose-metrics"
          data-testid="choose-metrics"
        />
      </div>
      <div className="tm-charts" data-testid="metrics">
        {chosen.map(([name, series]) => (
          <MetricCard
            key={name}
            job={job}
            name={name}
            series={series}
            all={all}
            last={query.data?.last[name]}
            axis={axis}
            weight={weight}
            log={search.log === true}
          />
        ))}
      </div>
    </>
  );
}

/** The first metric alone, for the overview; nothing where there is none. */
export function KeyChart({ job }: { job: JobDetail }): ReactNode {
  const query = useMetrics(job);
  const all = useMemo(() => query.data?.series ?? [], [query.data]);
  const name = keyMetric([...new Set(all.map((one) => one.name))]);
  const series = useMemo(() => all.filter((one) => one.name === name), [all, name]);
  if (name === undefined) return null;
  return (
    <MetricCard
      job={job}
      name={name}
      series={series}
      all={all}
      last={query.data?.last[name]}
      axis="steps"
      weight={0}
      log={false}
    />
  );
}

function grouped(series: readonly MetricSeries[]): [string, MetricSeries[]][] {
  const groups = new Map<string, MetricSeries[]>();
  for (const one of series) groups.set(one.name, [...(groups.get(one.name) ?? []), one]);
  return [...groups.entries()].sort(([a], [b]) => a.localeCompare(b));
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
