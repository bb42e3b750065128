/** The picture itself: labels, axis, bars, the line of now; the card of the bar under the pointer or chosen by keys. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import type { Timeline, TimelineBar } from "../../../api/types";
import { useFormatTime } from "../../../shared/time";
import { Bars } from "./bars";
import { BarCard } from "./card";
import { layout, marks, step, type Lane, type Span } from "./layout";

interface Props {
  data: Timeline;
  from: number;
  span: Span;
  now: number;
  colour: (bar: TimelineBar) => string;
  zoom: (direction: number) => void;
  shift: (seconds: number) => void;
}

interface Chosen {
  box: number;
  x: number;
  y: number;
}

const KEYS: Record<string, "left" | "right" | "up" | "down"> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)));
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
    same.forEach((one) => one.classList.add("tm-tl-on"));
    return () => {
      svg.classList.remove("tm-tl-dim");
      same.forEach((one) => one.classList.remove("tm-tl-on"));
    };
  }, [ref, job]);
}

export function Picture(props: Props): ReactNode {
  const { data, span, colour } = props;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const host = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const drag = useRef<{ x: number; moved: boolean } | null>(null);
  const width = useWidth(host);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  // A picture a pixel further is worth drawing again, less is not.
  const pixel = Math.max(1, span / width);
  const now = Math.floor(props.now / pixel) * pixel;
  const from = now - Math.round((props.now - props.from) / pixel) * pixel;
  const plan = useMemo(() => layout(data.nodes, data.bars), [data.nodes, data.bars]);
  const name = useMemo(() => (bar: TimelineBar): string => bar.name ?? t("queue.another"), [t]);
  const box = chosen ? plan.boxes[chosen.box] : undefined;
  const bar = box ? data.bars[box.bar] : undefined;
  useHighlight(svg, bar?.job);
  const x = (at: number): number => ((at - from) / span) * width;

  const choose = (event: PointerEvent): void => {
    if (drag.current) {
      const moved = event.clientX - drag.current.x;
      if (!drag.current.moved && Math.abs(moved) < 4) return;
      drag.current = { x: event.clientX, moved: true };
      props.shift((-moved / width) * span);
      setChosen(null);
      return;
    }
    const found = (event.target as Element).closest("[data-box]");
    const area = host.current?.getBoundingClientRect();
    if (!found || !area) setChosen(null);
    else setChosen({ box: Number((found as SVGElement).dataset["box"]), x: event.clientX - area.left, y: event.clientY - area.top });
  };
  const open = (): void => {
    if (bar?.job) void navigate({ to: "/jobs/$id", params: { id: bar.job }, search: {} });
  };
  const press = (event: KeyboardEvent): void => {
    const way = KEYS[event.key];
    if (way) {
      const next = step(plan.boxes, data.bars, chosen?.box ?? null, way);
      const to = next === null ? undefined : plan.boxes[next];
      const target = to ? data.bars[to.bar] : undefined;
      if (next !== null && to && target) setChosen({ box: next, x: Math.min(width - 20, Math.max(20, x(target.start))), y: to.y + to.height });
    } else if (event.key === "Enter") open();
    else if (event.key === "Escape") setChosen(null);
    else if (event.key === "+" || event.key === "=") props.zoom(-1);
    else if (event.key === "-") props.zoom(1);
    else return;
    event.preventDefault();
  };

  return (
    <div className="tm-tl-body">
      <Labels lanes={plan.lanes} height={plan.height} />
      <div className="tm-tl-area" ref={host}>
        <Axis from={from} span={span} width={width} now={now} />
        <div className="tm-tl-plot" style={{ height: plan.height }} tabIndex={0} role="group" aria-label={`${t("timeline.title")}. ${t("timeline.help")}`} onKeyDown={press} data-testid="timeline-plot"
          onPointerDown={(e) => { drag.current = { x: e.clientX, moved: false }; }} onPointerMove={choose}
          onPointerUp={() => {
            if (drag.current?.moved === false) open();
            drag.current = null;
          }}
          onPointerLeave={() => {
            drag.current = null;
            setChosen(null);
          }} onBlur={() => setChosen(null)}>
          <svg ref={svg} width={width} height={plan.height} aria-hidden="true">
            {plan.lanes.map((lane) => <LaneGround key={lane.node.name} lane={lane} width={width} />)}
            {marks(from, span, zone(from)).map((at) => <line key={at} x1={x(at)} x2={x(at)} y1={0} y2={plan.height} className="tm-tl-grid" />)}
            <Bars bars={data.bars} boxes={plan.boxes} from={from} span={span} width={width} now={now} colour={colour} name={name} />
            {x(now) >= 0 && x(now) <= width && <line x1={x(now)} x2={x(now)} y1={0} y2={plan.height} className="tm-tl-now" data-testid="timeline-now" />}
          </svg>
          {data.bars.length === 0 && <p className="tm-tl-none">{t("timeline.empty")}</p>}
        </div>
        {chosen && bar && <BarCard bar={bar} all={data.bars} colour={colour(bar)} x={chosen.x} y={chosen.y} width={width} />}
      </div>
    </div>
  );
}

/** How far local time is ahead of UTC at a moment. */
const zone = (at: number): number => -new Date(at * 1000).getTimezoneOffset() * 60;

function LaneGround({ lane, width }: { lane: Lane; width: number }): ReactNode {
  const lines = lane.card > 0 ? Array.from({ length: lane.node.cards - 1 }, (_, i) => lane.top + (i + 1) * lane.card) : [];
  return (
    <>
      <rect x={0} y={lane.top} width={width} height={lane.height} rx={4} className={lane.node.service === "in_service" ? "tm-tl-ground" : "tm-tl-ground tm-tl-away"} />
      {lines.map((y) => <line key={y} x1={0} x2={width} y1={y} y2={y} className="tm-tl-rule" />)}
    </>
  );
}

function Labels({ lanes, height }: { lanes: Lane[]; height: number }): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-tl-labels" style={{ height: height + 28 }}>
      {lanes.map(({ node, top, height: tall, card }) => (
        <div key={node.name} style={{ top: top + 28, height: tall }} className={card > 0 ? "tm-tl-label tm-tl-tall" : "tm-tl-label"}>
          <span className="tm-ellipsis" title={`${node.name} · ${node.pool}`}><b>{node.name}</b>{node.service !== "in_service" && <em className="tm-warn"> {t(`timeline.service.${node.service}`)}</em>}</span>
          {card > 0 && <span className="tm-tl-cards">{Array.from({ length: node.cards }, (_, i) => <i key={i} style={{ height: card }}>{i}</i>)}</span>}
        </div>
      ))}
    </div>
  );
}

function Axis({ from, span, width, now }: { from: number; span: Span; width: number; now: number }): ReactNode {
  const time = useFormatTime();
  const { t } = useTranslation();
  const x = (at: number): number => ((at - from) / span) * width;
  const style = span > 86_400 ? "day" : "minute";
  const here = x(now);
  return (
    <div className="tm-tl-axis" aria-hidden="true">
      {marks(from, span, zone(from)).filter((at) => Math.abs(x(at) - here) > 42 && x(at) > 24 && x(at) < width - 24).map((at) => <span key={at} style={{ left: x(at) }}>{time(at, style)}</span>)}
      {here >= 0 && here <= width && <span className="tm-tl-now-label" style={{ left: here }}>{t("timeline.toNow")}</span>}
    </div>
  );
}
