/** One machine on the cluster page: what it has, who holds which of its cards, who else runs on it. */
import { WarningOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Tag, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Gpu, NodeTask, NodeView } from "../../api/types";
import { useBilingual } from "../../i18n";
import { mib, number, percent } from "../../shared/format";
import { Bar, Hinted } from "../../shared/ui";

/** `measured`: its engine sees how busy cards are. */
export function NodeCard({
  node,
  colors,
  measured,
}: {
  node: NodeView;
  colors: ReadonlyMap<string, string>;
  measured: boolean;
}): ReactNode {
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
                <Card key={gpu.index} gpu={gpu} colors={colors} measured={measured} />
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
function Card({
  gpu,
  colors,
  measured,
}: {
  gpu: Gpu;
  colors: ReadonlyMap<string, string>;
  measured: boolean;
}): ReactNode {
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
    gpu.utilisation !== null
      ? `${t("cluster.utilisation")} ${percent(gpu.utilisation)}%`
      : measured
        ? ""
        : t("cluster.notMeasured"),
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

/** The part of a card that one task holds, filled as far as the whole card is busy. */
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
export const heldOf = (gpu: Gpu): number => gpu.uses.reduce((sum, use) => sum + use.share, 0);

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
