/** The picture itself: labels, axis, bars, the line of now; the card of the bar under the pointer or chosen by keys. */
import { useNavigate } from "@tanstack/react-router";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useTranslation } from "react-i18next";
import type { Timeline, TimelineBar } from "../../../api/types";
import { useFormatTime } from "../../../shared/time";
import { Bars } from "./bars";
import { BarCard } from "./card";
import { type Lane, layout, step } from "./layout";
import { BEHIND, halfOf, marks, panned, showing, type View, withRoom, zoomed } from "./view";

interface Props {
  data: Timeline;
  view: View;
  change: (next: (old: View) => View) => void;
  now: number;
  /** A line for every card. */
  detailed: boolean;
  colour: (bar: TimelineBar) => string;
}

/** The bar pointed at, and where its card is put: `above` where there is more room. */
interface Chosen {
  box: number;
  x: number;
  y: number;
  above: boolean;
}

interface Drag {
  x: number;
  moved: boolean;
  /** The bar was chosen before it was touched. */
  again: boolean;
}

/** Height of the axis, of what stays at the top of the window, and of a card. */
const AXIS_PX = 28;
const HEAD_PX = 84;
const CARD_ROOM_PX = 260;
/** The narrowest plot in which bars can still be told apart. */
const LEAST_PX = 120;
const KEYS: Record<string, "left" | "right" | "up" | "down"> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(LEAST_PX, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

/** Bars of the chosen job stand out wherever they are, without drawing the others again. */
function useHighlight(ref: RefObject<SVGSVGElement | null>, job: string | null | undefined): void {
  useEffect(() => {
    const svg = ref.current;
    if (!svg || !job) return undefined;
    const same = svg.querySelectorAll(`[data-job="${CSS.escape(job)}"]`);
    svg.classList.add("tm-tl-dim");
    for (const one of same) one.classList.add("tm-tl-on");
    return () => {
      svg.classList.remove("tm-tl-dim");
      for (const one of same) one.classList.remove("tm-tl-on");
    };
  }, [ref, job]);
}

/** The wheel zooms about the pointer with Ctrl (so does a pinch), and moves through time sideways; otherwise it scrolls the page. */
function useWheel(ref: RefObject<HTMLElement | null>, change: Props["change"]): void {
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const turn = (event: WheelEvent): void => {
      const { left, width } = element.getBoundingClientRect();
      const along = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey)
        change((old) =>
          zoomed(old, Math.exp(Math.max(-50, Math.min(50, event.deltaY)) / 120), (event.clientX - left) / width),
        );
      else if (Math.abs(along) > (event.shiftKey ? 0 : Math.abs(event.deltaY)))
        change((old) => panned(old, (along / width) * old.span));
      else return;
      event.preventDefault();
    };
    // A listener of React's is passive: it could not keep the page from scrolling.
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [ref, change]);
}

export function Picture({ data, view, change, detailed, colour, ...props }: Props): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const drag = useRef<Drag | null>(null);
  const width = useWidth(host);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  useWheel(plot, change);
  const { span } = view;
  // A picture a pixel further is worth drawing again, less is not.
  const pixel = Math.max(1, span / width);
  const now = Math.floor(props.now / pixel) * pixel;
  const from = now + Math.round(view.offset / pixel) * pixel;
  const plan = useMemo(() => layout(data.nodes, data.bars, detailed), [data.nodes, data.bars, detailed]);
  const box = chosen ? plan.boxes[chosen.box] : undefined;
  const bar = box ? data.bars[box.bar] : undefined;
  useHighlight(svg, bar?.job);
  const x = (at: number): number => ((at - from) / span) * width;
  const ticks = useMemo(() => marks(from, span, zone(from), Math.max(2, Math.floor(width / 116))), [from, span, width]);

  const choose = (event: PointerEvent): void => {
    const found = (event.target as Element).closest("[data-box]");
    const area = host.current?.getBoundingClientRect();
    if (!found || !area) setChosen(null);
    else
      setChosen({
        box: Number((found as SVGElement).dataset["box"]),
        x: event.clientX - area.left,
        y: event.clientY - area.top,
        above: event.clientY > window.innerHeight - CARD_ROOM_PX,
      });
  };
  const move = (event: PointerEvent): void => {
    const from_x = drag.current?.x;
    if (from_x === undefined || !drag.current) {
      choose(event);
      return;
    }
    if (!drag.current.moved && Math.abs(event.clientX - from_x) < 4) return;
    if (!drag.current.moved) plot.current?.setPointerCapture(event.pointerId);
    drag.current = { ...drag.current, x: event.clientX, moved: true };
    change((old) => panned(old, ((from_x - event.clientX) / width) * old.span));
    setChosen(null);
  };
  const open = (): void => {
    if (bar?.job) void navigate({ to: "/jobs/$id", params: { id: bar.job }, search: {} });
  };
  /** Choose by keys: the picture moves until the bar is seen. */
  const goTo = (next: number): void => {
    const to = plan.boxes[next];
    const target = to ? data.bars[to.bar] : undefined;
    const area = host.current?.getBoundingClientRect();
    if (!to || !target || !area) return;
    const shown = showing(view, target.start - now);
    change(() => shown);
    const top = to.y + AXIS_PX;
    const on_screen = area.top + top;
    if (on_screen < HEAD_PX || on_screen + to.height > window.innerHeight)
      window.scrollBy({ top: on_screen - window.innerHeight / 3 });
    const above = area.top + top > window.innerHeight - CARD_ROOM_PX && on_screen + to.height <= window.innerHeight;
    setChosen({
      box: next,
      x: Math.max(20, ((target.start - now - shown.offset) / span) * width),
      y: above ? top : top + to.height,
      above,
    });
  };
  const press = (event: KeyboardEvent): void => {
    const way = KEYS[event.key];
    const next = way ? step(plan.boxes, data.bars, chosen?.box ?? null, way) : null;
    if (next !== null) goTo(next);
    else if (event.key === "Enter") open();
    else if (event.key === "Escape") setChosen(null);
    else if (event.key === "+" || event.key === "=") change((old) => zoomed(old, 1 / 1.5, BEHIND));
    else if (event.key === "-") change((old) => zoomed(old, 1.5, BEHIND));
    else return;
    event.preventDefault();
  };

  return (
    <div className="tm-tl-body">
      <Labels lanes={plan.lanes} height={plan.height} />
      <div className="tm-tl-area" ref={host}>
        <Axis ticks={ticks} x={x} width={width} now={now} />
        <div
          className="tm-tl-plot"
          ref={plot}
          style={{ height: plan.height }}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys walk through the bars.
          tabIndex={0}
          role="group"
          aria-label={`${t("timeline.title")}. ${t("timeline.help")}`}
          onKeyDown={press}
          data-testid="timeline-plot"
          onPointerDown={(e) => {
            drag.current = { x: e.clientX, moved: false, again: chosen !== null };
            choose(e);
          }}
          onPointerMove={move}
          onPointerUp={(e) => {
            // A finger cannot point: its first touch shows the card, the next one opens the job.
            if (drag.current?.moved === false && (e.pointerType === "mouse" || drag.current.again)) open();
            drag.current = null;
          }}
          onPointerLeave={() => {
            if (!drag.current?.moved) drag.current = null;
            setChosen(null);
          }}
          onPointerCancel={() => {
            drag.current = null;
          }}
          onBlur={() => setChosen(null)}
        >
          <svg ref={svg} width={width} height={plan.height} aria-hidden="true">
            {plan.lanes.map((lane) => (
              <LaneGround key={lane.node.name} lane={lane} width={width} />
            ))}
            {ticks.at.map((at) => (
              <line key={at} x1={x(at)} x2={x(at)} y1={0} y2={plan.height} className="tm-tl-grid" />
            ))}
            <Bars
              bars={data.bars}
              boxes={plan.boxes}
              from={from}
              span={span}
              width={width}
              now={now}
              colour={colour}
              name={label}
            />
            {x(now) >= 0 && x(now) <= width && (
              <line x1={x(now)} x2={x(now)} y1={0} y2={plan.height} className="tm-tl-now" data-testid="timeline-now" />
            )}
          </svg>
          {data.bars.length === 0 && <p className="tm-tl-none">{t("timeline.empty")}</p>}
        </div>
        {chosen && bar && <BarCard bar={bar} all={data.bars} colour={colour(bar)} at={chosen} width={width} />}
      </div>
    </div>
  );
}

