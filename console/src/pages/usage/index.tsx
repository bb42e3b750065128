/** What was used in a month and what it cost: by day, by workspace, person and flavor; and how the workspaces stand. */
import { DownloadOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Segmented, Select, Table, type TableColumnsType } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listBalances, readReport, readReportCsv } from "../../api/money";
import type { UsageReport } from "../../api/types";
import { useAttempt } from "../../shared/attempt";
import { saveText } from "../../shared/download";
import { useKept } from "../../shared/kept";
import { useSession } from "../../shared/session";
import { DataTable } from "../../shared/table";
import { useFormatTime, useMonth } from "../../shared/time";
import { Nothing, Outdated, PageHeader, Pending } from "../../shared/ui";
import { monthsUpTo, shownAmount } from "./amounts";
import { Balances } from "./balances";
import { Days } from "./days";
import { BY, type By, rowsBy, type UsageRow } from "./groups";

const MONTHS = 24;
const PAGE = 50;

export function UsagePage(): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const monthOf = useMonth();
  const { month, workspace } = useSearch({ from: "/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const attempt = useAttempt();
  const balances = useQuery({ queryKey: ["balances"], queryFn: listBalances, refetchInterval: 30_000 });
  const query = useQuery({
    queryKey: ["usage", month, workspace],
    queryFn: () => readReport({ month, workspace }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const kept = useKept(query);
  const report = kept.data;
  const newest = balances.data?.items[0]?.month ?? report?.month ?? "";
  const names = new Set([
    ...(balances.data?.items ?? []).map((one) => one.workspace),
    ...(report?.lines ?? []).map((line) => line.workspace),
    ...(workspace ? [workspace] : []),
  ]);
  const download = async (): Promise<void> => {
    const asked = { month: report?.month, workspace };
    const text = await attempt(() => readReportCsv(asked));
    if (text) saveText(`usage-${[asked.month, workspace].filter(Boolean).join("-")}.csv`, text.made);
  };
  return (
    <div className="tm-stack" data-testid="usage">
      <PageHeader
        title={t("usage.title")}
        sub={
          report &&
          t("usage.sub", { month: monthOf(report.month), zone: report.time_zone, time: time(report.at, "minute") })
        }
        actions={
          <>
            <Select
              value={month ?? newest}
              onChange={(next: string) =>
                void navigate({
                  search: (old) => ({ ...old, month: next === newest ? undefined : next }),
                  replace: true,
                })
              }
              options={monthsUpTo(newest || "2026-01", MONTHS).map((value) => ({ value, label: monthOf(value) }))}
              aria-label={t("usage.month")}
              data-testid="usage-month"
            />
            <Select
              allowClear
              className="tm-select"
              value={workspace}
              placeholder={t("usage.allWorkspaces")}
              onChange={(next?: string) =>
                void navigate({ search: (old) => ({ ...old, workspace: next }), replace: true })
              }
              options={[...names].sort().map((value) => ({ value, label: value }))}
              aria-label={t("usage.workspace")}
              data-testid="usage-workspace"
            />
            <Button icon={<DownloadOutlined />} onClick={() => void download()} data-testid="usage-csv">
              CSV
            </Button>
          </>
        }
      />
      <Outdated query={kept} />
      {balances.data &&
        (balances.data.priced ? <Balances balances={balances.data.items} only={workspace} /> : <Unpriced />)}
      {report ? (
        <>
          <Days report={report} />
          <Lines report={report} />
        </>
      ) : (
        <section className="tm-panel">
          <div className="tm-panel-body">
            <Pending query={query} rows={4} />
          </div>
        </section>
      )}
    </div>
  );
}

/** Where nothing has a price there are no amounts; who can set one is told where. */
function Unpriced(): ReactNode {
  const { t } = useTranslation();
  if (useSession()?.user.role !== "admin") return null;
  return (
    <p className="tm-faint tm-flat" data-testid="unpriced">
      {t("mark.gap", { text: t("usage.unpriced") })}
      <Link to="/admin" search={{ tab: "pools" }}>
        {t("usage.setPrices")}
      </Link>
    </p>
  );
}

const hours = (seconds: number): string =>
  (seconds / 3600).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function Lines({ report }: { report: UsageReport }): ReactNode {
  const { t } = useTranslation();
  const [by, setBy] = useState<By>("line");
  const rows = rowsBy(report.lines, by);
  const named = (key: "workspace" | "owner" | "flavor"): TableColumnsType<UsageRow> =>
    by !== "line" && by !== key
      ? []
      : [
          {
            title: t(`usage.${key}`),
            key,
            render: (_, row) =>
              row[key] || (key === "flavor" ? <span className="tm-faint">{t("usage.noFlavor")}</span> : <Nothing />),
            sorter: (a, b) => a[key].localeCompare(b[key]),
          },
        ];
  const columns: TableColumnsType<UsageRow> = [
    ...named("workspace"),
    ...named("owner"),
    ...named("flavor"),
    ...(["machine_s", "gpu_s"] as const).map((key) => ({
      title: t(`usage.${key}`),
      key,
      width: 150,
      align: "end" as const,
      className: "tm-num",
      render: (_: unknown, row: UsageRow) => hours(row[key]),
      sorter: (a: UsageRow, b: UsageRow) => a[key] - b[key],
    })),
    ...(report.priced
      ? ([
          {
            title: `${t("usage.amount")}${t("mark.aside", { text: report.currency })}`,
            key: "amount",
            width: 190,
            align: "end",
            className: "tm-num",
            render: (_, row) => <span title={row.amount}>{shownAmount(row.amount)}</span>,
            sorter: (a, b) => Number(a.amount) - Number(b.amount),
          },
        ] satisfies TableColumnsType<UsageRow>)
      : []),
  ];
  const sums = [hours(report.machine_s), hours(report.gpu_s), ...(report.priced ? [shownAmount(report.amount)] : [])];
  const before = columns.length - sums.length;
  const headings = columns.slice(before).map(({ title }) => title as string);
  return (
    <section className="tm-panel">
      <h2 className="tm-use-head">
        {t("usage.lines")}
        <span className="tm-grow" />
        <Segmented<By>
          size="small"
          value={by}
          onChange={setBy}
          aria-label={t("usage.by")}
          options={BY.map((value) => ({ value, label: t(`usage.byOf.${value}`) }))}
        />
      </h2>
      <DataTable<UsageRow>
        rowKey="key"
        size="middle"
        scroll={{ x: 860 }}
        dataSource={rows}
        columns={columns}
        pagination={rows.length > PAGE ? { pageSize: PAGE, showSizeChanger: false } : false}
        locale={{ emptyText: <span className="tm-faint">{t("usage.none")}</span> }}
        onRow={(row) => ({ "data-testid": "usage-line", "data-amount": row.amount }) as object}
        summary={() =>
          rows.length > 0 && (
            <Table.Summary.Row data-testid="usage-total">
              <Table.Summary.Cell index={0} colSpan={before}>
                <b>{t("usage.total")}</b>
              </Table.Summary.Cell>
              {sums.map((text, at) => (
                <Table.Summary.Cell index={before + at} key={columns[before + at]?.key} align="right">
                  <span className="tm-rows-only tm-faint">{headings[at]} </span>
                  <b className="tm-num">{text}</b>
                </Table.Summary.Cell>
              ))}
            </Table.Summary.Row>
          )
        }
      />
    </section>
  );
}
