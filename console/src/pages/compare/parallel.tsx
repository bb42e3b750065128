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
/** Beside the outer axes, and what an axis needs with the words of its marks, in px; more axes make the picture wider than its place. */
const WIDE = { side: 56, apart: 96, letters: 10 };
/** The same on a phone, where names of axes stand in two rows. */
const NARROW = { side: 48, apart: 46, letters: 7 };
const PHONE_PX = 480;
/** Of a letter of a name. */
const NAME_PX = 7.5;
/** To and from what is not set. */
const UNSET_DASH = "2 5";

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
  const unset = t("compare.notSet");
  // What a job has not reached has no place; what it was not given has one.
  const places = useMemo(
    () => axes.map((axis, i) => placeOf(axis.values, i < axes.length - 1 ? unset : undefined)),
    [axes, unset],
  );
  const narrow = room < PHONE_PX;
  const { side, apart, letters: most } = narrow ? NARROW : WIDE;
  const width = Math.max(room, 2 * side + apart * (axes.length - 1));
  const toX = (i: number): number => side + (axes.length > 1 ? (i * (width - 2 * side)) / (axes.length - 1) : 0);
  const toY = (at: number): number => HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM);
  const across = axes.length > 1 ? (width - 2 * side) / (axes.length - 1) : width;
  const letters = Math.max(8, Math.floor(((narrow ? 2 : 1) * across) / NAME_PX));
  const missing = (i: number, axis: number): boolean =>
    axis >= 0 && axis < axes.length - 1 && axes[axis]?.values[i] == null;
  const loose = (i: number) => (axis: number) => missing(i, axis) || missing(i, axis - 1);
  const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const told = (i: number): string =>
    `${names[i]}: ${axes.map((axis, at) => `${axis.name} ${axis.values[i] ?? (at < axes.length - 1 ? unset : "–")}`).join(" · ")}`;
  return (
    <div>
      <div ref={frame} className="tm-compare-plot tm-moves" tabIndex={width > room ? 0 : undefined}>
        <svg width={width} height={HEIGHT} role="img" aria-label={t("compare.parallel")}>
          {names.map((name, i) => {
            const at = places.map((place, axis) => place.of(axes[axis]?.values[i]));
            const { color, dash } = lookOf(i);
            const way = loose(i);
            const look = `tm-compare-line${top.has(i) ? " tm-compare-top" : ""}${out !== undefined && out !== i ? " tm-compare-back" : ""}`;
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: the names below do the same, and for the keyboard.
              <g key={name} stroke={color} onMouseEnter={() => setOut(i)} onMouseLeave={() => setOut(undefined)}>
                <title>{told(i)}</title>
                <path
                  d={pathOf(at, toX, toY, (axis) => !way(axis))}
                  strokeDasharray={dash?.join(" ")}
                  className={look}
                  data-testid="parallel-line"
                />
                {axes.some((_, axis) => missing(i, axis)) && (
                  <path
                    d={pathOf(at, toX, toY, way)}
                    strokeDasharray={UNSET_DASH}
                    className={look}
                    data-testid="parallel-unset"
                  />
                )}
              </g>
            );
          })}
          {axes.map((axis, i) => (
            <g key={axis.name} className="tm-compare-mark" aria-hidden>
              <line x1={toX(i)} x2={toX(i)} y1={TOP} y2={HEIGHT - BOTTOM} className="tm-compare-upright" />
              <text
                x={i === 0 ? 4 : i === axes.length - 1 ? width - 4 : toX(i)}
                y={narrow && i % 2 === 1 ? 30 : 14}
                textAnchor={i === 0 ? "start" : i === axes.length - 1 ? "end" : "middle"}
                className="tm-compare-axis"
              >
                {cut(axis.name, letters)}
              </text>
              {places[i]?.marks.map(({ at, label }) => (
                <text key={label} x={toX(i) - 6} y={toY(at) + 4} textAnchor="end">
                  {cut(label, most)}
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
