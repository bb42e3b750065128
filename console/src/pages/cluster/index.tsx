/** The machines: what each has, who uses what, which take no new jobs and why. */
import { SafetyCertificateOutlined, WarningOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Segmented, Tag, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { readCluster } from "../../api/cluster";
import type { Cluster, Gpu, NodeTask, NodeView } from "../../api/types";
import { useBilingual } from "../../i18n";
import { mib, number, percent } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { Bar, Hinted, Outdated, PageHeader, Pending } from "../../shared/ui";
import { SERIES } from "../../theme";
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
  return (
    <>
      <Summary cluster={cluster} />
      <div className="tm-nodes">
        {cluster.nodes.map((node) => (
          <NodeCard key={node.name} node={node} colors={colors} />
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

function NodeCard({ node, colors }: { node: NodeView; colors: ReadonlyMap<string, string> }): ReactNode {
  const { t } = useTranslation();
  const used = node.gpus.reduce((held, gpu) => held + heldOf(gpu), 0);
  const pick = useBilingual();
  const facts = Object.entries(node.facts).filter(([, value]) => value !== "");
  const model = [...new Set(node.gpus.map((gpu) => gpu.model))].join(", ");
  return (
    <section className={`tm-panel tm-node${node.schedulable ? "" : " tm-drained"}`} data-testid={`node-${node.name}`}>
      <h2>
        <Hinted
          hint={facts.map(([key, value]) => (
            <div key={key}>
              {key}: {value}
            </div>
          ))}
        >
          {node.name}
        </Hinted>
        <span className="tm-faint tm-mono">{node.host}</span>
        <span className="tm-grow" />
        {node.pool !== "default" && <Tag className="tm-tag">{node.pool}</Tag>}
        {node.simulated && (
          <Tooltip title={t("cluster.simulatedHint")}>
            <Tag color="gold" className="tm-tag">
              {t("cluster.simulated")}
            </Tag>
          </Tooltip>
        )}
        {node.schedulable ? (
          <span className="tm-state tm-quiet tm-tone-green">{t("cluster.ready")}</span>
        ) : (
          <span className="tm-state tm-tone-amber">
            <WarningOutlined />
            {t("cluster.drained")}
          </span>
        )}
      </h2>
      <div className="tm-panel-body tm-node-body">
        {!node.schedulable && (
          <p className="tm-node-why">{t("cluster.drainedWhy", { why: pick(node.reason) || "–" })}</p>
        )}
        <Bar
          label={t("cluster.cpu")}
          used={node.cpu.used}
          total={node.cpu.total}
          text={`${number(node.cpu.used)} / ${number(node.cpu.total)}`}
        />
        <Bar
          label={t("cluster.memory")}
          used={node.memory_mib.used}
          total={node.memory_mib.total}
          text={`${mib(node.memory_mib.used)} / ${mib(node.memory_mib.total)}`}
          tone="green"
        />
        {node.gpus.length > 0 ? (
          <div>
            <div className="tm-bar-head">
              <span>
                {t("cluster.cardsShort")} · {model}
              </span>
              <span className="tm-num">
                {number(used)} / {node.gpus.length}
              </span>
            </div>
            <div className="tm-cards">
              {node.gpus.map((gpu) => (
                <Card key={gpu.index} gpu={gpu} colors={colors} />
              ))}
            </div>
          </div>
        ) : (
          <span className="tm-faint">{t("cluster.noCards")}</span>
        )}
        <Users tasks={node.tasks} colors={colors} />
      </div>
    </section>
  );
}

/** One card: a column for each who holds a part of it, as wide as the part, in the colour of its job. */
function Card({ gpu, colors }: { gpu: Gpu; colors: ReadonlyMap<string, string> }): ReactNode {
  const { t } = useTranslation();
  const parted = gpu.uses.some((use) => use.share < 1);
  const lines = [
    `${t("cluster.card", { n: gpu.index })} · ${gpu.model}`,
    ...gpu.uses.map((use) =>
      [
        use.job ? [use.name, use.task, use.owner].filter(Boolean).join(" · ") : t("cluster.another"),
        parted ? t("cluster.share", { n: Math.round(use.share * 100) }) : "",
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    gpu.uses.length === 0
      ? t("cluster.idle")
      : parted && heldOf(gpu) < 1
        ? t("cluster.shareFree", { n: Math.round((1 - heldOf(gpu)) * 100) })
        : "",
    gpu.utilisation !== null ? `${t("cluster.utilisation")} ${percent(gpu.utilisation)}%` : "",
    gpu.memory_mib !== null && gpu.memory_total_mib !== null
      ? `${t("cluster.memory")} ${mib(gpu.memory_mib)} / ${mib(gpu.memory_total_mib)}`
      : "",
  ].filter(Boolean);
  const color = (use: Gpu["uses"][number]): string => colors.get(use.job ?? "") ?? OTHERS;
  const first = gpu.uses[0];
  return (
    <Tooltip title={<CardLines lines={lines} />}>
      <span
        className="tm-card-cell"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has no other way to what the card says.
        tabIndex={0}
        role="group"
        aria-label={lines.join(", ")}
        data-testid={`card-${gpu.index}`}
        style={first && { borderColor: color(first) }}
      >
        <span className="tm-card-parts">
          {gpu.uses.map((use, i) => (
            <Part
              key={use.job ? use.job + use.task : i}
              use={use}
              utilisation={gpu.utilisation ?? 1}
              color={color(use)}
            />
          ))}
        </span>
        <b>{gpu.index}</b>
      </span>
    </Tooltip>
  );
}

/** The part of a card that one holds, filled as far as the whole card is busy. */
function Part({
  use,
  utilisation,
  color,
}: {
  use: Gpu["uses"][number];
  utilisation: number;
  color: string;
}): ReactNode {
  const style = { flexBasis: `${use.share * 100}%`, background: `${color}22` };
  const fill = <span className="tm-card-fill" style={{ height: `${percent(utilisation)}%`, background: color }} />;
  return use.job ? (
    <Link
      to="/jobs/$id"
      params={{ id: use.job }}
      search={{}}
      className="tm-card-part"
      style={style}
      aria-label={use.name ?? ""}
    >
      {fill}
    </Link>
  ) : (
    <span className="tm-card-part" style={style}>
      {fill}
    </span>
  );
}

function CardLines({ lines }: { lines: string[] }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: two lines may say the same, and a line is nothing but its text.
  return lines.map((line, i) => <div key={i}>{line}</div>);
}

/** How much of a card is held, 0 to 1. */
const heldOf = (gpu: Gpu): number => gpu.uses.reduce((sum, use) => sum + use.share, 0);

const MOST_USERS = 6;

/** Cards and tasks of jobs that the reader may not know of: only how much they hold is shown. */
const OTHERS = "#8c8c8c";

function Users({ tasks, colors }: { tasks: NodeTask[]; colors: ReadonlyMap<string, string> }): ReactNode {
  const { t } = useTranslation();
  if (tasks.length === 0) return <span className="tm-faint">{t("cluster.nobody")}</span>;
  return (
    <ul className="tm-users">
      {tasks.slice(0, MOST_USERS).map((task, i) => (
        <li key={task.job ? task.job + task.task : i}>
          <i style={{ background: colors.get(task.job ?? "") ?? OTHERS }} />
          {task.job ? (
            <Link to="/jobs/$id" params={{ id: task.job }} search={{}} className="tm-ellipsis">
              {task.name}
            </Link>
          ) : (
            <span className="tm-ellipsis">{t("cluster.another")}</span>
          )}
          <span className="tm-faint tm-mono">{task.task}</span>
          <span className="tm-line">
            {[
              task.gpus.length > 0
                ? t("unit.cards", { n: number(task.gpus.length * task.share), count: task.gpus.length * task.share })
                : "",
              t("unit.cores", { n: number(task.cpu), count: task.cpu }),
              mib(task.memory_mib),
              task.owner,
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </li>
      ))}
      {tasks.length > MOST_USERS && (
        <li className="tm-faint">{t("jobs.andMore", { count: tasks.length - MOST_USERS })}</li>
      )}
    </ul>
  );
}
