/** The machines: what each has, who uses what, which take no new jobs and why. */
import { SafetyCertificateOutlined, WarningOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Segmented, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { readCluster } from "../../api/cluster";
import type { Cluster, NodeView } from "../../api/types";
import { useEngineOf } from "../../shared/engines";
import { mib, number } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { Bar, Outdated, PageHeader, Pending } from "../../shared/ui";
import { SERIES } from "../../theme";
import { Engines } from "./engines";
import { heldOf, NodeCard } from "./node";
import { ResourcesTable } from "./resources";

export function ClusterPage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/cluster" });
  const navigate = useNavigate({ from: "/cluster" });
  const query = useKept(useQuery({ queryKey: ["cluster"], queryFn: readCluster, refetchInterval: 5000 }));
  return (
    <div data-testid="cluster">
      <PageHeader
        title={t("cluster.title")}
        actions={
          <>
            {query.data && <Sandbox sandbox={query.data.sandbox} />}
            <Segmented<"nodes" | "resources">
              value={search.view ?? "nodes"}
              aria-label={t("resources.view")}
              onChange={(view) =>
                void navigate({
                  search: (old) => ({ ...old, view: view === "nodes" ? undefined : view }),
                  replace: true,
                })
              }
              options={[
                { value: "nodes", label: t("resources.nodes") },
                { value: "resources", label: <span data-testid="view-resources">{t("resources.table")}</span> },
              ]}
            />
          </>
        }
      />
      {search.view !== "resources" && <Outdated query={query} />}
      {!query.data ? (
        <Pending query={query} rows={8} />
      ) : search.view === "resources" ? (
        <ResourcesTable
          choice={search}
          choose={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
        />
      ) : (
        <ClusterView cluster={query.data} />
      )}
    </div>
  );
}

function Sandbox({ sandbox }: Pick<Cluster, "sandbox">): ReactNode {
  const { t } = useTranslation();
  const safe = sandbox.kind !== "none";
  return (
    <Tooltip title={safe ? sandbox.detail : t("cluster.sandboxNone")}>
      <span className={`tm-state tm-tone-${safe ? "green" : "amber"}`}>
        {safe ? <SafetyCertificateOutlined /> : <WarningOutlined />}
        {t("cluster.sandbox")}
        {t("mark.colon")}
        {sandbox.kind}
      </span>
    </Tooltip>
  );
}

function ClusterView({ cluster }: { cluster: Cluster }): ReactNode {
  const colors = useMemo(() => colorsOf(cluster), [cluster]);
  const engineOf = useEngineOf();
  return (
    <>
      <Summary cluster={cluster} />
      <div className="tm-gap">
        <Engines />
      </div>
      <div className="tm-nodes">
        {cluster.nodes.map((node) => (
          <NodeCard
            key={node.name}
            node={node}
            colors={colors}
            measured={engineOf(node.pool)?.can.measures !== false}
          />
        ))}
      </div>
    </>
  );
}

/** Every job gets one colour on the whole page, so that a gang is seen across nodes. */
function colorsOf(cluster: Cluster): ReadonlyMap<string, string> {
  const ids = new Set(
    cluster.nodes.flatMap((node) =>
      [...node.tasks, ...node.gpus.flatMap((gpu) => gpu.uses)].flatMap(({ job }) => (job ? [job] : [])),
    ),
  );
  return new Map([...ids].sort().map((id, i) => [id, SERIES[i % SERIES.length] ?? SERIES[0]]));
}

function Summary({ cluster }: { cluster: Cluster }): ReactNode {
  const { t } = useTranslation();
  const nodes = cluster.nodes;
  const sum = (of: (node: NodeView) => number): number => nodes.reduce((total, node) => total + of(node), 0);
  const cards = sum((node) => node.gpus.length);
  const used = sum((node) => node.gpus.reduce((held, gpu) => held + heldOf(gpu), 0));
  const cpu = { used: sum((n) => n.cpu.used), total: sum((n) => n.cpu.total) };
  const memory = { used: sum((n) => n.memory_mib.used), total: sum((n) => n.memory_mib.total) };
  return (
    <section className="tm-panel tm-summary">
      <Figure
        label={t("cluster.running")}
        value={cluster.queue.running}
        to={["running", "initialising", "saving", "stopping", "retained"]}
      />
      <Figure label={t("cluster.waiting")} value={cluster.queue.waiting} to={["queued", "pending"]} />
      <div className="tm-figure">
        <b className="tm-num">
          {nodes.filter((n) => n.schedulable).length} / {nodes.length}
        </b>
        <span>{t("cluster.nodesReady")}</span>
      </div>
      {cards > 0 && (
        <Bar label={t("cluster.cards")} used={used} total={cards} text={`${number(used)} / ${cards}`} tone="violet" />
      )}
      <Bar
        label={t("cluster.cpu")}
        used={cpu.used}
        total={cpu.total}
        text={`${number(cpu.used)} / ${number(cpu.total)}`}
      />
      <Bar
        label={t("cluster.memory")}
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
    <Link to="/" search={{ state: to }} className="tm-figure">
      <b className="tm-num">{value}</b>
      <span>{label}</span>
    </Link>
  );
}
