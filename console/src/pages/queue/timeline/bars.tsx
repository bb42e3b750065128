/** The bars of the timeline as one SVG. Nothing here listens: the page finds a bar by its `data-box`. */
import { memo, type ReactNode } from "react";
import type { TimelineBar } from "../../../api/types";
import type { Box } from "./layout";

interface Props {
  bars: readonly TimelineBar[];
  boxes: readonly Box[];
  from: number;
  span: number;
  width: number;
  now: number;
  colour: (bar: TimelineBar) => string;
  name: (bar: TimelineBar) => string;
}

const LETTER_PX = 6.6;
const WIDE_PX = 12;
const LEAST_TEXT_PX = 34;

/** As much of a text as fits, with an ellipsis; nothing when hardly anything fits. */
export function clipped(text: string, room: number): string {
  if (room < LEAST_TEXT_PX) return "";
  let used = 0;
  for (let i = 0; i < text.length; i += 1) {
    // From here on characters are Chinese, Japanese or Korean, and as wide as high.
    used += text.charCodeAt(i) > 0x2e80 ? WIDE_PX : LETTER_PX;
    if (used > room) return `${text.slice(0, Math.max(0, i - 1))}…`;
  }
  return text;
}

export const Bars = memo(function Bars({ bars, boxes, from, span, width, now, colour, name }: Props): ReactNode {
  const x = (at: number): number => ((at - from) / span) * width;
  return (
    <>
      <defs>
        <pattern id="tm-hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="3" height="7" className="tm-hatch" />
        </pattern>
        <linearGradient id="tm-fade">
          <stop offset="0.55" className="tm-fade" stopOpacity="0" />
          <stop offset="1" className="tm-fade" stopOpacity="0.92" />
        </linearGradient>
      </defs>
      {boxes.map((box, i) => {
        const bar = bars[box.bar];
        if (!bar) return null;
        const left = Math.max(-4, x(bar.start));
        const right = Math.min(
          width + 4,
          bar.end === null ? width + 4 : x(Math.max(bar.end, bar.kind === "running" ? now : bar.start)),
        );
        if (right < 0 || left > width) return null;
        const common = {
          bar,
          box,
          index: i,
          left,
          right: Math.max(right, left + 2),
          paint: colour(bar),
          label: name(bar),
        };
        return bar.kind === "running" ? (
          <Running
            // biome-ignore lint/suspicious/noArrayIndexKey: a job may have several boxes, and a box keeps nothing.
            key={i}
            {...common}
            middle={Math.min(Math.max(x(now), left), Math.max(right, left + 2))}
            open={bar.end === null}
          />
        ) : (
          <Expected
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            key={i}
            {...common}
            low={bar.low === null ? null : x(bar.low)}
            high={bar.high === null ? null : x(bar.high)}
          />
        );
      })}
    </>
  );
});

interface One {
  bar: TimelineBar;
  box: Box;
  index: number;
  left: number;
  right: number;
  paint: string;
  label: string;
}

function Running({
  bar,
  box,
  index,
  left,
  right,
  paint,
  label,
  middle,
  open,
}: One & { middle: number; open: boolean }): ReactNode {
  const radius = Math.min(3, box.height / 2);
  const solid = middle - left;
  const inSolid = solid >= right - middle || solid > 90;
  const room = (inSolid ? solid : right - middle) - 12;
  const text = box.height >= 11 ? clipped(label, room) : "";
  const begin = Math.max(0, inSolid ? left : middle);
  return (
    <g className="tm-tl-bar" data-box={index} data-job={bar.job ?? ""}>
      {right > middle && (
        <rect x={middle} y={box.y} width={right - middle} height={box.height} fill={paint} opacity={0.5} />
      )}
      {right > middle && <rect x={middle} y={box.y} width={right - middle} height={box.height} fill="url(#tm-hatch)" />}
      {open && right > middle && (
        <rect x={middle} y={box.y} width={right - middle} height={box.height} fill="url(#tm-fade)" />
      )}
      <rect x={left} y={box.y} width={Math.max(2, solid)} height={box.height} rx={radius} fill={paint} />
      {text && (
        <text x={begin + 6} y={box.y + box.height / 2} className={inSolid ? "tm-tl-in" : "tm-tl-out"}>
          {text}
        </text>
      )}
      <rect className="tm-tl-edge" x={left} y={box.y} width={right - left} height={box.height} rx={radius} />
    </g>
  );
}

function Expected({
  bar,
  box,
  index,
  left,
  right,
  paint,
  label,
  low,
  high,
}: One & { low: number | null; high: number | null }): ReactNode {
  const text = box.height >= 11 ? clipped(label, right - Math.max(0, left) - 12) : "";
  const middle = box.y + box.height / 2;
  const foot = text ? box.y + box.height : middle; // the range keeps clear of the name
  return (
    <g className="tm-tl-bar" data-box={index} data-job={bar.job ?? ""}>
      <rect
        x={left}
        y={box.y + 0.5}
        width={right - left}
        height={Math.max(1, box.height - 1)}
        rx={Math.min(3, box.height / 2)}
        fill={paint}
        fillOpacity={0.13}
        stroke={paint}
        strokeWidth={1.4}
        strokeDasharray="5 3"
      />
      {low !== null && high !== null && (
        <path
          d={`M${low} ${foot}H${high}M${low} ${foot - 3}v6M${high} ${foot - 3}v6`}
          stroke={paint}
          strokeWidth={1.6}
          opacity={0.75}
          fill="none"
        />
      )}
      {text && (
        <text x={Math.max(0, left) + 6} y={middle} className="tm-tl-out">
          {text}
        </text>
      )}
      <rect className="tm-tl-edge" x={left} y={box.y} width={right - left} height={box.height} rx={3} />
    </g>
  );
}
