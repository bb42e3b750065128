/** A dot for each job: a parameter to the right, a result upwards. An SVG, as the timeline is (docs/design/console.md). */
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Scalar } from "../../api/types";
import { placeOf } from "./places";
import { lookOf } from "./table";
import { useWidth } from "./width";

const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 18;
const TOP = 12;
const BOTTOM = 44;

export function Scatter(props: {
  names: readonly string[];
  x: readonly Scalar[];
  y: readonly (number | null)[];
  xName: string;
  yName: string;
  top: ReadonlySet<number>;
}): ReactNode {
  const { names, x, y, xName, yName, top } = props;
  const { t } = useTranslation();
  const [frame, width] = useWidth();
  const right = useMemo(() => placeOf(x), [x]);
  const up = useMemo(() => placeOf(y), [y]);
  const toX = (at: number): number => LEFT + 14 + at * Math.max(1, width - LEFT - RIGHT - 28);
  const toY = (at: number): number => HEIGHT - BOTTOM - 12 - at * (HEIGHT - TOP - BOTTOM - 24);
  return (
    <div ref={frame} className="tm-compare-plot">
      <svg
        width={width}
        height={HEIGHT}
        role="group"
        aria-label={t("compare.scatter", { metric: yName, parameter: xName })}
      >
        {up.marks.map(({ at, label }) => (
          <g key={label} className="tm-compare-mark">
            <line x1={LEFT} x2={width - RIGHT} y1={toY(at)} y2={toY(at)} />
            <text x={LEFT - 8} y={toY(at) + 4} textAnchor="end">
              {label}
            </text>
          </g>
        ))}
        {right.marks.map(({ at, label }) => (
          <g key={label} className="tm-compare-mark">
            <line x1={toX(at)} x2={toX(at)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text x={toX(at)} y={HEIGHT - BOTTOM + 16} textAnchor="middle">
              {label.length > 14 ? `${label.slice(0, 13)}…` : label}
            </text>
          </g>
        ))}
        <text x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 6} textAnchor="middle" className="tm-compare-axis">
          {xName}
        </text>
        {names.map((name, i) => {
          const [across, above] = [right.of(x[i]), up.of(y[i])];
          if (across === null || above === null || y[i] === null) return null;
          const words = t("compare.point", { job: name, x: String(x[i] ?? "–"), y: String(y[i]) });
          return (
            <circle
              key={name}
              cx={toX(across)}
              cy={toY(above)}
              r={top.has(i) ? 8 : 6}
              fill={lookOf(i).color}
              className={top.has(i) ? "tm-compare-dotted tm-compare-top" : "tm-compare-dotted"}
              data-testid="scatter-dot"
            >
              <title>{words}</title>
            </circle>
          );
        })}
      </svg>
    </div>
  );
}
