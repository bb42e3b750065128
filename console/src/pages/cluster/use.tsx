/** Who uses what: sums by person and by workspace, of a pool or of all; and how much of everything is held. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Segmented, type TableColumnsType } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { readUse } from "../../api/cluster";
import type { ClusterUse, UseRow } from "../../api/types";
import { mib, number } from "../../shared/format";
import { type Kept, useKept } from "../../shared/kept";
import { DataTable } from "../../shared/table";
import { Bar, Nothing, Pending } from "../../shared/ui";
import { cards } from "../queue/demand";

type By = "people" | "workspaces";
const PAGE = 8;

export function useUse(pool: string | undefined): Kept<ClusterUse> {
  return useKept(
    useQuery({
      queryKey: ["use", pool],
      queryFn: () => readUse(pool),
      placeholderData: keepPreviousData,
      refetchInterval: 10_000,
    }),
  );
}

/** What all hold together, in one line of figures and bars. */
export function Summary({ use }: { use: ClusterUse }): ReactNode {
  const { t } = useTranslation();
  const { gpu, cpu, memory_mib: memory } = use;
  return (
    <section className="tm-panel tm-summary" data-testid="summary">
      <Figure
        label={t("cluster.running")}
        value={use.running}
        to={["running", "initialising", "saving", "stopping", "retained"]}
      />
      <Figure label={t("cluster.waiting")} value={use.waiting} to={["queued", "pending"]} />
      <div className="tm-figure">
        <b className="tm-num">
          {use.nodes_in_service} / {use.nodes}
        </b>
        <span>{t("cluster.nodesReady")}</span>
      </div>
      {gpu.total > 0 && (
        <Bar
          label={t("cluster.gpusHeld")}
          used={gpu.used}
          total={gpu.total}
          text={`${cards(gpu.used)} / ${number(gpu.total)}`}
          tone="violet"
        />
      )}
      <Bar
        label={t("cluster.coresHeld")}
        used={cpu.used}
        total={cpu.total}
        text={t("cluster.coresOf", { held: number(cpu.used), total: number(cpu.total) })}
      />
      <Bar
        label={t("cluster.memoryHeld")}
        used={memory.used}
        total={memory.total}
        text={`${mib(memory.used)} / ${mib(memory.total)}`}
        tone="green"
      />
    </section>
  );
}

function Figure({ label, value, to }: { label: string; value: number; to: string[] }): ReactNode {
  return (
    <Link to="/jobs" search={{ state: to.join(",") }} className="tm-figure">
      <b className="tm-num">{number(value)}</b>
      <span>{label}</span>
    </Link>
  );
}

/** `choose`: show the nodes with jobs of a person; without it names are not to be pressed. */
export function Use({
  query,
  chosen,
  choose,
}: {
  query: { data: ClusterUse | undefined; error: unknown; refetch: () => unknown };
  chosen?: string;
  choose?: (owner: string | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const [by, setBy] = useState<By>("people");
  const use = query.data;
  return (
    <section className="tm-panel" data-testid="cluster-use">
      <h2 className="tm-use-head">
        {t("cluster.use.title")}
        <span className="tm-grow" />
        <Segmented<By>
          size="small"
          value={by}
          onChange={setBy}
          aria-label={t("cluster.use.by")}
          options={[
            { value: "people", label: t("cluster.use.people") },
            { value: "workspaces", label: <span data-testid="use-workspaces">{t("cluster.use.workspaces")}</span> },
          ]}
        />
      </h2>
      {use ? (
        <UseTable by={by} use={use} chosen={chosen} choose={choose} />
      ) : (
        <div className="tm-panel-body">
          <Pending query={query} rows={3} />
        </div>
      )}
    </section>
  );
}

function UseTable({
  by,
  use,
  chosen,
  choose,
}: {
  by: By;
  use: ClusterUse;
  chosen: string | undefined;
  choose: ((owner: string | undefined) => void) | undefined;
}): ReactNode {
  const { t } = useTranslation();
  const name = (row: UseRow): string => row.owner ?? row.workspace ?? "";
  const columns: TableColumnsType<UseRow> = [
    {
      title: t(by === "people" ? "cluster.use.person" : "cluster.use.workspace"),
      key: "name",
      ellipsis: true,
      render: (_, row) =>
        row.owner !== null && choose ? (
          <button
            type="button"
            className="tm-link tm-ellipsis"
            aria-pressed={chosen === row.owner}
            title={t("cluster.use.nodesOf", { name: row.owner })}
            onClick={() => choose(chosen === row.owner ? undefined : (row.owner ?? undefined))}
            data-testid={`use-${row.owner}`}
          >
            {row.owner}
          </button>
        ) : (
          <span title={name(row)}>{name(row)}</span>
        ),
    },
    amount(t("cluster.gpus"), 68, (row) => row.gpu && cards(row.gpu)),
    amount(t("cluster.cores"), 88, (row) => row.cpu && number(row.cpu)),
    amount(t("cluster.memory"), 84, (row) => row.memory_mib && mib(row.memory_mib)),
    amount(t("cluster.use.running"), 76, (row) => row.running && number(row.running)),
    {
      title: t("cluster.use.queued"),
      key: "queued",
      width: 136,
      align: "end",
      render: (_, row) => (row.waiting === 0 ? <Nothing /> : <Queued row={row} />),
    },
  ];
  return (
    <DataTable<UseRow>
      rowKey={name}
      size="small"
      className="tm-dense"
      columns={columns}
      dataSource={use[by]}
      tableLayout="fixed"
      scroll={{ x: 536 }}
      locale={{ emptyText: <span className="tm-faint">{t("cluster.use.nobody")}</span> }}
      pagination={use[by].length > PAGE ? { pageSize: PAGE, size: "small", showSizeChanger: false } : false}
      onRow={(row) => ({ "data-testid": `use-row-${name(row)}` }) as object}
    />
  );
}

function amount(title: string, width: number, of: (row: UseRow) => string | 0): TableColumnsType<UseRow>[number] {
  return {
    title,
    key: title,
    width,
    align: "end",
    render: (_, row) => <span className="tm-num">{of(row) || <Nothing />}</span>,
  };
}

/** How many jobs are queued, and for how much. */
function Queued({ row }: { row: UseRow }): ReactNode {
  const { t } = useTranslation();
  const asks =
    row.gpu_asked > 0
      ? t("unit.cards", { n: cards(row.gpu_asked), count: row.gpu_asked })
      : t("unit.cores", { n: number(row.cpu_asked), count: row.cpu_asked });
  return (
    <span className="tm-num tm-nowrap">
      {number(row.waiting)} <span className="tm-faint">· {asks}</span>
    </span>
  );
}
