/** What was used this month, by day, and what one may hold at most. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { MonthUse, PersonalLimit } from "../../api/types";
import { mib, number } from "../../shared/format";
import { useResourceName } from "../../shared/shares";
import { useMonth } from "../../shared/time";
import { Bar } from "../../shared/ui";
import { shownAmount } from "../usage/amounts";
import { Part } from "./jobs";

const hours = (seconds: number): number => Math.round(seconds / 36) / 100;
/** Hours to a hundredth; what is less than one is not nothing. */
export const hoursOf = (seconds: number): string =>
  seconds > 0 && hours(seconds) === 0 ? "<0.01" : number(hours(seconds));

export function Use({ use }: { use: MonthUse }): ReactNode {
  const { t } = useTranslation();
  const month = useMonth();
  return (
    <Part
      title={t("home.use", { month: month(use.month) })}
      test="home-use"
      none={use.machine_s === 0 && t("home.noUse")}
      more={
        <Link to="/usage" search={{}}>
          {t("nav.usage")}
        </Link>
      }
    >
      <li className="tm-home-pool">
        <Sums use={use} />
        <Days use={use} />
      </li>
    </Part>
  );
}

function Sums({ use }: { use: MonthUse }): ReactNode {
  const { t } = useTranslation();
  return (
    <dl className="tm-home-sums">
      <div>
        <dt>{t("home.gpuHours")}</dt>
        <dd className="tm-num">{hoursOf(use.gpu_s)}</dd>
      </div>
      <div>
        <dt>{t("home.machineHours")}</dt>
        <dd className="tm-num">{hoursOf(use.machine_s)}</dd>
      </div>
      {use.priced && (
        <div>
          <dt>{t("home.amount", { currency: use.currency })}</dt>
          <dd className="tm-num">{shownAmount(use.amount)}</dd>
        </div>
      )}
    </dl>
  );
}

/** A small curve: one bar for each day, of cards where any were used, else of machines. */
export function Days({ use }: { use: MonthUse }): ReactNode {
  const { t } = useTranslation();
  const what = use.gpu_s > 0 ? "gpu_s" : "machine_s";
  const most = Math.max(...use.days.map((day) => day[what]), 1e-9);
  const label = `${t("home.perDay")}${t("mark.colon")}${hoursOf(use[what])}`;
  const edge = (at: number): string => use.days.at(at)?.day.slice(5) ?? ""; // 2026-11-01 -> 11-01
  return (
    <div>
      <div className="tm-home-days" role="img" aria-label={label}>
        {use.days.map((day) => (
          <span
            key={day.day}
            title={t("home.perDayOf", { day: day.day, hours: hoursOf(day[what]), count: hours(day[what]) })}
          >
            <i style={{ height: `${(day[what] / most) * 100}%` }} />
          </span>
        ))}
      </div>
      <div className="tm-past-marks" aria-hidden="true">
        <span>{edge(0)}</span>
        <span>{t("home.daysOf", { zone: use.time_zone })}</span>
        <span>{edge(-1)}</span>
      </div>
    </div>
  );
}

export function Limits({ limits }: { limits: PersonalLimit[] }): ReactNode {
  const { t } = useTranslation();
  const name = useResourceName();
  const said = (one: PersonalLimit, value: number): string =>
    one.resource === "memory_mib" ? mib(value) : number(value);
  return (
    <Part title={t("home.limits")} test="home-limits">
      <li className="tm-home-pool">
        {limits.map((one) => (
          <Bar
            key={`${one.workspace}/${one.pool}/${one.resource}`}
            used={one.used}
            total={one.limit}
            label={`${name(one.resource)} · ${one.workspace} · ${one.pool}`}
            text={t("home.of", { used: said(one, one.used), limit: said(one, one.limit) })}
            tone="violet"
          />
        ))}
      </li>
    </Part>
  );
}