/** On a bar: the job's name; of a job that the reader may not know of, whose it is. */
const label = (bar: TimelineBar): string => bar.name ?? bar.owner ?? bar.workspace;

/** How far local time is ahead of UTC at a moment. */
const zone = (at: number): number => -new Date(at * 1000).getTimezoneOffset() * 60;

function LaneGround({ lane, width }: { lane: Lane; width: number }): ReactNode {
  const lines =
    lane.card > 0 ? Array.from({ length: lane.node.cards - 1 }, (_, i) => lane.top + (i + 1) * lane.card) : [];
  return (
    <>
      <rect
        x={0}
        y={lane.top}
        width={width}
        height={lane.height}
        rx={4}
        className={lane.node.service === "in_service" ? "tm-tl-ground" : "tm-tl-ground tm-tl-away"}
      />
      {lines.map((y) => (
        <line key={y} x1={0} x2={width} y1={y} y2={y} className="tm-tl-rule" />
      ))}
    </>
  );
}

function Labels({ lanes, height }: { lanes: Lane[]; height: number }): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-tl-labels" style={{ height: height + AXIS_PX }}>
      {lanes.map(({ node, top, height: tall, card }) => (
        <div
          key={node.name}
          style={{ top: top + AXIS_PX, height: tall }}
          className={card > 0 ? "tm-tl-label tm-tl-tall" : "tm-tl-label"}
        >
          <span className="tm-ellipsis" title={`${node.name} · ${node.pool}`}>
            <b>{node.name}</b>
            {node.service !== "in_service" && <em className="tm-warn"> {t(`timeline.service.${node.service}`)}</em>}
          </span>
          {card > 0 && (
            <span className="tm-tl-cards">
              {[...Array(node.cards).keys()].map((index) => (
                <i key={index} style={{ height: card }}>
                  {index}
                </i>
              ))}
            </span>
          )}
        </div>
      ))}
    </div>
  );
}

function Axis({
  ticks,
  x,
  width,
  now,
}: {
  ticks: { at: number[]; days: boolean };
  x: (at: number) => number;
  width: number;
  now: number;
}): ReactNode {
  const time = useFormatTime();
  const { t } = useTranslation();
  const here = x(now);
  const seen = here >= 0 && here <= width;
  const words = `${t("timeline.toNow")} ${time(now, "minute")}`;
  const half = halfOf(words);
  const label = Math.min(width - half, Math.max(half, here));
  const named = ticks.at.map((at) => ({ at: x(at), words: time(at, ticks.days ? "day" : "minute") }));
  return (
    <div className="tm-tl-axis" aria-hidden="true">
      {withRoom(named, width, seen ? { at: label, words } : undefined).map((tick) => (
        <span key={tick.at} style={{ left: tick.at }} data-testid="timeline-tick">
          {tick.words}
        </span>
      ))}
      {seen && (
        <span className="tm-tl-now-label" style={{ left: label }}>
          {words}
        </span>
      )}
    </div>
  );
}
