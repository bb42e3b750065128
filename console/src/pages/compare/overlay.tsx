/** Curves of all jobs over each other, a chart for each metric. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { type Overlaid, readOverlay } from "../../api/compare";
import { type Comparison, ENDED, type Job } from "../../api/types";
import type { Drawn } from "../../shared/address";
import { Chart } from "../../shared/chart";
import { useKept } from "../../shared/kept";
import { Outdated, Pending } from "../../shared/ui";
import { CurveControls } from "../job/controls";
import { type Axis, EPOCHS } from "../job/curves";
import { linesOf } from "./lines";
import { firstMetric } from "./table";
import { NoMetrics } from "./unmeasured";

/** Of one curve at most and at least, and of all together: what is drawn within half a second, and looks the same on a page. */
const POINTS = 500;
const FEWEST = 150;
const TOGETHER = 5000;
const AGAIN_MS = 3000;
/** The most that are asked for at once, the epochs among them (GET /compare/curves). */
const MOST = 12;

interface CurvesProps {
  found: Comparison;
  search: Drawn;
  update: (change: Partial<Drawn>) => void;
}

export function CurvesTab({ found, search, update }: CurvesProps): ReactNode {
  const { t } = useTranslation();
  const all = found.metrics.map((metric) => metric.name);
  const first = firstMetric(found);
  const chosen = (search.metric ?? (first === undefined ? [] : [first])).filter((name) => all.includes(name));
  const epochs = EPOCHS.filter((name) => all.includes(name));
  const axis: Axis = search.x === "epoch" && epochs.length === 0 ? "steps" : (search.x ?? "steps");
  const asked = [...new Set([...chosen.slice(0, MOST), ...(axis === "epoch" ? epochs : [])])].sort();
  const jobs = found.jobs.map((job) => job.id);
  const points = Math.min(POINTS, Math.max(FEWEST, Math.floor(TOGETHER / jobs.length)));
  const query = useKept(
    useQuery({
      queryKey: ["compare-curves", jobs, asked],
      queryFn: ({ signal }) => readOverlay(jobs, asked, points, signal),
      enabled: asked.length > 0,
      placeholderData: keepPreviousData,
      refetchInterval: found.jobs.every((job) => ENDED.has(job.state)) ? false : AGAIN_MS,
    }),
  );
  if (all.length === 0) return <NoMetrics />;
  const weight = Math.min(search.smooth ?? 0, 99) / 100;
  return (
    <>
      <div className="tm-toolbar">
        <CurveControls
          axis={axis}
          setAxis={(x) => update({ x })}
          epochs={epochs.length > 0}
          drawn={search}
          update={update}
        />
        <Select
          mode="multiple"
          maxCount={MOST}
          maxTagCount="responsive"
          placeholder={t("compare.metrics")}
          aria-label={t("compare.metrics")}
          value={chosen}
          onChange={(names: string[]) => update({ metric: names.length > 0 ? names : undefined })}
          options={all.map((name) => ({ value: name, label: name }))}
          className="tm-choose-metrics"
          data-testid="compare-metrics"
        />
      </div>
      <Outdated query={query} />
      {query.data ? (
        <div className={chosen.length > 1 ? "tm-charts" : ""}>
          {chosen.map((name) => (
            <Overlay
              key={name}
              name={name}
              jobs={found.jobs}
              curves={query.data ?? NONE}
              axis={axis}
              weight={weight}
              log={search.log === true}
              height={chosen.length > 1 ? 240 : 380}
            />
          ))}
        </div>
      ) : (
        <Pending query={query} />
      )}
    </>
  );
}

const NONE: Overlaid = new Map();

function Overlay(props: {
  name: string;
  jobs: readonly Job[];
  curves: Overlaid;
  axis: Axis;
  weight: number;
  log: boolean;
  height: number;
}): ReactNode {
  const { name, jobs, curves, axis, weight, log, height } = props;
  const { t } = useTranslation();
  const lines = useMemo(() => linesOf(name, jobs, curves, axis, weight), [name, jobs, curves, axis, weight]);
  return (
    <section className="tm-panel tm-chart-card" data-testid={`overlay-${name}`} data-lines={lines.length}>
      <header>
        <h3>{name}</h3>
      </header>
      <Chart
        lines={lines}
        log={log}
        time={axis === "time"}
        xLabel={t(`job.metrics.${axis}`)}
        sync={`compare-${axis}`}
        height={height}
      />
    </section>
  );
}
