/** The visible lines: only what is on the screen is in the page, however long the log. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { ansi } from "../../../shared/ansi";
import { useFillHeight } from "../../../shared/fill";
import { bytes } from "../../../shared/format";
import { useFormatTime } from "../../../shared/time";
import type { LogLine } from "./buffer";
import type { MergedLine } from "./merge";
import type { LogView } from "./session";
import { severityOf } from "./severity";

/** As high as styles/logs.css makes a line. */
const LINE_PX = 20;
/** So near to its end more is asked for. */
const NEAR_PX = 600;

/** A line that was written within so many seconds of the time shown beside it. */
const CLOSE_S = 10;

interface Props {
  session: { more: (where: "above" | "below") => Promise<void> };
  view: LogView;
  wrap: boolean;
  pinned: boolean;
  setPinned: (pinned: boolean) => void;
  mark: RegExp | null;
  current: number | null;
  /** Show when each line was written. */
  times?: boolean;
  /** Of merged logs, whose line it is: names by their number. */
  names?: readonly string[];
  /** A line's number was clicked. */
  pick?: (number: number, who: number) => void;
  /** What stands below it on the page, in pixels. */
  below?: number;
}

export function LogLines(props: Props): ReactNode {
  const { session, view, wrap, pinned, setPinned, mark, current, times = false, names, pick, below: room = 78 } = props;
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const byUs = useRef(0);
  const leaving = useRef(false); // asked to leave the end, and still there: a scroll of ours may only be told now
  useFillHeight(box, room);
  const rows = useVirtualizer({
    count: view.lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_PX,
    overscan: 30,
    getItemKey: (index) => `${view.epoch}:${(view.first ?? 0) + index}`,
  });

  // After a move: go where it aimed. After lines came or went above: keep the place.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || view.lines.length === 0) return;
    byUs.current = Date.now();
    if (view.aim === "end") rows.scrollToIndex(view.lines.length - 1, { align: "end" });
    else if (view.aim !== null) rows.scrollToIndex(view.aim, { align: "center" });
    else if (view.shift !== 0) rows.scrollToOffset(Math.max(0, element.scrollTop + view.shift * LINE_PX));
    // Only a new view may move the page: `rows` is the same one for good.
  }, [view, rows]);

  // Whoever stopped following, by whatever button, leaves the end: the last scroll of ours must not follow again.
  useLayoutEffect(() => {
    if (!pinned) leaving.current = true;
  }, [pinned]);

  // biome-ignore lint/correctness/useExhaustiveDependencies(wrap): lines that wrap are higher, so the end is elsewhere.
  useEffect(() => {
    if (!pinned || view.lines.length === 0) return;
    byUs.current = Date.now();
    rows.scrollToIndex(view.lines.length - 1, { align: "end" });
  }, [pinned, view.lines, wrap, rows]);

  const onScroll = (): void => {
    const element = box.current;
    if (!element) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    // A scroll of ours is told a moment later, and is no wish for more.
    if (element.scrollTop < NEAR_PX && Date.now() - byUs.current > 150) void session.more("above");
    if (below < NEAR_PX) void session.more("below");
    if (below >= 4) leaving.current = false;
    else if (view.atEnd && !leaving.current) setPinned(true);
  };
  const up = (): void => {
    leaving.current = true;
    setPinned(false);
  };
  const down = (): void => {
    leaving.current = false;
  };
  const onKey = (key: string): void => {
    if (["ArrowUp", "PageUp", "Home"].includes(key)) up();
    else if (["ArrowDown", "PageDown", "End"].includes(key)) down();
  };
  const digits = String((view.first ?? 0) + view.lines.length).length;
  const width = names ? Math.max(digits, 4) : digits;
  const nameWidth = names ? Math.max(...names.map((name) => name.length)) : 0;
  return (
    <div
      ref={box}
      className={`tm-log${wrap ? " tm-wrap" : ""}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only what it can reach.
      tabIndex={0}
      role="log"
      aria-live="off"
      data-testid="log"
      onScroll={onScroll}
      onWheel={(e) => (e.deltaY < 0 ? up() : down())}
      onTouchMove={() => setPinned(false)}
      onKeyDown={(e) => onKey(e.key)}
    >
      <div
        style={{
          height: rows.getTotalSize(),
          position: "relative",
          minWidth: "max-content",
          width: wrap ? "100%" : undefined,
        }}
      >
        {rows.getVirtualItems().map((row) => {
          const line = view.lines[row.index];
          if (!line) return null;
          const own = names ? (line as MergedLine) : null;
          const number = own ? own.number : view.first === null ? null : view.first + row.index;
          const severity = severityOf(line.text);
          const here = number !== null && number === current && !own;
          return (
            <div
              key={row.key}
              data-index={row.index}
              // All others are LINE_PX high.
              ref={wrap || line.cut ? rows.measureElement : undefined}
              className={`tm-log-line${here ? " tm-now" : ""}${severity ? ` tm-log-${severity}` : ""}`}
              data-severity={severity ?? undefined}
              style={{ transform: `translateY(${row.start}px)` }}
            >
              {own && names && (
                <span className={`tm-log-who tm-who-${own.who % 10}`} style={{ width: `${nameWidth + 1}ch` }}>
                  {names[own.who]}
                </span>
              )}
              {number !== null && (
                <button
                  type="button"
                  tabIndex={-1}
                  className="tm-log-number"
                  style={{ width: `${width + 2}ch` }}
                  title={pick && t("job.log.pickLine")}
                  onClick={() => pick?.(number, own?.who ?? 0)}
                >
                  {number + 1}
                </button>
              )}
              {times && <LineTime line={line} />}
              <LineText line={line} mark={mark} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** By when a line was written, and in the hint between which looks; nothing where nobody knows. */
function LineTime({ line }: { line: LogLine }): ReactNode {
  const { t } = useTranslation();
  const format = useFormatTime();
  const { after, by } = line;
  if (by == null) return <span className="tm-log-time" />;
  const clock = format(by, "clock");
  const hint =
    after == null
      ? t("job.log.writtenBy", { by: format(by) })
      : t("job.log.writtenBetween", { after: format(after), by: format(by) });
  return (
    <time className="tm-log-time" dateTime={new Date(by * 1000).toISOString()} title={hint}>
      {after != null && by - after > CLOSE_S ? `≤${clock}` : clock}
    </time>
  );
}

const LineText = memo(function LineText({ line, mark }: { line: LogLine; mark: RegExp | null }): ReactNode {
  const { t } = useTranslation();
  return (
    <span className="tm-log-text">
      {line.cut !== undefined && <em className="tm-log-cut">{t("job.log.cut", { size: bytes(line.cut) })}</em>}
      {ansi(line.text).map((span, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line does not change, and its pieces are nothing but text.
        <span key={i} className={span.style || undefined}>
          {mark ? marked(span.text, mark) : span.text}
        </span>
      ))}
      {/* A character without a width: an empty line is as high as any. */}
      {line.text === "" && "\u200b"}
    </span>
  );
});

function marked(text: string, mark: RegExp): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(mark)) {
    if (match[0] === "") continue;
    parts.push(text.slice(at, match.index), <mark key={match.index}>{match[0]}</mark>);
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}
