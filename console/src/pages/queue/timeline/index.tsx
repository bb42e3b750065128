/** Who runs where until when, and who is expected next: one line per node, and per card while there are few nodes. */
import { AimOutlined, LeftOutlined, RightOutlined, ZoomInOutlined, ZoomOutOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Alert, Button, Segmented } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { readTimeline } from "../../../api/queue";
import type { Timeline, TimelineBar } from "../../../api/types";
import { useKept } from "../../../shared/kept";
import { useNow } from "../../../shared/time";
import { Empty, Outdated, Pending } from "../../../shared/ui";
import { SERIES, useMedia } from "../../../theme";
import { MOST_WITH_CARDS } from "./layout";
import { Picture } from "./picture";
import { BEHIND, home, panned, SPANS, type View, zoomed } from "./view";

type By = "workspace" | "owner" | "priority" | "job";
type Row = "card" | "node";
const BY: By[] = ["workspace", "owner", "priority", "job"];
const ROWS: Row[] = ["card", "node"];
const PRIORITY: Record<string, string> = { normal: "#4c6ef5", urgent: "#f76707", very_urgent: "#e03131" };
const UNKNOWN = "#868e96";

/** What gives a bar its color; null where the reader may not know it. */
const keyOf = (bar: TimelineBar, by: Exclude<By, "priority">): string | null => bar[by];

/** One color per workspace, owner or job, in the order of their names, so that each keeps its color. Pure. */
export function colors(
  bars: readonly TimelineBar[],
  by: By,
): { of: (bar: TimelineBar) => string; legend: [string, string][] } {
  if (by === "priority") return { of: (bar) => PRIORITY[bar.priority] ?? UNKNOWN, legend: [] };
  const names = [...new Set(bars.flatMap((bar) => keyOf(bar, by) ?? []))].sort();
  const table = new Map(names.map((name, i) => [name, SERIES[i % SERIES.length] ?? UNKNOWN]));
  const of = (bar: TimelineBar): string => table.get(keyOf(bar, by) ?? "") ?? UNKNOWN;
  return { of, legend: by === "job" ? [] : [...table] };
}

export function TimelinePage({ pool }: { pool: string | undefined }): ReactNode {
  const query = useKept(
    useQuery({
      queryKey: ["timeline", pool],
      queryFn: ({ signal }) => readTimeline(pool, signal),
      placeholderData: keepPreviousData,
      refetchInterval: 15_000,
    }),
  );
  if (!query.data) return <Pending query={query} rows={10} />;
  return (
    <>
      <Outdated query={query} />
      <TimelineView data={query.data} ahead={query.data.now - query.dataUpdatedAt / 1000} />
    </>
  );
}

/** `ahead`: how far the server's clock is ahead of the browser's. */
function TimelineView({ data, ahead }: { data: Timeline; ahead: number }): ReactNode {
  const { t } = useTranslation();
  const earliest = Math.min(0, ...data.bars.map((bar) => bar.start - data.now));
  const [view, setView] = useState<View>(() => home(SPANS[1], earliest));
  const [by, setBy] = useState<By>(() =>
    new Set(data.bars.map((bar) => bar.workspace)).size > 1 ? "workspace" : "job",
  );
  const [row, setRow] = useState<Row>(() => (data.nodes.length <= MOST_WITH_CARDS ? "card" : "node"));
  const now = useNow() + ahead;
  const paint = useMemo(() => colors(data.bars, by), [data.bars, by]);
  if (data.nodes.length === 0)
    return (
      <div className="tm-panel">
        <Empty title={t("timeline.none")}>
          <p className="tm-faint">{t("timeline.noneHint")}</p>
        </Empty>
      </div>
    );
  return (
    <section
      className="tm-panel tm-tl"
      data-testid="timeline-page"
      data-bars={data.bars.length}
      data-span={Math.round(view.span)}
    >
      <header className="tm-tl-bar-top">
        <Segmented<number>
          value={view.span}
          onChange={(span) => setView(home(span, earliest))}
          aria-label={t("timeline.span")}
          options={SPANS.map((value) => ({
            value,
            label:
              value < 172_800 ? t("timeline.hours", { n: value / 3600 }) : t("timeline.days", { n: value / 86_400 }),
          }))}
        />
        <Steps view={view} earliest={earliest} change={setView} />
        <span className="tm-grow" />
        {data.nodes.some((node) => node.cards > 0) && (
          <Choice<Row>
            label={t("timeline.rows")}
            value={row}
            all={ROWS}
            say={(value) => t(`timeline.row.${value}`)}
            choose={setRow}
          />
        )}
        <Choice<By>
          label={t("timeline.colour")}
          value={by}
          all={BY}
          say={(value) => t(`timeline.by.${value}`)}
          choose={setBy}
        />
      </header>
      {data.left_out > 0 && (
        <Alert banner type="info" className="tm-gap" title={t("timeline.leftOut", { count: data.left_out })} />
      )}
      <Picture data={data} view={view} change={setView} now={now} detailed={row === "card"} colour={paint.of} />
      <Legend of={paint.legend} by={by} />
    </section>
  );
}

