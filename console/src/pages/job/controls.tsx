/** How curves are drawn: by which x axis, how smooth, on which scale. */
import { Segmented, Slider, Switch } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Axis } from "./curves";

const AXES = ["steps", "epoch", "relative", "time"] as const satisfies readonly Axis[];

interface Drawn {
  /** 0 to 99. */
  smooth?: number | undefined;
  log?: boolean | undefined;
}

export function CurveControls(props: {
  axis: Axis;
  /** Undefined: by step, which an address does not say. */
  setAxis: (to: Exclude<Axis, "steps"> | undefined) => void;
  epochs: boolean;
  drawn: Drawn;
  update: (change: Drawn) => void;
}): ReactNode {
  const { axis, setAxis, epochs, drawn, update } = props;
  const { t } = useTranslation();
  return (
    <>
      <Segmented<Axis>
        value={axis}
        onChange={(to) => setAxis(to === "steps" ? undefined : to)}
        options={AXES.filter((value) => value !== "epoch" || epochs).map((value) => ({
          value,
          label: <span data-testid={`axis-${value}`}>{t(`job.metrics.${value}`)}</span>,
        }))}
        aria-label={t("job.metrics.axis")}
      />
      <div className="tm-switch">
        <span id="tm-smoothing">{t("job.metrics.smoothing")}</span>
        <Slider
          min={0}
          max={99}
          value={drawn.smooth ?? 0}
          onChange={(to) => update({ smooth: to || undefined })}
          className="tm-slider"
          tooltip={{ open: false }}
          ariaLabelledByForHandle="tm-smoothing"
        />
        <span className="tm-num">{(Math.min(drawn.smooth ?? 0, 99) / 100).toFixed(2)}</span>
      </div>
      <label className="tm-switch">
        <Switch size="small" checked={drawn.log === true} onChange={(log) => update({ log: log || undefined })} />
        {t("job.metrics.log")}
      </label>
    </>
  );
}
