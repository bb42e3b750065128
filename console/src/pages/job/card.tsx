/** One metric: its curves, the latest and the best value, and what can be done with them. */
import { DownloadOutlined, FullscreenOutlined } from "@ant-design/icons";
import { App, Button, Dropdown, Modal, Tooltip } from "antd";
import type { TFunction } from "i18next";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { JobDetail, MetricSeries } from "../../api/types";
import { readMetrics } from "../../api/watch";
import { Chart, type Line, pictureOf } from "../../shared/chart";
import { saveBlob, saveText } from "../../shared/download";
import { DURATION_STEPS, duration, number, replicaOf, WHOLE_STEPS } from "../../shared/format";
import { smooth } from "../../shared/smooth";
import { useErrorText } from "../../shared/ui";
import { SERIES } from "../../theme";
import { type Axis, bestOf, countedOf, csvOf, type Distinct, distinct, xOf } from "./curves";

/** The most that the server gives. */
const ALL_POINTS = 10_000;

interface Props {
  job: JobDetail;
  name: string;
  series: MetricSeries[];
  /** All curves of the job: one of them may count the epochs. */
  all: MetricSeries[];
  last: number | null | undefined;
  axis: Axis;
  weight: number;
  log: boolean;
}

export function MetricCard({ job, name, series, all, last, axis, weight, log }: Props): ReactNode {
  const { t } = useTranslation();
  const [full, setFull] = useState(false);
  const card = useRef<HTMLElement>(null);
  const curves = useMemo(() => distinct(series), [series]);
  const lines = useMemo(
    () => curves.flatMap((one, i) => linesOf(one, i, curves, { axis, weight, all, roles: job.roles }, t)),
    [curves, all, axis, weight, job.roles, t],
  );
  const counted = useMemo(() => countedOf(series), [series]);
  const best = useMemo(() => bestOf(name, counted), [name, counted]);
  const whose = new Set(curves.map(({ one }) => one.task)).size > 1 ? counted[0]?.task : null;
  const sources = [...new Set(series.map((one) => one.source))];
  const look = { lines, log, time: axis === "time", xLabel: t(`job.metrics.${axis}`), ...alongOf(axis) };
  return (
    <section className="tm-panel tm-chart-card" data-testid={`metric-${name}`} ref={card}>
      <header className={whose ? "tm-chart-counted" : undefined}>
        <h3>{name}</h3>
        <span className="tm-faint">
          {sources
            .map((s) => (s === "sdk" || s === "log" || s === "tensorboard" ? t(`job.metrics.source.${s}`) : s))
            .join(", ")}
        </span>
        <span className="tm-grow" />
        {whose && (last != null || best !== null) && (
          <span className="tm-num tm-faint" data-testid="counted">
            {replicaOf(whose, job.roles)}
            {t("mark.colon")}
          </span>
        )}
        {last != null && (
          <span className="tm-num">
            <span className="tm-faint">{t("job.metrics.last")}</span> <b>{number(last)}</b>
          </span>
        )}
        {best !== null && (
          <Tooltip title={best.step === null ? undefined : t("job.metrics.atStep", { step: best.step })}>
            <span className="tm-num" data-testid="best">
              <span className="tm-faint">{t(`job.metrics.best.${best.goal}`)}</span> {number(best.value)}
            </span>
          </Tooltip>
        )}
        <Export job={job} name={name} lines={lines} canvas={() => card.current?.querySelector("canvas") ?? null} />
        <Tooltip title={t("job.metrics.full")}>
          <Button
            type="text"
            size="small"
            icon={<FullscreenOutlined />}
            aria-label={t("job.metrics.full")}
            onClick={() => setFull(true)}
            data-testid="chart-full"
          />
        </Tooltip>
      </header>
      <Chart {...look} sync={`metrics-${axis}`} height={210} />
      {full && (
        <Modal open title={name} onCancel={() => setFull(false)} footer={null} width="min(1600px, 96vw)" centered>
          <Chart {...look} height={Math.max(240, Math.floor(window.innerHeight * 0.66))} />
        </Modal>
      )}
    </section>
  );
}

/** Steps are whole, and times said as such. */
const alongOf = (axis: Axis): { xSteps?: number[]; xFormat?: (value: number) => string } =>
  axis === "steps"
    ? { xSteps: WHOLE_STEPS }
    : axis === "relative"
      ? { xSteps: DURATION_STEPS, xFormat: (s) => duration(s) }
      : {};

function Export(props: {
  job: JobDetail;
  name: string;
  lines: Line[];
  canvas: () => HTMLCanvasElement | null;
}): ReactNode {
  const { job, name, lines, canvas } = props;
  const { t } = useTranslation();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const file = `${job.name}-${name}`.replace(/[^\w.-]+/g, "_");
  const table = async (): Promise<void> => {
    try {
      const { series } = await readMetrics(job.id, ALL_POINTS);
      saveText(`${file}.csv`, csvOf(series.filter((one) => one.name === name)));
    } catch (error) {
      message.error(errorText(error).title);
    }
  };
  const picture = async (): Promise<void> => {
    const drawn = canvas();
    const blob = drawn && (await pictureOf(drawn, `${job.name} · ${name}`, lines));
    if (blob) saveBlob(`${file}.png`, blob);
  };
  return (
    <Dropdown
      trigger={["click"]}
      menu={{
        items: [
          {
            key: "csv",
            label: <span data-testid="export-csv">{t("job.metrics.csv")}</span>,
            onClick: () => void table(),
          },
          {
            key: "png",
            label: <span data-testid="export-png">{t("job.metrics.png")}</span>,
            onClick: () => void picture(),
          },
        ],
      }}
    >
      <Button
        type="text"
        size="small"
        icon={<DownloadOutlined />}
        aria-label={t("action.download")}
        data-testid="chart-export"
      />
    </Dropdown>
  );
}

interface View {
  axis: Axis;
  weight: number;
  all: MetricSeries[];
  roles: JobDetail["roles"];
}

function linesOf({ one, tasks }: Distinct, index: number, curves: Distinct[], view: View, t: TFunction): Line[] {
  const color = SERIES[index % SERIES.length] ?? SERIES[0];
  const several = new Set(curves.map((curve) => curve.one.attempt)).size > 1;
  const who = tasks.length > 1 ? t("job.metrics.same", { count: tasks.length }) : replicaOf(tasks[0] ?? "", view.roles);
  const label =
    [
      who,
      several ? t("job.metrics.attempt", { n: one.attempt }) : "",
      new Set(curves.map((curve) => curve.one.source)).size > 1 ? one.source : "",
    ]
      .filter(Boolean)
      .join(" · ") || one.name;
  const x = xOf(one, view.axis, view.all);
  if (view.weight <= 0) return [{ label, x, y: one.values, color }];
  return [
    { label: `${label} raw`, x, y: one.values, color: `${color}40`, width: 1, ghost: true },
    { label, x, y: smooth(one.values, view.weight), color, width: 2 },
  ];
}
