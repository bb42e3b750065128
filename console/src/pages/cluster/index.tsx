/** The cluster for those who share it: how much is held, by whom, over time; and the nodes, page by page. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Alert } from "antd";
import { type ReactNode, useCallback } from "react";
import { useTranslation } from "react-i18next";
import { useBilingual } from "../../i18n";
import { useEngines } from "../../shared/engines";
import { Outdated, PageHeader, Pending } from "../../shared/ui";
import { Engines } from "./engines";
import { Past } from "./past";
import { type Choice, ResourcesTable } from "./resources";
import { Summary, Use, useUse } from "./use";

export function ClusterPage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/cluster" });
  const navigate = useNavigate({ from: "/cluster" });
  const choose = useCallback(
    (change: Partial<Choice>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true }),
    [navigate],
  );
  const use = useUse(search.pool);
  return (
    <div data-testid="cluster">
      <PageHeader title={t("cluster.title")} sub={search.pool && t("cluster.onlyPool", { pool: search.pool })} />
      <Outdated query={use} />
      <SilentEngines />
      {use.data ? <Summary use={use.data} /> : <Pending query={use} rows={2} />}
      <div className="tm-uses">
        <Use query={use} chosen={search.owner} choose={(owner) => choose({ owner })} />
        <Past pool={search.pool} />
      </div>
      <h2 className="tm-h2 tm-nodes-head">{t("cluster.nodes")}</h2>
      <ResourcesTable choice={search} choose={choose} />
      <div className="tm-below">
        <Engines />
      </div>
    </div>
  );
}

/** Engines that do not answer: what runs there cannot be followed. Nothing while all do. */
function SilentEngines(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const silent = (useEngines(true).data?.items ?? []).filter((one) => one.trouble !== null);
  return silent.map((one) => (
    <Alert
      key={one.name}
      type="warning"
      showIcon
      className="tm-outdated"
      data-testid={`silent-${one.name}`}
      title={t("engines.silentOne", { name: one.name })}
      description={pick(one.trouble)}
    />
  ));
}
