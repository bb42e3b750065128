/** A job a row, with what became of each metric: the best value is marked, and every column orders. */
import { CloseOutlined, TrophyOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button, type TableColumnsType } from "antd";
import type { SorterResult } from "antd/es/table/interface";
import type { TFunction } from "i18next";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ComparedMetric, Job } from "../../api/types";
import { duration, number } from "../../shared/format";
import { StateTag } from "../../shared/state";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { Nothing, TwoLines } from "../../shared/ui";
import { Dot } from "./look";
import type { PartProps } from "./part";
import { leading, namesOf, reached } from "./table";

interface Row {
  job: Job;
  at: number;
  name: string;
}

const METRIC = "metric:";
const METRIC_PX = 140;

export function Results({ found, search, update }: PartProps): ReactNode {
  const { t } = useTranslation();
  const names = useMemo(() => namesOf(found.jobs), [found.jobs]);
  const rows = found.jobs.map((job, at): Row => ({ job, at, name: names[at] ?? job.name }));
  const drop = (row: Row): void => {
    const rest = found.jobs.filter((job) => job.id !== row.job.id).map((job) => job.id);
    update({ job: rest.length > 0 ? rest : undefined, base: undefined, other: undefined });
  };
  const by = search.order?.replace(/^-/, "");
  const way = search.order === undefined ? undefined : search.order.startsWith("-") ? "descend" : "ascend";
  const sorted = (key: string): "ascend" | "descend" | null => (by === key ? (way ?? null) : null);
  const about: TableColumnsType<Row> = [
    { title: t("jobs.col.state"), key: "state", width: 124, render: (_, { job }) => <StateTag state={job.state} /> },
    {
      title: t("jobs.col.submitted"),
      key: "submitted_at",
      width: 124,
      sorter: (a, b) => a.job.submitted_at - b.job.submitted_at,
      sortOrder: sorted("submitted_at"),
      render: (_, { job }) => <Ago at={job.submitted_at} />,
    },
    {
      title: t("jobs.col.run"),
      key: "run_s",
      width: 104,
      align: "end",
      sorter: (a, b) => (a.job.run_s ?? -1) - (b.job.run_s ?? -1),
      sortOrder: sorted("run_s"),
      render: (_, { job }) => <span className="tm-num">{job.run_s === null ? "–" : duration(job.run_s, true)}</span>,
    },
  ];
  const metrics = found.metrics.map((metric) => metricColumn(metric, sorted(METRIC + metric.name), t));
  const columns: TableColumnsType<Row> = [
    {
      title: t("compare.job"),
      key: "name",
      width: 240,
      fixed: "start",
      sorter: (a, b) => a.name.localeCompare(b.name),
      sortOrder: sorted("name"),
      render: (_, row) => (
        <span className="tm-compare-job">
          <Dot at={row.at} />
          <TwoLines
            first={
              <Link to="/jobs/$id" params={{ id: row.job.id }} search={{}} className="tm-name" title={row.name}>
                {row.name}
              </Link>
            }
            second={row.job.owner}
          />
        </span>
      ),
    },
    ...about,
    ...metrics,
    {
      key: "remove",
      width: 48,
      render: (_, row) => (
        <Button
          type="text"
          size="small"
          icon={<CloseOutlined />}
          aria-label={t("compare.removeJob", { name: row.name })}
          onClick={() => drop(row)}
          data-testid="compare-remove"
        />
      ),
    },
  ];
  return (
    <div className="tm-panel tm-table" data-testid="compare-results">
      <DataTable<Row>
        rowKey={(row) => row.job.id}
        size="small"
        columns={columns}
        dataSource={rows}
        tableLayout="fixed"
        scroll={{ x: 650 + METRIC_PX * found.metrics.length }}
        pagination={false}
        onChange={(_page, _filters, sorter) => update({ order: orderOf(sorter) })}
      />
    </div>
  );
}

function orderOf(sorter: SorterResult<Row> | SorterResult<Row>[]): string | undefined {
  const one = Array.isArray(sorter) ? sorter[0] : sorter;
  if (!one?.order) return undefined;
  return `${one.order === "descend" ? "-" : ""}${String(one.columnKey)}`;
}

/** What has no value comes last, whichever way. */
function metricColumn(
  metric: ComparedMetric,
  sortOrder: "ascend" | "descend" | null,
  t: TFunction,
): TableColumnsType<Row>[number] {
  const { better } = metric;
  const best = t("compare.best");
  const title = t(better === null ? "compare.lastOf" : "compare.bestOf", { metric: metric.name });
  const top = leading(metric, better);
  return {
    title: (
      <span className="tm-ellipsis" title={title}>
        {title}
      </span>
    ),
    key: METRIC + metric.name,
    width: METRIC_PX,
    align: "end",
    sortOrder,
    sorter: (a, b, way) => {
      const [x, y] = [reached(metric, a.at, better), reached(metric, b.at, better)];
      if (x === null || y === null) return (x === y ? 0 : x === null ? 1 : -1) * (way === "descend" ? -1 : 1);
      return x - y;
    },
    render: (_, { at }) => {
      const value = reached(metric, at, better);
      if (value === null) return <Nothing />;
      if (!top.has(at)) return <span className="tm-num">{number(value)}</span>;
      return (
        <strong className="tm-num tm-compare-best" title={best} data-testid={`best-${metric.name}`}>
          <TrophyOutlined aria-label={best} /> {number(value)}
        </strong>
      );
    },
  };
}
