/** Beside the button: would it start now, or queue, and until about when? With several flavors: now when any of them can (R163). */
import { CheckCircleFilled, ClockCircleOutlined, CloseCircleFilled } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Popover } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { wouldStart } from "../../api/queue";
import type { JsonObject, WouldStart } from "../../api/types";
import { useBilingual, useLanguage } from "../../i18n";
import { ForecastWords } from "../queue/forecast";

const REFRESH_MS = 15_000;

/** Asked once the document stands still and has no problems; the queue moves on, so it is asked again. */
export function useWouldStart(spec: JsonObject | null, ok: boolean): WouldStart | undefined {
  const language = useLanguage();
  return useQuery({
    queryKey: ["would-start", language, spec], queryFn: ({ signal }) => wouldStart({ spec, dialect: "native" }, signal), enabled: ok && spec !== null,
    placeholderData: ok ? keepPreviousData : undefined, refetchInterval: REFRESH_MS, retry: false, gcTime: 10_000,
  }).data;
}

const LOOKS = { now: ["green", <CheckCircleFilled key="i" />], queue: ["amber", <ClockCircleOutlined key="i" />], never: ["red", <CloseCircleFilled key="i" />] } as const;

export function WouldTag({ answer }: { answer: WouldStart | undefined }): ReactNode {
  const { t } = useTranslation();
  if (!answer) return null;
  const [tone, icon] = LOOKS[answer.when];
  const place = answer.position !== null && answer.position > 0 ? ` · ${t("jobs.position", { n: answer.position })}` : "";
  return (
    <Popover content={<WouldDetail answer={answer} />} placement="bottomRight">
      <span className={`tm-state tm-tone-${tone} tm-would`} tabIndex={0} role="status" data-testid="would-start" data-when={answer.when}>{icon}<span>{t(`submit.preview.${answer.when}`)}{place}</span></span>
    </Popover>
  );
}

export function WouldDetail({ answer }: { answer: WouldStart }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const several = answer.alternatives.filter((one) => one.flavors.some((name) => name !== null)).length > 1;
  return (
    <div className="tm-would-detail">
      {answer.reason && <p>{pick(answer.reason.message)}</p>}
      {answer.when === "queue" && <div className="tm-would-forecast"><span className="tm-faint">{t("queue.col.forecast")}</span><ForecastWords forecast={answer.forecast} line={false} /></div>}
      {several && (
        <ul className="tm-would-ways">
          {answer.alternatives.map((way) => <li key={way.flavors.join("/")}><span className="tm-grow">{way.flavors.map((name) => name ?? t("submit.place.own")).join(" + ")}</span><span className={`tm-tone-${LOOKS[way.when][0]} tm-state tm-quiet`}>{LOOKS[way.when][1]}{t(`submit.preview.${way.when}`)}</span></li>)}
        </ul>
      )}
      {answer.when === "now" && !several && <p className="tm-flat">{t("submit.place.startsNow")}</p>}
    </div>
  );
}
