/** Parameters against results: one of them as dots, all of them as parallel coordinates. */
import { Segmented, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Empty } from "../../shared/ui";
import { Parallel } from "./parallel";
import type { PartProps } from "./part";
import { Scatter } from "./scatter";
import { firstMetric, type Goal, leading, namesOf, parametersOf, reached } from "./table";
import { NoMetrics } from "./unmeasured";

export function ParametersTab({ found, search, update }: PartProps): ReactNode {
  const { t } = useTranslation();
  const rows = parametersOf(found);
  const metric = found.metrics.find((one) => one.name === (search.of ?? firstMetric(found))) ?? found.metrics[0];
  const row = rows.find((one) => one.name === search.by) ?? rows[0];
  if (metric === undefined) return <NoMetrics />;
  if (row === undefined)
    return (
      <div className="tm-panel">
        <Empty title={t("compare.noParameters")} />
      </div>
    );
  const goal: Goal | null = search.best ?? metric.better;
  const names = namesOf(found.jobs);
  const results = found.jobs.map((_, at) => reached(metric, at, goal));
  const top = leading(metric, goal);
  const title = goal === null ? metric.name : t("compare.bestValue", { metric: metric.name });
  return (
    <>
      <div className="tm-toolbar">
        <Choice
          label={t("compare.metric")}
          value={metric.name}
          options={found.metrics.map((one) => one.name)}
          choose={(of) => update({ of })}
          test="compare-of"
        />
        <Choice
          label={t("compare.parameter")}
          value={row.name}
          options={rows.map((one) => one.name)}
          choose={(by) => update({ by })}
          test="compare-by"
        />
        <div className="tm-switch">
          <span>{t("compare.goal.title")}</span>
          <Segmented<Goal | "auto">
            value={search.best ?? "auto"}
            onChange={(to) => update({ best: to === "auto" ? undefined : to })}
            options={(["auto", "min", "max"] as const).map((value) => ({ value, label: t(`compare.goal.${value}`) }))}
            aria-label={t("compare.goal.title")}
          />
        </div>
      </div>
      <div className="tm-stack">
        <section className="tm-panel tm-chart-card" data-testid="compare-parallel">
          <header>
            <h3>{t("compare.parallel")}</h3>
            <span className="tm-faint">{t("compare.parallelHint")}</span>
          </header>
          <Parallel
            names={names}
            axes={[...rows.map(({ name, values }) => ({ name, values })), { name: title, values: results }]}
            top={top}
          />
        </section>
        <section className="tm-panel tm-chart-card" data-testid="compare-scatter">
          <header>
            <h3>{t("compare.scatter", { metric: title, parameter: row.name })}</h3>
            <span className="tm-faint">{t("compare.scatterHint")}</span>
          </header>
          <Scatter names={names} x={row.values} y={results} xName={row.name} yName={title} top={top} />
        </section>
      </div>
    </>
  );
}

function Choice(props: {
  label: string;
  value: string;
  options: readonly string[];
  choose: (value: string) => void;
  test: string;
}): ReactNode {
  return (
    <div className="tm-switch">
      <span>{props.label}</span>
      <Select
        value={props.value}
        onChange={props.choose}
        aria-label={props.label}
        options={props.options.map((value) => ({ value, label: value }))}
        showSearch
        className="tm-compare-choice"
        data-testid={props.test}
      />
    </div>
  );
}
