/** What a bar of the timeline is: name, owner where it may be told, cards, since, until. Read out when chosen by keys. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { TimelineBar } from "../../../api/types";
import { duration, mib, number } from "../../../shared/format";
import { useFormatTime } from "../../../shared/time";
import { runs } from "./layout";

interface Props {
  bar: TimelineBar;
  all: readonly TimelineBar[];
  colour: string;
  at: { x: number; y: number; above: boolean };
  width: number;
}

const CARD_PX = 300;
const MOST_NODES = 4;

export function BarCard({ bar, all, colour, at, width }: Props): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const others =
    bar.job === null
      ? []
      : [...new Set(all.filter((one) => one.job === bar.job && one.node !== bar.node).map((one) => one.node))].sort();
  const shown =
    others.length > MOST_NODES
      ? `${others.slice(0, MOST_NODES).join(", ")} +${others.length - MOST_NODES}`
      : others.join(", ");
  const cards = runs(bar.cards)
    .map(([first, count]) => (count === 1 ? String(first) : `${first}–${first + count - 1}`))
    .join(", ");
  const forecast = bar.kind === "forecast";
  const lines: [string, string][] = [
    [t("timeline.node"), shown ? `${bar.node}, ${t("timeline.alsoOn", { nodes: shown })}` : bar.node],
    [
      t("timeline.cards"),
      cards || (bar.gpu > 0 ? t("unit.cards", { n: number(bar.gpu), count: bar.gpu }) : t("queue.noCards")),
    ],
    [t("job.fact.resources"), `${t("unit.cores", { n: number(bar.cpu), count: bar.cpu })} · ${mib(bar.memory_mib)}`],
    [forecast ? t("timeline.start") : t("timeline.from"), time(bar.start, "minute")],
    ...(forecast && bar.low !== null && bar.high !== null
      ? [
          [
            t("timeline.legend.range"),
            t("queue.forecast.range", { low: time(bar.low, "minute"), high: time(bar.high, "minute") }),
          ] as [string, string],
        ]
      : []),
    [
      t("timeline.until"),
      bar.end === null
        ? t("timeline.unlimited")
        : `${time(bar.end, "minute")}${t("mark.aside", { text: duration(bar.end - bar.start) })}`,
    ],
  ];
  return (
    <div
      className="tm-tl-card"
      role="status"
      aria-live="polite"
      data-testid="timeline-card"
      style={{
        left: Math.min(Math.max(0, at.x + 14), width - CARD_PX), // over the names of the nodes where the picture is narrower
        top: at.y + (at.above ? -12 : 20),
        transform: at.above ? "translateY(-100%)" : undefined,
        width: CARD_PX,
      }}
    >
      <div className="tm-tl-card-head">
        <i style={{ background: colour }} />
        <b className="tm-ellipsis">
          {bar.name ?? (bar.owner ? t("queue.anothers", { owner: bar.owner }) : t("queue.another"))}
        </b>
        {bar.priority !== "normal" && <span className="tm-warn">{t(`priority.${bar.priority}`)}</span>}
      </div>
      <p className="tm-faint">{[bar.name && bar.owner, bar.workspace].filter(Boolean).join(" · ")}</p>
      <dl>
        {lines.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
