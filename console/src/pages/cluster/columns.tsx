/** The columns of the table of machines: what each is, how much of it is used and by whom. */
import { CheckCircleOutlined, ClockCircleOutlined, StopOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { type TableColumnsType, Tooltip } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { NodeRow } from "../../api/types";
import { useBilingual } from "../../i18n";
import { mib, number } from "../../shared/format";
import { Bar, Hinted, Labels, Nothing, TwoLines } from "../../shared/ui";
import { cards } from "../queue/demand";

const MOST_USERS = 4;

/** Where there is little room, what is fixed about a machine shares one column. */
export function useResourceColumns(chosen: boolean, narrow: boolean): TableColumnsType<NodeRow> {
  const { t } = useTranslation();
  return useMemo(() => {
    const driver = (node: NodeRow): ReactNode => node.driver || <Nothing />;
    const system = (node: NodeRow): ReactNode => (
      <>
        <TwoLines first={node.os || "–"} second={node.kernel} />
        {narrow && (
          <span className="tm-line" title={t("resources.col.driver")}>
            {driver(node)}
          </span>
        )}
      </>
    );
    const machine: TableColumnsType<NodeRow> = narrow
      ? [
          {
            title: (
              <>
                {t("resources.col.system")}
                <br />
                {t("resources.col.driver")}
              </>
            ),
            key: "system",
            width: 112,
            render: (_, node) => system(node),
          },
        ]
      : [
          { title: t("resources.col.system"), key: "system", width: 140, render: (_, node) => system(node) },
          {
            title: t("resources.col.driver"),
            key: "driver",
            width: 96,
            ellipsis: true,
            render: (_, node) => driver(node),
          },
        ];
    const suits: TableColumnsType<NodeRow> = chosen
      ? [
          {
            title: t("resources.col.suits"),
            key: "suits",
            width: narrow ? 96 : 120,
            render: (_, node) => <Labels names={node.flavors} />,
          },
        ]
      : [];
    return [
      {
        title: t("resources.col.node"),
        key: "node",
        width: narrow ? 96 : 126,
        fixed: "start",
        render: (_, node) => <TwoLines first={<b title={node.name}>{node.name}</b>} second={node.pool} />,
      },
      {
        title: t("resources.col.state"),
        key: "state",
        width: narrow ? 88 : 96,
        render: (_, node) => <RoomTag node={node} />,
      },
      {
        title: t("resources.col.cards"),
        key: "cards",
        width: narrow ? 112 : 150,
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
        width: narrow ? 76 : 104,
        render: (_, node) => (
          <Bar
            label={t("resources.col.cpu")}
            small
            bare
            used={node.cpu.used}
            total={node.cpu.total}
            text={`${number(node.cpu.used)} / ${number(node.cpu.total)}`}
          />
        ),
      },
      {
        title: t("resources.col.memory"),
        key: "memory",
        width: narrow ? 124 : 140,
        render: (_, node) => (
          <Bar
            label={t("resources.col.memory")}
            small
            bare
            used={node.memory_mib.used}
            total={node.memory_mib.total}
            text={`${mib(node.memory_mib.used)} / ${mib(node.memory_mib.total)}`}
            tone="green"
          />
        ),
      },
      ...machine,
      ...suits,
      {
        title: (
          <Hinted hint={t("resources.usageHint")} className="tm-help">
            {t("resources.col.usage")}
          </Hinted>
        ),
        key: "usage",
        width: narrow ? 168 : 190,
        render: (_, node) => <Usage node={node} />,
      },
    ];
  }, [t, chosen, narrow]);
}

const ROOM = ["green", <CheckCircleOutlined key="i" />] as const;
const FULL = ["amber", <ClockCircleOutlined key="i" />] as const;
const LOOKS = { idle: ROOM, free: ROOM, tight: FULL, full: FULL, away: ["grey", <StopOutlined key="i" />] } as const;

function RoomTag({ node }: { node: NodeRow }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const [tone, icon] = LOOKS[node.state];
  const total = node.cards.reduce((sum, card) => sum + card.total, 0);
  const used = node.cards.reduce((sum, card) => sum + card.used, 0);
  const text =
    total > 0 && node.state === "free"
      ? t("resources.state.cards", { n: cards(total - used) })
      : t(`resources.state.${node.state}`);
  const why = node.note || (node.reason && pick(node.reason));
  return (
    <Tooltip title={node.state === "away" && why ? why : t(`resources.stateHint.${node.state}`)}>
      <span className={`tm-state tm-tone-${tone}`}>
        {icon}
        {text}
      </span>
    </Tooltip>
  );
}

function Usage({ node }: { node: NodeRow }): ReactNode {
  const { t } = useTranslation();
  if (node.usage.length === 0) return <span className="tm-faint">{t("resources.nobody")}</span>;
  const one = (use: NodeRow["usage"][number]): ReactNode => {
    const label = use.name === null ? `${use.label}${t("queue.another")}` : use.label;
    const text = use.share < 1 ? `${label} (${cards(use.share)})` : label;
    return use.job ? (
      <Link
        to="/jobs/$id"
        params={{ id: use.job }}
        search={{}}
        title={[use.model, use.task, use.owner].filter(Boolean).join(" · ")}
      >
        {text}
      </Link>
    ) : (
      <span>{text}</span>
    );
  };
  const rest = node.usage.slice(MOST_USERS);
  return (
    <ul className="tm-usage">
      {node.usage.slice(0, MOST_USERS).map((use) => (
        <li key={`${use.index}${use.task ?? ""}${use.job ?? ""}`} className="tm-ellipsis">
          {one(use)}
        </li>
      ))}
      {rest.length > 0 && (
        <li>
          <Hinted
            hint={rest.map((use) => <div key={`${use.index}${use.task ?? ""}`}>{use.label}</div>)}
            className="tm-faint tm-help"
          >
            {t("resources.moreUsers", { count: rest.length })}
          </Hinted>
        </li>
      )}
    </ul>
  );
}
