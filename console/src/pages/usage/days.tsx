/** One bar for each day of the month: what it cost, or how long machines or GPUs were used. */
import { Segmented } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ReportDay, UsageReport } from "../../api/types";
import { number } from "../../shared/format";
import { shownAmount } from "./amounts";

const WHAT = ["amount", "machine_s", "gpu_s"] as const;
type What = (typeof WHAT)[number];

const heightOf = (day: ReportDay, what: What): number => (what === "amount" ? Number(day.amount) : day[what] / 3600);

export function Days({ report }: { report: UsageReport }): ReactNode {
  const { t } = useTranslation();
  const [asked, setWhat] = useState<What | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const what = asked ?? (Number(report.amount) > 0 ? "amount" : "machine_s");
  const values = report.days.map((day) => heightOf(day, what));
  const most = Math.max(...values, 0);
  const say = (value: number): string =>
    what === "amount"
      ? `${shownAmount(value.toFixed(6))} ${report.currency}`
      : t("usage.hours", { n: number(Math.round(value * 100) / 100), count: Math.round(value * 100) / 100 });
  const day = at === null ? undefined : report.days[at];
  const words = day
    ? `${day.day} · ${say(heightOf(day, what))}`
    : `${t("usage.total")}${t("mark.colon")}${say(what === "amount" ? Number(report.amount) : report[what] / 3600)}`;
  return (
    <section className="tm-panel" data-testid="usage-days">
      <h2 className="tm-use-head">
        {t("usage.days")}
        <span className="tm-grow" />
        <Segmented<What>
          size="small"
          value={what}
          onChange={setWhat}
          aria-label={t("usage.what")}
          options={WHAT.filter((value) => value !== "amount" || report.priced).map((value) => ({
            value,
            label: t(`usage.${value}`),
          }))}
        />
      </h2>
      <div className="tm-panel-body tm-past">
        <p className="tm-num tm-flat">{words}</p>
        <div
          className="tm-usage-days"
          role="img"
          aria-label={`${t("usage.days")}${t("mark.colon")}${words}`}
          onPointerLeave={() => setAt(null)}
        >
          <span className="tm-past-top tm-num">{most > 0 ? say(most) : ""}</span>
          {report.days.map((one, index) => (
            <span
              key={one.day}
              className="tm-usage-day"
              data-at={index === at || undefined}
              onPointerEnter={() => setAt(index)}
            >
              <b>
                <i style={{ height: `${most > 0 ? ((values[index] ?? 0) / most) * 100 : 0}%` }} />
              </b>
              <em>{Number(one.day.slice(8))}</em>
            </span>
          ))}
        </div>
      </div>
    </section>
  );
}
