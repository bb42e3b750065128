/** One line chart. uPlot draws; this owns size, colours of the theme, and keeps the zoom while data flow in. */
import { ZoomOutOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { type ReactNode, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { FONT, useLook } from "../theme";
import { number } from "./format";
import { useFormatTime } from "./time";

export interface Line {
  label: string;
  x: number[];
  y: (number | null)[];
  color: string;
  width?: number;
  dash?: number[];
  /** Drawn behind and left out of the legend: the raw values under a smoothed line. */
  ghost?: boolean;
}

interface Props {
  lines: Line[];
  time?: boolean;
  log?: boolean;
  height?: number;
  format?: (value: number) => string;
  /** Charts with the same key move their cursors together. */
  sync?: string;
  /** Text under the cursor for the horizontal axis, where it is not a time. */
  xLabel?: string;
  minY?: number;
  /** How far apart the marks of the vertical axis may be, ascending, where `format` would make decimal ones look odd or alike. */
  steps?: number[];
  /** The same of the horizontal axis, where it is not a time, and what its numbers are called. */
  xSteps?: number[];
  xFormat?: (value: number) => string;
}

function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function Chart(props: Props): ReactNode {
  const { lines, time = false, log = false, height = 220, sync } = props;
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const { dark } = useLook();
  const { t } = useTranslation();
  const [zoomed, setZoomed] = useState(false);
  const stamp = useFormatTime();
  const format = props.format ?? number;
  const data = useMemo(() => joined(lines, log), [lines, log]);
  const shape = JSON.stringify([
    lines.map((l) => [l.label, l.color, l.width, l.dash, l.ghost]),
    time,
    log,
    height,
    dark,
    props.xLabel,
  ]);

  const along = useEffectEvent((x: number): string => (time ? stamp(x, "clock") : (props.xFormat ?? number)(x)));
  const draw = useEffectEvent((element: HTMLElement): uPlot => {
    const axis = {
      stroke: cssColor("--faint"),
      grid: { stroke: cssColor("--line"), width: 1 },
      ticks: { show: false },
      font: `11px ${FONT}`,
    };
    return new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height,
        padding: [10, 26, 0, 0],
        legend: { live: true, markers: { dash: (u, i) => (u.series[i]?.dash ? "dashed" : "solid") } },
        hooks: { setScale: [(u, key) => key === "x" && setZoomed(partOf(u))] },
        cursor: { sync: sync ? { key: sync } : undefined, points: { size: 6 }, drag: { x: true, y: false } },
        scales: {
          x: { time },
          // 3 is logarithmic, 1 is not.
          y: { distr: log ? 3 : 1, range: log ? undefined : (_u, min, max) => nice(min, max, props.minY) },
        },
        axes: [
          {
            ...axis,
            size: 32,
            incrs: time ? undefined : props.xSteps,
            values: (_u, at) => at.map(along),
            space: time ? 80 : 50,
          },
          { ...axis, size: 62, incrs: props.steps, values: (_u, at) => at.map((v) => (v == null ? "" : format(v))) },
        ],
        series: [
          {
            label: props.xLabel ?? "",
            value: (u, v) => told(v ?? latest(u.data[0]), along),
          },
          ...lines.map(
            (line): uPlot.Series => ({
              label: line.label,
              stroke: line.color,
              width: line.width ?? 1.6,
              dash: line.dash,
              spanGaps: true,
              points: { show: false },
              class: line.ghost ? "tm-ghost" : undefined,
              value: (u, v, i, at) => told(at == null ? latest(u.data[i]) : v, format),
            }),
          ),
        ],
      },
      data,
      element,
    );
  });

  // Data come by the effect below; a new chart is needed only when its shape changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies(shape): it stands for all that is drawn but the data.
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const made = draw(element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(200, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [shape, height]);

  useEffect(() => {
    const made = chart.current;
    if (!made) return;
    const part = partOf(made);
    // Where the scales stay as they are, uPlot does not draw by itself.
    made.setData(data, !part);
    if (part) made.redraw();
  }, [data]);

  return (
    <div className="tm-chart-box">
      {zoomed && (
        <Button
          size="small"
          icon={<ZoomOutOutlined />}
          className="tm-zoom-out"
          onClick={() => {
            const together = sync ? uPlot.sync(sync).plots : [];
            for (const made of together.length > 0 ? together : [chart.current]) made?.setData(made.data, true);
          }}
          data-testid="zoom-reset"
        >
          {t("job.metrics.resetZoom")}
        </Button>
      )}
      <div ref={host} className="tm-chart" data-testid="chart" data-points={data[0]?.length ?? 0} />
    </div>
  );
}

/** Whether only a part of what there is from left to right is shown. */
function partOf(u: uPlot): boolean {
  const x = u.scales["x"];
  const xs = u.data[0];
  return x?.min != null && x.max != null && xs.length > 1 && (x.min > (xs[0] ?? 0) || x.max < (xs[xs.length - 1] ?? 0));
}

/** What a chart's canvas shows as a picture for a document: with its title, the names of its lines, and a background. */
export async function pictureOf(
  canvas: HTMLCanvasElement,
  title: string,
  lines: readonly Line[],
): Promise<Blob | null> {
  const scale = devicePixelRatio || 1;
  const named = lines.filter((line) => !line.ghost);
  const [head, row] = [34 * scale, 20 * scale];
  const made = document.createElement("canvas");
  made.width = canvas.width;
  made.height = canvas.height + head + row * named.length + 8 * scale;
  const draw = made.getContext("2d");
  if (!draw) return null;
  draw.fillStyle = cssColor("--panel");
  draw.fillRect(0, 0, made.width, made.height);
  draw.fillStyle = cssColor("--text");
  draw.font = `600 ${14 * scale}px ${FONT}`;
  draw.fillText(title, 12 * scale, 22 * scale);
  draw.drawImage(canvas, 0, head);
  draw.font = `${12 * scale}px ${FONT}`;
  named.forEach((line, i) => {
    const y = head + canvas.height + row * i + 12 * scale;
    draw.fillStyle = line.color;
    draw.fillRect(12 * scale, y - 5 * scale, 14 * scale, 3 * scale);
    draw.fillStyle = cssColor("--text");
    draw.fillText(line.label, 32 * scale, y);
  });
  return new Promise((resolve) => made.toBlob(resolve, "image/png"));
}

/** What the legend says where the cursor is, or of the latest value while it is elsewhere. */
function told(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? "–" : format(value);
}

function latest(values: ArrayLike<number | null | undefined> | undefined): number | null {
  for (let i = (values?.length ?? 0) - 1; i >= 0; i -= 1) {
    const value = values?.[i];
    if (value != null) return value;
  }
  return null;
}

/** Room above and below, a flat line in the middle, and `least` (usually 0) kept in view. */
function nice(min: number | null, max: number | null, least: number | undefined): [number, number] {
  const low = Math.min(min ?? 0, least ?? min ?? 0);
  const high = max ?? 1;
  const span = high - low || Math.abs(high) || 1;
  return [least !== undefined && low >= least ? least : low - span * 0.05, high + span * 0.08];
}

function joined(lines: Line[], log: boolean): uPlot.AlignedData {
  if (lines.length === 0) return [[]];
  const tables = lines.map((line) => {
    const keep = new Map<number, number | null>();
    line.x.forEach((x, i) => {
      const y = line.y[i] ?? null;
      keep.set(x, log && y !== null && y <= 0 ? null : y);
    });
    const xs = [...keep.keys()].sort((a, b) => a - b);
    return [xs, xs.map((x) => keep.get(x) ?? null)] as uPlot.AlignedData;
  });
  return tables.length === 1 && tables[0] ? tables[0] : uPlot.join(tables);
}
