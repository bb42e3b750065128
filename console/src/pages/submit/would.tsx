/** Beside the button: would it start now, or queue, and until about when? With several flavors: now when any of them can (R163). What would help (B1). */
import {
  CheckCircleFilled,
  ClockCircleOutlined,
  CloseCircleFilled,
  LoadingOutlined,
  ThunderboltOutlined,
} from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Button, Popover } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { wouldStart } from "../../api/queue";
import type { JsonObject, Preview, Problem, Suggestion, WouldStart } from "../../api/types";
import { useBilingual, useLanguage } from "../../i18n";
import { ForecastWords } from "../queue/forecast";
import { When } from "../queue/sooner";
import { useSettled } from "./state";

const REFRESH_MS = 15_000;

/** What would help costs the platform more than the rest: it is asked for once nobody types any more, and kept. */
const STILL_MS = 1500;
const HELP_KEPT_MS = 60_000;

/** `latest`: what was answered last, perhaps about an older document; `current`: of this one. */
export interface Would {
  latest: WouldStart | undefined;
  current: WouldStart | undefined;
  suggestions: Suggestion[];
}

/** Asked once the document stands still and has no problems; the queue moves on, so it is asked again. `insteadOf`: a queued job that it replaces. */
export function useWouldStart(spec: JsonObject | null, ok: boolean, insteadOf: string | undefined): Would {
  const language = useLanguage();
  const question = { spec, dialect: "native", instead_of: insteadOf ?? null } as const;
  const asked = useQuery({
    queryKey: ["would-start", language, question],
    queryFn: ({ signal }) => wouldStart(question, signal),
    enabled: ok && spec !== null,
    placeholderData: ok ? keepPreviousData : undefined,
    refetchInterval: REFRESH_MS,
    retry: false,
    gcTime: 10_000,
  });
  const current = asked.isPlaceholderData ? undefined : asked.data;
  const still = useSettled(spec, STILL_MS) === spec;
  const helped = useQuery({
    queryKey: ["would-help", language, question],
    queryFn: async ({ signal }) => (await wouldStart({ ...question, suggest: true }, signal)).suggestions,
    enabled: still && current?.when === "queue",
    staleTime: HELP_KEPT_MS,
    retry: false,
    gcTime: 10_000,
  });
  return { latest: asked.data, current, suggestions: current?.when === "queue" ? (helped.data ?? []) : [] };
}

/** Whether and why it would wait: as the queue says, which knows whose place it takes; until then as the preview does. */
export function outlook(fits: NonNullable<Preview["fits"]>, start: Would): Pick<WouldStart, "when" | "reason"> {
  return start.current ?? fits;
}

const LOOKS = {
  now: ["green", <CheckCircleFilled key="i" />],
  queue: ["amber", <ClockCircleOutlined key="i" />],
  never: ["red", <CloseCircleFilled key="i" />],
} as const;

export function WouldTag({ start: { latest: answer, current } }: { start: Would }): ReactNode {
  const { t } = useTranslation();
  if (!answer) return null;
  const [tone, icon] = LOOKS[answer.when];
  const place =
    answer.position !== null && answer.position > 0 ? ` · ${t("jobs.position", { n: answer.position })}` : "";
  return (
    <Popover content={<WouldDetail answer={answer} />} placement="bottomRight">
      <span
        className={`tm-state tm-tone-${tone} tm-would`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has no other way to the details.
        tabIndex={0}
        role="status"
        data-testid="would-start"
        data-when={answer.when}
      >
        {/* Until the platform has judged this document, what stands here is of the one before. */}
        {current ? icon : <LoadingOutlined />}
        <span>
          {t(`submit.preview.${answer.when}`)}
          {place && <span className="tm-would-place">{place}</span>}
        </span>
      </span>
    </Popover>
  );
}

/** In its place: how much is wrong; it leads to the first of it. */
export function ProblemsTag({ problems, go }: { problems: Problem[]; go: (path: string) => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      className="tm-state tm-tone-red tm-would tm-would-wrong"
      title={problems[0]?.rule}
      onClick={() => go(problems[0]?.path ?? "")}
      data-testid="form-problems"
    >
      <CloseCircleFilled />
      <span>{t("error.problems", { count: problems.length })}</span>
    </button>
  );
}

export function WouldDetail({ answer }: { answer: WouldStart }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const several = answer.alternatives.filter((one) => one.flavors.some((name) => name !== null)).length > 1;
  return (
    <div className="tm-would-detail">
      {answer.reason && <p>{pick(answer.reason.message)}</p>}
      {(answer.when === "queue" || answer.forecast?.by) && (
        <div className="tm-would-forecast">
          <span className="tm-faint">{t("queue.col.forecast")}</span>
          <ForecastWords forecast={answer.forecast} line={false} />
        </div>
      )}
      {several && (
        <ul className="tm-would-ways">
          {answer.alternatives.map((way) => (
            <li key={way.flavors.join("/")}>
              <span className="tm-grow">{way.flavors.map((name) => name ?? t("submit.place.own")).join(" + ")}</span>
              <span className={`tm-tone-${LOOKS[way.when][0]} tm-state tm-quiet`}>
                {LOOKS[way.when][1]}
                {t(`submit.preview.${way.when}`)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {answer.when === "now" && !several && <p className="tm-flat">{t("submit.place.startsNow")}</p>}
    </div>
  );
}

/** Changes of the document with which it would start now or clearly sooner, cheapest first. */
export function Helping({
  all,
  apply,
}: {
  all: Suggestion[];
  apply: (change: Suggestion["change"]) => void;
}): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  if (all.length === 0) return null;
  return (
    <section data-testid="would-help">
      <h3 className="tm-would-help">{t("queue.detail.sooner")}</h3>
      <ol className="tm-sooner">
        {all.map((one) => (
          <li key={one.message.en} data-testid="would-sooner">
            <span className="tm-grow">
              {pick(one.message)} <When suggestion={one} />
            </span>
            <Button size="small" icon={<ThunderboltOutlined />} onClick={() => apply(one.change)}>
              {t("queue.detail.apply")}
            </Button>
          </li>
        ))}
      </ol>
    </section>
  );
}
