/** Who runs where until when, and who is expected next: one line per node, and per card while there are few nodes. */
import { AimOutlined, LeftOutlined, RightOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Alert, Button, Segmented } from "antd";
import { useMemo, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readTimeline } from "../../../api/queue";
import type { Timeline, TimelineBar } from "../../../api/types";
import { useNow } from "../../../shared/time";
import { Empty, Pending } from "../../../shared/ui";
import { SERIES } from "../../../theme";
import { SPANS, type Span } from "./layout";
import { Picture } from "./picture";

type By = "workspace" | "priority" | "job";
const BY: By[] = ["workspace", "priority", "job"];
const PRIORITY: Record<string, string> = { normal: "#4c6ef5", urgent: "#f76707", very_urgent: "#e03131" };
const UNKNOWN = "#868e96";
const BEHIND = 0.25;

/** One colour per workspace or job, in the order of their names, so that a colour stays with its owner. Pure. */
export function colours(bars: readonly TimelineBar[], by: By): { of: (bar: TimelineBar) => string; legend: [string, string][] } {
  if (by === "priority") return { of: (bar) => PRIORITY[bar.priority] ?? UNKNOWN, legend: [] };
  const names = [...new Set(bars.flatMap((bar) => (by === "workspace" ? [bar.workspace] : bar.job ? [bar.job] : [])))].sort();
  const table = new Map(names.map((name, i) => [name, SERIES[i % SERIES.length] ?? UNKNOWN]));
  const of = (bar: TimelineBar): string => table.get((by === "workspace" ? bar.workspace : bar.job) ?? "") ?? UNKNOWN;
  return { of, legend: by === "workspace" ? [...table] : [] };
}

export function TimelinePage({ pool }: { pool: string | undefined }): ReactNode {
  const query = useQuery({ queryKey: ["timeline", pool], queryFn: ({ signal }) => readTimeline(pool, signal), placeholderData: keepPreviousData, refetchInterval: 15_000 });
  if (!query.data) return <Pending query={query} rows={10} />;
  return <TimelineView data={query.data} ahead={query.data.now - query.dataUpdatedAt / 1000} />;
}

/** `ahead`: how far the server's clock is ahead of the browser's. */
function TimelineView({ data, ahead }: { data: Timeline; ahead: number }): ReactNode {
  const { t } = useTranslation();
  const [span, setSpan] = useState<Span>(SPANS[1]);
  const [by, setBy] = useState<By>(() => (new Set(data.bars.map((bar) => bar.workspace)).size > 1 ? "workspace" : "job"));
  const [shift, setShift] = useState(0);
  const now = useNow() + ahead;
  const paint = useMemo(() => colours(data.bars, by), [data.bars, by]);
  const zoom = (direction: number): void => setSpan(SPANS[Math.min(SPANS.length - 1, Math.max(0, SPANS.indexOf(span) + direction))] ?? span);
  if (data.nodes.length === 0) return <div className="tm-panel"><Empty title={t("timeline.none")}><p className="tm-faint">{t("timeline.noneHint")}</p></Empty></div>;
  return (
    <section className="tm-panel tm-tl" data-testid="timeline-page" data-bars={data.bars.length}>
      <header className="tm-tl-bar-top">
        <Segmented<Span> value={span} onChange={setSpan} aria-label={t("timeline.span")} options={SPANS.map((value) => ({ value, label: value < 172_800 ? t("timeline.hours", { n: value / 3600 }) : t("timeline.days", { n: value / 86_400 }) }))} />
        <span className="tm-tl-steps">
          <Button size="small" icon={<LeftOutlined />} aria-label={t("timeline.earlier")} title={t("timeline.earlier")} onClick={() => setShift((old) => old - span / 4)} />
          <Button size="small" icon={<AimOutlined />} onClick={() => setShift(0)} disabled={shift === 0}>{t("timeline.toNow")}</Button>
          <Button size="small" icon={<RightOutlined />} aria-label={t("timeline.later")} title={t("timeline.later")} onClick={() => setShift((old) => old + span / 4)} />
        </span>
        <span className="tm-grow" />
        <span className="tm-faint">{t("timeline.colour")}</span>
        <Segmented<By> size="small" value={by} onChange={setBy} aria-label={t("timeline.colour")} options={BY.map((value) => ({ value, label: t(`timeline.by.${value}`) }))} />
      </header>
      {data.left_out > 0 && <Alert banner type="info" title={t("timeline.leftOut", { count: data.left_out })} />}
      <Picture data={data} from={now - span * BEHIND + shift} span={span} now={now} colour={paint.of} zoom={zoom} shift={(by_s) => setShift((old) => old + by_s)} />
      <Legend of={paint.legend} by={by} />
    </section>
  );
}

function Legend({ of, by }: { of: [string, string][]; by: By }): ReactNode {
  const { t } = useTranslation();
  const tones = by === "priority" ? (["normal", "urgent", "very_urgent"] as const).map((name): [string, string] => [t(`priority.${name}`), PRIORITY[name] ?? UNKNOWN]) : of;
  return (
    <footer className="tm-tl-legend">
      <span><i className="tm-tl-key" />{t("timeline.legend.ran")}</span>
      <span><i className="tm-tl-key tm-tl-key-expected" />{t("timeline.legend.expected")}</span>
      <span><i className="tm-tl-key tm-tl-key-open" />{t("timeline.legend.open")}</span>
      <span><i className="tm-tl-key tm-tl-key-forecast" />{t("timeline.legend.forecast")}</span>
      <span><i className="tm-tl-key-range" />{t("timeline.legend.range")}</span>
      <span className="tm-grow" />
      {tones.map(([name, colour]) => <span key={name}><i className="tm-tl-key" style={{ background: colour }} />{name}</span>)}
    </footer>
  );
}
