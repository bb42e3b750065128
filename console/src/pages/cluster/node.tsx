/** What a row of the table opens into: the GPUs of a node with who holds them, everybody who runs there, and what the node is. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { readNode } from "../../api/cluster";
import type { Gpu, NodeTask, NodeView } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useEngineOf } from "../../shared/engines";
import { mib, number, percent } from "../../shared/format";
import { Pending } from "../../shared/ui";
import { colorsOf } from "./uses";

const REFRESH_MS = 5000;
type Holder = Pick<NodeTask, "job" | "owner">;
type ColorOf = (holder: Holder) => string;

export function NodeDetails({ name, pool }: { name: string; pool: string }): ReactNode {
  const query = useQuery({ queryKey: ["node", name], queryFn: () => readNode(name), refetchInterval: REFRESH_MS });
  const measured = useEngineOf()(pool)?.can.measures !== false;
  if (!query.data) return <Pending query={query} rows={3} />;
  return <Details node={query.data} measured={measured} />;
}

/** `measured`: its engine sees how busy GPUs are. */
function Details({ node, measured }: { node: NodeView; measured: boolean }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const colorOf = useMemo(() => colorsOf(node.tasks), [node]);
  const facts = Object.entries(node.facts).filter(([, value]) => value !== "");
  return (
    <div className="tm-node-details" data-testid={`node-${node.name}`}>
      {!node.schedulable && <p className="tm-node-why">{t("cluster.drainedWhy", { why: pick(node.reason) || "–" })}</p>}
      <section>
        <h3>{node.gpus.length > 0 ? t("cluster.gpus") : t("cluster.noCards")}</h3>
        {node.gpus.length > 0 && (
          <div className="tm-cards">
            {node.gpus.map((gpu) => (
              <Card key={gpu.index} gpu={gpu} colorOf={colorOf} measured={measured} />
            ))}
          </div>
        )}
      </section>
      <section>
        <h3>{t("cluster.whoRuns")}</h3>
        <Users tasks={node.tasks} colorOf={colorOf} />
      </section>
      <section>
        <h3>{t("cluster.facts")}</h3>
        <dl className="tm-node-facts">
          <Fact name={t("cluster.host")} value={node.host} />
          {facts.map(([key, value]) => (
            <Fact key={key} name={key} value={value} />
          ))}
          {node.simulated && <Fact name={t("cluster.simulated")} value={t("cluster.simulatedHint")} />}
        </dl>
      </section>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** One GPU: a column for each who holds a part of it, as wide as the part, in the color of its job. */
function Card({ gpu, colorOf, measured }: { gpu: Gpu; colorOf: ColorOf; measured: boolean }): ReactNode {
  const { t } = useTranslation();
  const parted = gpu.uses.some((use) => use.share < 1);
  const lines = [
    `${t("cluster.card", { n: gpu.index })} · ${gpu.model}`,
    ...gpu.uses.map((use) =>
      [
        [use.name, use.task, use.owner ?? t("queue.another"), use.workspace].filter(Boolean).join(" · "),
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
    gpu.utilisation !== null
      ? `${t("cluster.utilisation")} ${percent(gpu.utilisation)}%`
      : measured
        ? ""
        : t("cluster.notMeasured"),
    gpu.memory_mib !== null && gpu.memory_total_mib !== null
      ? `${t("cluster.memory")} ${mib(gpu.memory_mib)} / ${mib(gpu.memory_total_mib)}`
      : "",
  ].filter(Boolean);
  const first = gpu.uses[0];
  return (
    <Tooltip title={<CardLines lines={lines} />}>
      <span
        className="tm-card-cell"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has no other way to what the cell says.
        tabIndex={0}
        role="group"
        aria-label={lines.join(", ")}
        data-testid={`card-${gpu.index}`}
        style={first && { borderColor: colorOf(first) }}
      >
        <span className="tm-card-parts">
          {gpu.uses.map((use, i) => (
            <Part
              key={use.job ? use.job + use.task : i}
              use={use}
              utilisation={gpu.utilisation ?? 1}
              color={colorOf(use)}
            />
          ))}
        </span>
        <b>{gpu.index}</b>
      </span>
    </Tooltip>
  );
}

/** The part of a GPU that one replica holds, filled as far as the whole GPU is busy. */
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

/** How much of a GPU is held, 0 to 1. */
const heldOf = (gpu: Gpu): number => gpu.uses.reduce((sum, use) => sum + use.share, 0);

const MOST_USERS = 12;

function Users({ tasks, colorOf }: { tasks: NodeTask[]; colorOf: ColorOf }): ReactNode {
  const { t } = useTranslation();
  if (tasks.length === 0) return <span className="tm-faint">{t("cluster.nobody")}</span>;
  return (
    <ul className="tm-users">
      {tasks.slice(0, MOST_USERS).map((task, i) => (
        <li key={task.job ? task.job + task.task : i}>
          <i style={{ background: colorOf(task) }} />
          <span className="tm-ellipsis">
            {task.job ? (
              <Link to="/jobs/$id" params={{ id: task.job }} search={{}}>
                {task.name}
              </Link>
            ) : (
              <b className="tm-owner">{task.owner ?? t("queue.another")}</b>
            )}
            <span className="tm-faint"> {[task.job && task.owner, task.workspace].filter(Boolean).join(" · ")}</span>
          </span>
          <span className="tm-line">
            {[
              task.gpus.length > 0
                ? t("unit.cards", { n: number(task.gpus.length * task.share), count: task.gpus.length * task.share })
                : "",
              t("unit.cores", { n: number(task.cpu), count: task.cpu }),
              mib(task.memory_mib),
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