function Choice<T extends string>({
  label,
  value,
  all,
  say,
  choose,
}: {
  label: string;
  value: T;
  all: readonly T[];
  say: (value: T) => string;
  choose: (value: T) => void;
}): ReactNode {
  return (
    <span className="tm-tl-choice">
      <span className="tm-faint">{label}</span>
      <Segmented<T>
        size="small"
        value={value}
        onChange={choose}
        aria-label={label}
        options={all.map((one) => ({ value: one, label: say(one) }))}
      />
    </span>
  );
}

/** Buttons for what the pointer does by dragging and the wheel. */
function Steps({
  view,
  earliest,
  change,
}: {
  view: View;
  earliest: number;
  change: (next: (old: View) => View) => void;
}): ReactNode {
  const { t } = useTranslation();
  const step = (label: string, icon: ReactNode, next: (old: View) => View): ReactNode => (
    <Button size="small" icon={icon} aria-label={label} title={label} onClick={() => change(next)} />
  );
  const start = home(view.span, earliest);
  return (
    <span className="tm-tl-steps">
      {step(t("timeline.earlier"), <LeftOutlined />, (old) => panned(old, -old.span / 4))}
      <Button
        size="small"
        icon={<AimOutlined />}
        onClick={() => change((old) => home(old.span, earliest))}
        disabled={Math.abs(view.offset - start.offset) < 60}
      >
        {t("timeline.toNow")}
      </Button>
      {step(t("timeline.later"), <RightOutlined />, (old) => panned(old, old.span / 4))}
      {step(t("timeline.zoomOut"), <ZoomOutOutlined />, (old) => zoomed(old, 1.5, BEHIND))}
      {step(t("timeline.zoomIn"), <ZoomInOutlined />, (old) => zoomed(old, 1 / 1.5, BEHIND))}
    </span>
  );
}

function Legend({ of, by }: { of: [string, string][]; by: By }): ReactNode {
  const { t } = useTranslation();
  const tones =
    by === "priority"
      ? (["normal", "urgent", "very_urgent"] as const).map((name): [string, string] => [
          t(`priority.${name}`),
          PRIORITY[name] ?? UNKNOWN,
        ])
      : of;
  const touch = useMedia("(pointer: coarse)");
  return (
    <footer className="tm-tl-legend">
      <span>
        <i className="tm-tl-key" />
        {t("timeline.legend.ran")}
      </span>
      <span>
        <i className="tm-tl-key tm-tl-key-expected" />
        {t("timeline.legend.expected")}
      </span>
      <span>
        <i className="tm-tl-key tm-tl-key-open" />
        {t("timeline.legend.open")}
      </span>
      <span>
        <i className="tm-tl-key tm-tl-key-forecast" />
        {t("timeline.legend.forecast")}
      </span>
      <span>
        <i className="tm-tl-key-range" />
        {t("timeline.legend.range")}
      </span>
      <span>{t(touch ? "timeline.legend.moveByTouch" : "timeline.legend.move")}</span>
      <span className="tm-grow" />
      {tones.map(([name, colour]) => (
        <span key={name}>
          <i className="tm-tl-key" style={{ background: colour }} />
          {name}
        </span>
      ))}
    </footer>
  );
}
