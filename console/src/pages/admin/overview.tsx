/** What an administrator looks at daily: who uses what, which quotas are used up, which nodes are away, what does not answer. */
import { WarningOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listNodes, listWorkspaces, readCluster } from "../../api/cluster";
import type { NodeDetail, Share } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useEngines } from "../../shared/engines";
import { number } from "../../shared/format";
import { amount, useResourceName } from "../../shared/shares";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { Pending, TwoLines } from "../../shared/ui";
import { NodeLink } from "../cluster/columns";
import { Summary, Use, useUse } from "../cluster/use";
import { type QuotaLine, quotaLines, toneOfQuota } from "./quotas";

const REFRESH_MS = 30_000;
const MOST_LINES = 10;

export function OverviewAdmin(): ReactNode {
  const use = useUse(undefined);
  return (
    <div className="tm-stack" data-testid="admin-overview-page">
      <Troubles />
      {use.data && <Summary use={use.data} />}
      <div className="tm-uses">
        <Use query={use} />
        <Quotas />
      </div>
      <Away />
    </div>
  );
}

/** What has to be seen to at once. Nothing while all is well. */
function Troubles(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const engines = useEngines(true).data?.items ?? [];
  const sandbox = useQuery({ queryKey: ["cluster"], queryFn: readCluster, staleTime: REFRESH_MS }).data?.sandbox;
  const lines: [string, string][] = [
    ...engines.flatMap((one): [string, string][] =>
      one.trouble === null ? [] : [[t("engines.silentOne", { name: one.name }), pick(one.trouble)]],
    ),
    ...(sandbox?.kind === "none"
      ? [[t("admin.overview.noSandbox"), t("admin.overview.noSandboxHint")] as [string, string]]
      : []),
  ];
  if (lines.length === 0) return null;
  return (
    <section className="tm-panel tm-troubles" data-testid="admin-troubles">
      {lines.map(([title, text]) => (
        <div key={title}>
          <WarningOutlined className="tm-warn" />
          <span>
            <b>{title}</b> <span className="tm-faint">{text}</span>
          </span>
        </div>
      ))}
    </section>
  );
}

function Quotas(): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, refetchInterval: REFRESH_MS });
  const lines = quotaLines(query.data?.items ?? []);
  return (
    <section className="tm-panel" data-testid="admin-quotas">
      <h2>{t("admin.overview.quotas")}</h2>
      <div className="tm-panel-body">
        {!query.data ? (
          <Pending query={query} rows={3} />
        ) : lines.length === 0 ? (
          <p className="tm-faint tm-flat">{t("admin.overview.noQuotas")}</p>
        ) : (
          <ul className="tm-quota-lines">
            {lines.slice(0, MOST_LINES).map((line) => (
              <QuotaItem key={`${line.workspace} ${line.pool} ${line.share.resource}`} line={line} />
            ))}
            {lines.length > MOST_LINES && (
              <li className="tm-faint">{t("admin.overview.moreQuotas", { count: lines.length - MOST_LINES })}</li>
            )}
          </ul>
        )}
      </div>
    </section>
  );
}

function QuotaItem({ line }: { line: QuotaLine }): ReactNode {
  const { t } = useTranslation();
  const name = useResourceName();
  const { share } = line;
  const state = toneOfQuota(share);
  const say = (one: Share): string => `${amount(one.resource, one.used)} / ${amount(one.resource, one.nominal)}`;
  return (
    <li data-testid={`quota-${line.workspace}`} data-state={state}>
      <span className="tm-ellipsis">
        <b>{line.workspace}</b>{" "}
        <span className="tm-faint">
          {line.pool && `${line.pool} · `}
          {name(share.resource)}
        </span>
      </span>
      <span className="tm-num tm-nowrap">{say(share)}</span>
      <span className={`tm-state tm-quiet tm-tone-${state === "room" ? "green" : "amber"}`}>
        {t(`admin.overview.quota.${state}`)}
      </span>
    </li>
  );
}

const TONES = { in_service: "amber", cordoned: "amber", draining: "violet", drained: "grey" } as const;

/** Nodes that take no new jobs, by whom, since when and why. */
function Away(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const query = useQuery({ queryKey: ["nodes"], queryFn: listNodes, refetchInterval: REFRESH_MS });
  const away = (query.data?.items ?? []).filter((node) => node.service !== "in_service" || node.reason !== null);
  return (
    <section className="tm-panel" data-testid="admin-away">
      <h2 className="tm-use-head">
        {t("admin.overview.away")}
        <span className="tm-grow" />
        <Link to="/admin" search={{ tab: "nodes" }} className="tm-home-more">
          {t("admin.overview.toNodes")}
        </Link>
      </h2>
      {!query.data ? (
        <div className="tm-panel-body">
          <Pending query={query} rows={2} />
        </div>
      ) : away.length === 0 ? (
        <div className="tm-panel-body tm-faint">
          {t("admin.overview.allInService", { count: query.data.items.length })}
        </div>
      ) : (
        <DataTable<NodeDetail>
          rowKey="name"
          size="small"
          tableLayout="fixed"
          scroll={{ x: 640 }}
          dataSource={away}
          pagination={away.length > MOST_LINES ? { pageSize: MOST_LINES, showSizeChanger: false } : false}
          onRow={(node) => ({ "data-testid": `away-${node.name}` }) as object}
          columns={[
            {
              title: t("resources.col.node"),
              key: "name",
              width: 160,
              render: (_, node) => <TwoLines first={<NodeLink name={node.name} />} second={node.pool} />,
            },
            {
              title: t("admin.nodes.service"),
              key: "service",
              width: 130,
              render: (_, node) => (
                <span className={`tm-state tm-tone-${TONES[node.service]}`}>
                  {node.service === "in_service" ? t("resources.state.away") : t(`timeline.service.${node.service}`)}
                </span>
              ),
            },
            {
              title: t("admin.overview.why"),
              key: "why",
              render: (_, node) => (node.service === "in_service" ? pick(node.reason) : node.note) || "–",
            },
            {
              title: t("admin.overview.since"),
              key: "since",
              width: 170,
              render: (_, node) => <TwoLines first={<Ago at={node.since} />} second={node.by} />,
            },
            {
              title: t("admin.nodes.jobs"),
              key: "jobs",
              width: 90,
              align: "end",
              render: (_, node) => <span className="tm-num">{number(node.jobs)}</span>,
            },
          ]}
        />
      )}
    </section>
  );
}
