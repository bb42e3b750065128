/** The entries of a sweep as pictures: the curves of the best over each other, and parameters against what was reached. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { readComparison } from "../../api/compare";
import { ENDED, type SweepDetail, type SweepEntries } from "../../api/types";
import type { Drawn, SweepSearch } from "../../shared/address";
import { useKept } from "../../shared/kept";
import { Empty, Outdated, Pending } from "../../shared/ui";
import { CurvesTab } from "../compare/overlay";
import { Parallel } from "../compare/parallel";
import { Scatter } from "../compare/scatter";
import { NoMetrics } from "../compare/unmeasured";
import { reachedBy, scalar, topOf } from "./order";

/** As many curves as can be told apart, and lines as can still be followed. */
const CURVES = 20;
const LINES = 100;
const AGAIN_MS = 5000;

interface Props {
  sweep: SweepDetail;
  found: SweepEntries;
  search: SweepSearch;
  update: (change: Partial<SweepSearch>) => void;
}

export function SweepCurves({ sweep, found, search, update }: Props): ReactNode {
  const { t } = useTranslation();
  const jobs = useMemo(() => topOf(sweep, found.items, CURVES).map((one) => one.job), [sweep, found.items]);
  const query = useKept(
    useQuery({
      queryKey: ["compare", jobs],
      queryFn: ({ signal }) => readComparison(jobs, signal),
      enabled: jobs.length > 0,
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.jobs.some((job) => !ENDED.has(job.state)) || (state.data?.partial.length ?? 0) > 0
          ? AGAIN_MS
          : false,
    }),
  );
  if (jobs.length === 0) return <NoMetrics />;
  if (!query.data) return <Pending query={query} />;
  const first = sweep.metric === null ? undefined : [sweep.metric];
  const drawn: Drawn = { metric: search.metric ?? first, x: search.x, smooth: search.smooth, log: search.log };
  return (
    <>
      <Outdated query={query} />
      {found.total > jobs.length && <p className="tm-faint">{t("sweeps.topOnly", { count: jobs.length })}</p>}
      <CurvesTab found={query.data} search={drawn} update={update} />
    </>
  );
}

export function SweepParameters({ sweep, found, search, update }: Props): ReactNode {
  const { t } = useTranslation();
  const metrics = useMemo(
    () => [...new Set([...(sweep.metric === null ? [] : [sweep.metric]), ...found.metrics])],
    [sweep.metric, found.metrics],
  );
  const metric = metrics.find((name) => name === search.of) ?? metrics[0];
  const parameter = found.parameters.find((name) => name === search.by) ?? found.parameters[0];
  const entries = useMemo(
    () =>
      topOf(sweep, found.items, found.items.length).filter(
        (one) => metric !== undefined && reachedBy(sweep, one, metric) !== null,
      ),
    [sweep, found.items, metric],
  );
  if (metric === undefined || entries.length === 0) return <NoMetrics />;
  if (parameter === undefined) return <Nothing text={t("sweeps.noParameters")} />;
  const few = entries.slice(0, LINES);
  const title = metric === sweep.metric ? t("sweeps.bestOf", { metric }) : metric;
  const results = (of: typeof entries): (number | null)[] => of.map((one) => reachedBy(sweep, one, metric));
  const top = (of: typeof entries): Set<number> =>
    new Set(of.flatMap((one, at) => (one.job === sweep.best?.job ? [at] : [])));
  return (
    <>
      <div className="tm-toolbar">
        <Choice label={t("compare.metric")} value={metric} known={metrics} choose={(of) => update({ of })} />
        <Choice
          label={t("compare.parameter")}
          value={parameter}
          known={found.parameters}
          choose={(by) => update({ by })}
        />
      </div>
      <div className="tm-stack">
        <section className="tm-panel tm-chart-card" data-testid="sweep-scatter">
          <header>
            <h3>{t("compare.scatter", { metric: title, parameter })}</h3>
            <span className="tm-faint">{t("sweeps.scatterHint")}</span>
          </header>
          <Scatter
            names={entries.map((one) => one.name)}
            x={entries.map((one) => scalar(one.parameters[parameter]))}
            y={results(entries)}
            xName={parameter}
            yName={title}
            top={top(entries)}
          />
        </section>
        <section className="tm-panel tm-chart-card" data-testid="sweep-parallel">
          <header>
            <h3>{t("compare.parallel")}</h3>
            <span className="tm-faint">
              {entries.length > few.length ? t("sweeps.topOnly", { count: few.length }) : t("sweeps.parallelHint")}
            </span>
          </header>
          <Parallel
            names={few.map((one) => one.name)}
            axes={[
              ...found.parameters.map((name) => ({
                name,
                values: few.map((one) => scalar(one.parameters[name])),
              })),
              { name: title, values: results(few) },
            ]}
            top={top(few)}
          />
        </section>
      </div>
    </>
  );
}

function Choice(props: {
  label: string;
  value: string;
  known: readonly string[];
  choose: (value: string) => void;
}): ReactNode {
  return (
    <div className="tm-switch">
      <span>{props.label}</span>
      <Select
        value={props.value}
        onChange={props.choose}
        aria-label={props.label}
        options={props.known.map((value) => ({ value, label: value }))}
        showSearch
        className="tm-compare-choice"
      />
    </div>
  );
}

function Nothing({ text }: { text: string }): ReactNode {
  return (
    <div className="tm-panel">
      <Empty title={text} />
    </div>
  );
}
