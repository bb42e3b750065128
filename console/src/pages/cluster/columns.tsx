/** The columns of the table of nodes: what each is, how much of it is used and by whom. */
import { CheckCircleOutlined, ClockCircleOutlined, StopOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { type TableColumnsType, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { NodeRow } from "../../api/types";
import { useBilingual } from "../../i18n";
import { mib, number } from "../../shared/format";
import { Bar, Labels, Nothing } from "../../shared/ui";
import { cards } from "../queue/demand";
import { type JobUse, slicedIn, usesOf } from "./uses";

/** A line of the table: a node, or above the nodes of a pool its name. */
export type Entry = NodeRow | { pool: string; heading: true };
export const isHeading = (entry: Entry): entry is { pool: string; heading: true } => "heading" in entry;

const MOST_USERS = 2;

interface Shape {
  /** Flavors were chosen, so that it can be said whether they fit (R167). */
  chosen: boolean;
  narrow: boolean;
}

/** Where there is little room, what is fixed about a node is left to its details. */
export function useResourceColumns({ chosen, narrow }: Shape): TableColumnsType<Entry> {
  const { t } = useTranslation();
  return useMemo(() => {
    const bar = (label: string, tone: string | undefined, used: number, total: number, text: string): ReactNode => (
      <Bar label={label} small bare used={used} total={total} text={text} tone={tone} />
    );
    const of: TableColumnsType<NodeRow> = [
      {
        title: t("resources.col.node"),
        key: "node",
        width: narrow ? 116 : 130,
        fixed: "start",
        ellipsis: true,
        render: (_, node) => <NodeLink name={node.name} />,
      },
      {
        title: t(chosen ? "resources.col.state" : "resources.col.free"),
        key: "state",
        width: 132,
        render: (_, node) => <RoomCell node={node} />,
      },
      {
        title: t("resources.col.cards"),
        key: "cards",
        width: narrow ? 132 : 144,
        render: (_, node) =>
          node.cards.length === 0 ? (
            <Nothing />
          ) : (
            node.cards.map((card) => (
              <Bar
                key={card.model}
                label={card.model}
                small
                used={card.used}
                total={card.total}
                text={`${cards(card.used)} / ${cards(card.total)}`}
                tone="violet"
              />
            ))
          ),
      },
      {
        title: t("resources.col.cpu"),
        key: "cpu",
        width: narrow ? 84 : 96,
        render: (_, { cpu }) =>
          bar(t("resources.col.cpu"), undefined, cpu.used, cpu.total, `${number(cpu.used)} / ${number(cpu.total)}`),
      },
      {
        title: t("resources.col.memory"),
        key: "memory",
        width: narrow ? 124 : 136,
        render: (_, { memory_mib: { used, total } }) =>
          bar(t("resources.col.memory"), "green", used, total, `${mib(used)} / ${mib(total)}`),
      },
      ...(chosen
        ? ([
            {
              title: t("resources.col.suits"),
              key: "suits",
              width: narrow ? 96 : 120,
              render: (_, node) => <Labels names={node.flavors} />,
            },
          ] satisfies TableColumnsType<NodeRow>)
        : []),
      ...(narrow
        ? []
        : ([
            {
              title: t("resources.col.system"),
              key: "system",
              width: 132,
              render: (_, node) => <System node={node} />,
            },
          ] satisfies TableColumnsType<NodeRow>)),
      {
        title: t("resources.col.usage"),
        key: "usage",
        width: narrow ? 200 : undefined,
        render: (_, node) => <Users node={node} />,
      },
    ];
    return headed(of);
  }, [t, chosen, narrow]);
}

/** The same columns with a line for the name of a pool that goes through all of them. */
function headed(columns: TableColumnsType<NodeRow>): TableColumnsType<Entry> {
  return columns.map((column, i) => ({
    ...column,
    onCell: (entry: Entry) => (isHeading(entry) ? { colSpan: i === 0 ? columns.length : 0 } : {}),
    render: (value: unknown, entry: Entry, index: number) =>
      isHeading(entry)
        ? i === 0 && <span className="tm-pool-line">{entry.pool}</span>
        : (column as { render: (v: unknown, node: NodeRow, at: number) => ReactNode }).render(value, entry, index),
  })) as TableColumnsType<Entry>;
}

/** The name of a node, which leads to the jobs on it (D20). */
export function NodeLink({ name }: { name: string }): ReactNode {
  const { t } = useTranslation();
  return (
    <Link
      to="/jobs"
      search={{ node: name }}
      className="tm-name tm-ellipsis"
      title={`${name}${t("mark.colon")}${t("resources.jobsOf")}`}
      data-testid={`node-link-${name}`}
    >
      {name}
    </Link>
  );
}

const ROOM = ["green", <CheckCircleOutlined key="i" />] as const;
const FULL = ["amber", <ClockCircleOutlined key="i" />] as const;
const AWAY = ["grey", <StopOutlined key="i" />] as const;

/** With flavors whether one of them fits now, without how many GPUs are free: a node alone is neither full nor not (D4). */
function RoomCell({ node }: { node: NodeRow }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  if (node.state === "free" || node.state === "full") return <Free node={node} />;
  const [tone, icon] = node.state === "idle" ? ROOM : node.state === "tight" ? FULL : AWAY;
  const why = node.note || (node.reason && pick(node.reason));
  return (
    <Tooltip title={node.state === "away" && why ? why : t(`resources.stateHint.${node.state}`)}>
      <span className={`tm-state tm-tone-${tone}`}>
        {icon}
        {t(`resources.state.${node.state}`)}
      </span>
    </Tooltip>
  );
}

function Free({ node }: { node: NodeRow }): ReactNode {
  const { t } = useTranslation();
  const total = node.cards.reduce((sum, card) => sum + card.total, 0);
  const free = total - node.cards.reduce((sum, card) => sum + card.used, 0);
  const cores = node.cpu.total - node.cpu.used;
  const text =
    total > 0
      ? t("unit.cards", { n: cards(free), count: free })
      : t("unit.cores", { n: number(Math.round(cores * 100) / 100), count: cores });
  const none = total > 0 ? free <= 0 : cores <= 0;
  return <span className={none ? "tm-faint tm-num" : "tm-num"}>{text}</span>;
}

function System({ node }: { node: NodeRow }): ReactNode {
  const text = node.driver || node.os;
  return text ? (
    <span className="tm-faint tm-two" title={[node.os, node.kernel, node.driver].filter(Boolean).join(" · ")}>
      {text}
    </span>
  ) : (
    <Nothing />
  );
}

/** Who holds GPUs of a node, a line per job, the owner always (R168). */
function Users({ node }: { node: NodeRow }): ReactNode {
  const { t } = useTranslation();
  const uses = usesOf(node.usage, slicedIn(node.usage));
  if (uses.length === 0)
    return node.jobs === 0 ? (
      <Nothing />
    ) : (
      <span className="tm-faint">{t("resources.onCores", { count: node.jobs })}</span>
    );
  const rest = uses.length - MOST_USERS;
  return (
    <ul className="tm-usage">
      {uses.slice(0, MOST_USERS).map((use) => (
        <li key={use.key} className="tm-ellipsis">
          <UseWords use={use} />
        </li>
      ))}
      {rest > 0 && <li className="tm-faint">{t("resources.moreUsers", { count: rest })}</li>}
    </ul>
  );
}

function UseWords({ use }: { use: JobUse }): ReactNode {
  const { t } = useTranslation();
  const part = use.share < 1 ? ` (${cards(use.share)})` : "";
  const where = `${t("resources.gpu", { n: use.gpus })}${part}`;
  const title = [use.name, use.owner, use.workspace, where].filter(Boolean).join(" · ");
  return (
    <span title={title}>
      <span className="tm-faint">{where} · </span>
      {use.job ? (
        <Link to="/jobs/$id" params={{ id: use.job }} search={{}}>
          {use.name}
        </Link>
      ) : (
        <b className="tm-owner">{use.owner ?? t("queue.another")}</b>
      )}
      {use.job && <span className="tm-faint"> {use.owner}</span>}
    </span>
  );
}
