/** How many GPUs and cores were held over the last day or week. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Segmented } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { type PastWindow, readPast } from "../../api/cluster";
import type { ClusterPast } from "../../api/types";
import { number } from "../../shared/format";
import { useFormatTime } from "../../shared/time";
import { Pending } from "../../shared/ui";
import { NOW, roughly, stepAt, stepsOf, summaryOf } from "./steps";
import { useUse } from "./use";

const WIDTH = 600;
const HEIGHT = 120;
const MARKS = 4;
type What = "gpu" | "cpu";

export function Past({ pool }: { pool: string | undefined }): ReactNode {
  const { t } = useTranslation();
  const [window, setWindow] = useState<PastWindow>("day");
  const [asked, setWhat] = useState<What>("gpu");
  const query = useQuery({
    queryKey: ["past", window, pool],
    queryFn: () => readPast(window, pool),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  const use = useUse(pool);
  const what: What = query.data?.gpu_total === 0 ? "cpu" : asked;
  return (
    <section className="tm-panel" data-testid="cluster-past">
      <h2 className="tm-use-head">
        {t("cluster.past.title")}
        <span className="tm-grow" />
        {query.data && query.data.gpu_total > 0 && (
          <Segmented<What>
            size="small"
            value={what}
            onChange={setWhat}
            aria-label={t("cluster.past.what")}
            options={[
              { value: "gpu", label: t("cluster.gpus") },
              { value: "cpu", label: t("cluster.cores") },
            ]}
          />
        )}
        <Segmented<PastWindow>
          size="small"
          value={window}
          onChange={setWindow}
          aria-label={t("cluster.past.window")}
          options={[
            { value: "day", label: t("cluster.past.day") },
            { value: "week", label: t("cluster.past.week") },
          ]}
        />
      </h2>
      <div className="tm-panel-body">
        {query.data ? (
          <Picture past={query.data} what={what} now={use.data?.[what].used} />
        ) : (
          <Pending query={query} rows={3} />
        )}
      </div>
    </section>
  );
}

function Picture({ past, what, now }: { past: ClusterPast; what: What; now: number | undefined }): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const [at, setAt] = useState<number | null>(null);
  const values = past[what];
  const total = past[`${what}_total`];
  const { area, line, most } = useMemo(() => stepsOf(values, total, WIDTH, HEIGHT, now), [values, total, now]);
  const { mean } = summaryOf(values);
  const share = now === undefined ? 1 : 1 - NOW;
  const say = (held: number): string =>
    t(what === "gpu" ? "cluster.past.held" : "cluster.past.heldCores", {
      held: roughly(held, total),
      total: number(total),
    });
  const words =
    at === null
      ? t("cluster.past.mean", { held: say(mean), percent: total > 0 ? roughly((100 * mean) / total, 100, 1) : "0" })
      : `${time(past.at[at] ?? 0, "minute")} · ${say(values[at] ?? 0)}`;
  const marks = Array.from(
    { length: MARKS + 1 },
    (_, i) => (past.at[0] ?? 0) + (i * past.step_s * past.at.length) / MARKS,
  );
  return (
    <div className="tm-past">
      <p className="tm-num tm-flat" data-testid="past-words">
        {words}
      </p>
      <div className="tm-past-plot">
        <span className="tm-past-top tm-num">{number(most)}</span>
        <span className="tm-past-foot tm-num">{number(0)}</span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${t("cluster.past.title")}${t("mark.colon")}${words}`}
          data-points={values.length}
          data-now={now}
          onPointerMove={(e) => {
            const box = e.currentTarget.getBoundingClientRect();
            setAt(stepAt(past, (e.clientX - box.left) / Math.max(1, box.width * share)));
          }}
          onPointerLeave={() => setAt(null)}
        >
          <path d={area} className="tm-past-area" />
          <path d={line} className="tm-past-line" vectorEffect="non-scaling-stroke" />
          {at !== null && (
            <rect
              x={(at * WIDTH * share) / values.length}
              width={(WIDTH * share) / values.length}
              y={0}
              height={HEIGHT}
              className="tm-past-at"
            />
          )}
        </svg>
      </div>
      <div className="tm-past-marks tm-num">
        {marks.map((mark, i) => (
          <span key={mark}>
            {i === MARKS ? t("cluster.past.now") : time(mark, past.step_s > 1800 ? "day" : "minute")}
          </span>
        ))}
      </div>
      {past.known_from !== null && (
        <p className="tm-line tm-wrap-line">{t("cluster.past.cut", { time: time(past.known_from, "minute") })}</p>
      )}
    </div>
  );
}
