/** A line for each job through all parameters that differ to its result, an SVG. What is pointed at, or whose name has the focus, stands out. */
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Scalar } from "../../api/types";
import { Dot } from "./look";
import { pathOf, placeOf } from "./places";
import { lookOf } from "./table";
import { useWidth } from "./width";

const HEIGHT = 320;
const TOP = 40;
const BOTTOM = 20;
const SIDE = 56;
/** Pixels that an axis needs with the words of its marks; more axes make the picture wider than its place. */
const APART = 96;

export interface Coordinate {
  name: string;
  values: readonly (Scalar | undefined)[];
}

export function Parallel({
  names,
  axes,
  top,
}: {
  names: readonly string[];
  axes: readonly Coordinate[];
  top: ReadonlySet<number>;
}): ReactNode {
  const { t } = useTranslation();
  const [frame, room] = useWidth();
  const [out, setOut] = useState<number>();
  const places = useMemo(() => axes.map((axis) => placeOf(axis.values)), [axes]);
  const width = Math.max(room, 2 * SIDE + APART * (axes.length - 1));
  const toX = (i: number): number => SIDE + (axes.length > 1 ? (i * (width - 2 * SIDE)) / (axes.length - 1) : 0);
  const toY = (at: number): number => HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM);
  const across = axes.length > 1 ? (width - 2 * SIDE) / (axes.length - 1) : width;
  const letters = Math.max(8, Math.floor(across / 7.5));
  const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const told = (i: number): string =>
    `${names[i]}: ${axes.map((axis) => `${axis.name} ${axis.values[i] ?? "–"}`).join(" · ")}`;
  return (
    <div>
      <div ref={frame} className="tm-compare-plot" tabIndex={width > room ? 0 : undefined}>
        <svg width={width} height={HEIGHT} role="img" aria-label={t("compare.parallel")}>
          {names.map((name, i) => {
            const path = pathOf(
              places.map((place, axis) => place.of(axes[axis]?.values[i])),
              toX,
              toY,
            );
            const { color, dash } = lookOf(i);
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: the names below do the same, and for the keyboard.
              <path
                key={name}
                d={path}
                stroke={color}
                strokeDasharray={dash?.join(" ")}
                className={`tm-compare-line${top.has(i) ? " tm-compare-top" : ""}${out !== undefined && out !== i ? " tm-compare-back" : ""}`}
                onMouseEnter={() => setOut(i)}
                onMouseLeave={() => setOut(undefined)}
                data-testid="parallel-line"
              >
                <title>{told(i)}</title>
              </path>
            );
          })}
          {axes.map((axis, i) => (
            <g key={axis.name} className="tm-compare-mark" aria-hidden>
              <line x1={toX(i)} x2={toX(i)} y1={TOP} y2={HEIGHT - BOTTOM} className="tm-compare-upright" />
              <text
                x={i === 0 ? 4 : i === axes.length - 1 ? width - 4 : toX(i)}
                y={16}
                textAnchor={i === 0 ? "start" : i === axes.length - 1 ? "end" : "middle"}
                className="tm-compare-axis"
              >
                {cut(axis.name, letters)}
              </text>
              {places[i]?.marks.map(({ at, label }) => (
                <text key={label} x={toX(i) - 6} y={toY(at) + 4} textAnchor="end">
                  {cut(label, 10)}
                </text>
              ))}
            </g>
          ))}
        </svg>
      </div>
      <ul className="tm-compare-legend">
        {names.map((name, i) => (
          <li key={name}>
            <button
              type="button"
              onMouseEnter={() => setOut(i)}
              onMouseLeave={() => setOut(undefined)}
              onFocus={() => setOut(i)}
              onBlur={() => setOut(undefined)}
            >
              <Dot at={i} /> <span className="tm-name">{name}</span>
            </button>
          </li>
        ))}
      </ul>
      <p className="tm-faint tm-compare-told" aria-live="polite">
        {out === undefined ? "\u00a0" : told(out)}
      </p>
    </div>
  );
}
