/** How long the same jobs would have waited under changed rules, beside how long under the present ones. */
import { Alert } from "antd";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { PolicyEffect, WaitFigures } from "../../api/types";
import { Chart } from "../../shared/chart";
import { DURATION_STEPS, duration, number } from "../../shared/format";
import { useFormatTime } from "../../shared/time";
import { Empty } from "../../shared/ui";
import { SERIES } from "../../theme";

const FIGURES = [
  ["mean", "mean_s"],
  ["median", "median_s"],
  ["p90", "p90_s"],
  ["max", "max_s"],
] as const satisfies readonly (readonly [string, keyof WaitFigures])[];

/** Quantiles of the wait over 0..100 % of the jobs, evenly spaced. Pure. */
export function shares(count: number): number[] {
  return Array.from({ length: count }, (_, i) => (count === 1 ? 100 : (100 * i) / (count - 1)));
}

export function Effect({ effect, stale }: { effect: PolicyEffect; stale: boolean }): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const [now, changed] = useMemo(
    () => [shares(effect.now.waits.length), shares(effect.changed.waits.length)],
    [effect],
  );
  if (effect.jobs === 0)
    return (
      <Empty title={t("admin.policy.empty")}>
        <p className="tm-faint">{t("admin.policy.emptyHint")}</p>
      </Empty>
    );
  return (
    <div className="tm-stack" data-testid="effect" data-jobs={effect.jobs}>
      {stale && <Alert type="info" showIcon title={t("admin.policy.stale")} />}
      <div>
        <h3 className="tm-effect-title">{t("admin.policy.effect")}</h3>
        <p className="tm-line tm-wrap-line">
          {t("admin.policy.over", {
            count: effect.jobs,
            since: time(effect.since, "short"),
            until: time(effect.until, "short"),
          })}
          {t("mark.stop")}
          {effect.left_out > 0 && t("admin.policy.leftOut", { count: effect.left_out })}
        </p>
      </div>
      <table className="tm-effect">
        <thead>
          <tr>
            <th />
            <th scope="col">{t("admin.policy.now")}</th>
            <th scope="col">{t("admin.policy.changed")}</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {FIGURES.map(([name, key]) => (
            <tr key={name}>
              <th scope="row">{t(`admin.policy.${name}`)}</th>
              <td>{duration(effect.now[key])}</td>
              <td>{duration(effect.changed[key])}</td>
              <td>
                <Difference before={effect.now[key]} after={effect.changed[key]} />
              </td>
            </tr>
          ))}
          {(effect.now.not_run > 0 || effect.changed.not_run > 0) && (
            <tr data-testid="not-run">
              <th scope="row">{t("admin.policy.notRun")}</th>
              <td>{number(effect.now.not_run)}</td>
              <td>{number(effect.changed.not_run)}</td>
              <td />
            </tr>
          )}
        </tbody>
      </table>
      <div>
        <span className="tm-line">{t("admin.policy.wait")}</span>
        <Chart
          height={190}
          minY={0}
          steps={DURATION_STEPS}
          xLabel={`${t("admin.policy.share")} %`}
          format={(value) => (value === 0 ? "0" : duration(value))}
          lines={[
            { label: t("admin.policy.now"), x: now, y: effect.now.waits, color: SERIES[9], width: 2 },
            { label: t("admin.policy.changed"), x: changed, y: effect.changed.waits, color: SERIES[0], width: 2 },
          ]}
        />
      </div>
    </div>
  );
}

function Difference({ before, after }: { before: number; after: number }): ReactNode {
  const { t } = useTranslation();
  if (Math.abs(after - before) < 0.5) return <span className="tm-faint">{t("admin.policy.same")}</span>;
  const percent =
    before > 0
      ? `${after > before ? "+" : "−"}${number(Math.round((Math.abs(after - before) / before) * 100))} %`
      : `+${duration(after)}`;
  return <span className={after < before ? "tm-ok" : "tm-warn"}>{percent}</span>;
}
