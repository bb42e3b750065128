/** When a waiting job is expected to start, as people say it: now, about 14:20 with a range, after 14:20, or unknown and why. */
import { Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Forecast } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration } from "../../shared/format";
import { useFormatTime, useNow } from "../../shared/time";

const MOMENT_S = 5;

/** How far away a moment is, coarse enough not to pretend: full minutes above one, nothing when it is about to come or has passed. Pure. */
export function away(at: number, now: number): string | null {
  const left = at - now;
  if (left < MOMENT_S) return null;
  return duration(left < 60 ? left : Math.round(left / 60) * 60);
}

const SHOWN_NODES = 4;

/** The first of the nodes where it is expected to start, and that there are more. Pure. */
export function some(nodes: string[]): string {
  if (nodes.length === 0) return "";
  const more = nodes.length > SHOWN_NODES ? ` +${nodes.length - SHOWN_NODES}` : "";
  return ` · ${nodes.slice(0, SHOWN_NODES).join(", ")}${more}`;
}

export function ForecastWords({ forecast, line = true }: { forecast: Forecast | null; line?: boolean }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const time = useFormatTime();
  const now = useNow();
  if (forecast === null)
    return (
      <span className="tm-faint" data-testid="forecast" data-when="none">
        {t("queue.forecast.none")}
      </span>
    );
  if (forecast.when === "now")
    return (
      <span className="tm-ok" data-testid="forecast" data-when="now">
        <b>{t("queue.forecast.now")}</b>
      </span>
    );
  if (forecast.at === null) {
    const why = pick(forecast.why);
    const after = forecast.when === "after" && forecast.low !== null ? time(forecast.low, "minute") : null;
    return (
      <div className="tm-cell" data-testid="forecast" data-when={forecast.when}>
        {after === null ? (
          <span>{t("queue.forecast.unknown")}</span>
        ) : (
          <b className="tm-num">{t("queue.forecast.after", { time: after })}</b>
        )}
        {why && (
          <Tooltip title={after === null ? t("queue.forecast.because", { why }) : why}>
            <span className={line ? "tm-line tm-line-two" : "tm-faint"}>{why}</span>
          </Tooltip>
        )}
      </div>
    );
  }
  const left = away(forecast.at, now);
  const low = forecast.low === null ? "" : time(forecast.low, "minute");
  const high = forecast.high === null ? "" : time(forecast.high, "minute");
  const range = low !== "" && high !== "" && low !== high ? t("queue.forecast.range", { low, high }) : "";
  return (
    <div className="tm-cell" data-testid="forecast" data-when="about">
      <span className="tm-num">
        <b>{t("mark.gap", { text: t("queue.forecast.about", { time: time(forecast.at, "minute") }) })}</b>
        <span className="tm-faint tm-nowrap">
          {left === null ? t("queue.forecast.overdue") : t("queue.forecast.soon", { time: left })}
        </span>
      </span>
      {forecast.by && (
        <span className="tm-line tm-faint" data-testid="forecast-by">
          {t("queue.forecast.by", { engine: forecast.by })}
          {some(forecast.nodes)}
        </span>
      )}
      {range && (
        <Tooltip title={t("queue.forecast.rangeHint")}>
          <span className="tm-line tm-num tm-range tm-wrap-line">{range}</span>
        </Tooltip>
      )}
    </div>
  );
}
