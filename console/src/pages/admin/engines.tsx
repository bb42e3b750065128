/** What runs the jobs: this machine and clusters, the pools that live on each, and whether it answers. */
import { WarningOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Table, Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listEngines } from "../../api/cluster";
import type { Engine } from "../../api/types";
import { useBilingual } from "../../i18n";
import { Pending } from "../../shared/ui";

export function Engines(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const query = useQuery({ queryKey: ["engines"], queryFn: listEngines, refetchInterval: 15_000 });
  return (
    <section className="tm-panel" data-testid="admin-engines">
      <div className="tm-admin-head">
        <div className="tm-grow">
          <h2>{t("admin.engines.title")}</h2>
          <p className="tm-faint tm-flat">{t("admin.engines.hint")}</p>
        </div>
      </div>
      {!query.data ? (
        <div className="tm-panel-body">
          <Pending query={query} rows={1} />
        </div>
      ) : (
        <Table<Engine>
          rowKey="name"
          size="middle"
          pagination={false}
          dataSource={query.data.items}
          columns={[
            {
              title: t("admin.name"),
              key: "name",
              width: 220,
              render: (_, one) => (
                <div className="tm-cell">
                  <b>{one.name}</b>
                  <span className="tm-line">{pick(one.label)}</span>
                </div>
              ),
            },
            {
              title: t("admin.engines.pools"),
              key: "pools",
              render: (_, one) => (
                <span className="tm-labels">
                  {one.pools.map((name) => (
                    <Tag key={name} className="tm-tag">
                      {name}
                    </Tag>
                  ))}
                </span>
              ),
            },
            {
              title: t("admin.pools.nodes"),
              key: "nodes",
              width: 170,
              render: (_, one) => t("admin.pools.inService", { n: one.nodes_in_service, total: one.nodes }),
            },
            {
              title: t("admin.engines.state"),
              key: "state",
              width: 340,
              render: (_, one) => <State trouble={one.trouble} />,
            },
          ]}
        />
      )}
    </section>
  );
}

function State({ trouble }: { trouble: Engine["trouble"] }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  if (trouble === null) return <span className="tm-state tm-quiet tm-tone-green">{t("admin.engines.answers")}</span>;
  return (
    <div className="tm-cell">
      <span>
        <span className="tm-state tm-tone-amber">
          <WarningOutlined />
          {t("admin.engines.silent")}
        </span>
      </span>
      <span className="tm-faint">{pick(trouble)}</span>
    </div>
  );
}
