/**
 * Times and durations on the page. Two clocks for everything that ticks, of a second and of a minute, so a thousand rows cost two
 * timers; and what has a text is drawn again only when its text changes.
 */
import { type PointerEvent, type ReactNode, useCallback, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { useLanguage } from "../i18n";
import { duration } from "./format";

const seconds = (): number => Math.floor(Date.now() / 1000);

class Clock {
  now = seconds();
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly everyMs: number;

  constructor(everyMs: number) {
    this.everyMs = everyMs;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.listeners.size === 0) this.now = seconds();
    this.listeners.add(listener);
    this.timer ??= setInterval(() => {
      this.now = seconds();
      for (const each of this.listeners) each();
    }, this.everyMs);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  };
}

const SECOND = new Clock(1000);
/** Half a minute, so that no "2 minutes ago" is old by more than that. */
const MINUTE = new Clock(30_000);
const never = (): (() => void) => () => undefined;

/** Seconds since the epoch, ticking once a second. */
export function useNow(): number {
  return useSyncExternalStore(SECOND.subscribe, () => SECOND.now);
}

const CALM_S = 5;

/** How long since `from`, to be said at `now`. `calm`: after its first minute it grows by five seconds, all at the same moment. */
export function since(from: number, now: number, calm: boolean): number {
  const passed = Math.max(0, now - from);
  return calm && passed > 60 ? Math.max(60, now - (now % CALM_S) - from) : passed;
}

/** A span that grows until `to` is known; beyond an hour it is said in minutes, and ticks so. `calm`: in a list, where every tick
    draws the page. */
export function Elapsed({
  from,
  to,
  calm = false,
}: {
  from: number | null;
  to: number | null;
  calm?: boolean;
}): ReactNode {
  const text = useCallback((): string => {
    if (from === null) return "–";
    return to === null ? duration(since(from, SECOND.now, calm)) : duration(to - from, true);
  }, [from, to, calm]);
  const words = useSyncExternalStore(from === null || to !== null ? never : SECOND.subscribe, text);
  return <span className={from === null ? "tm-faint" : "tm-num"}>{words}</span>;
}

const LOCALES = { zh: "zh-CN", en: "en-GB" } as const;

export function useFormatTime(): (at: number, style?: "full" | "short" | "clock" | "minute" | "day") => string {
  const locale = LOCALES[useLanguage()];
  return (at, style = "full") => {
    const date = new Date(at * 1000);
    const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false } as const;
    if (style === "clock") return date.toLocaleTimeString(locale, clock);
    if (style === "day")
      return date
        .toLocaleDateString(locale, { weekday: "short", month: "short", day: "numeric" })
        .replace("日周", "日 周");
    const sameDay = date.toDateString() === new Date().toDateString();
    const sameYear = date.getFullYear() === new Date().getFullYear();
    if (style === "minute" && sameDay)
      return date.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", hour12: false });
    if (style === "short" && sameDay) return date.toLocaleTimeString(locale, clock);
    if (style === "short" || style === "minute") {
      const year = sameYear ? {} : ({ year: "numeric" } as const);
      return date.toLocaleString(locale, {
        ...year,
        month: "short",
        day: "numeric",
        hour: "2-digit",
        minute: "2-digit",
        hour12: false,
      });
    }
    return date.toLocaleString(locale, { dateStyle: "medium", timeStyle: "medium", hour12: false });
  };
}

/** "2026-11" -> "November 2026", as the language of the page says it; what is no month stays as it is. */
export function useMonth(): (month: string) => string {
  const locale = LOCALES[useLanguage()];
  return (month) => {
    const at = new Date(`${month}-01T00:00:00Z`);
    if (Number.isNaN(at.getTime())) return month;
    return at.toLocaleDateString(locale, { year: "numeric", month: "long", timeZone: "UTC" });
  };
}

const STEPS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** To make one takes longer than to use it: one for each language. */
const AGO = {
  zh: new Intl.RelativeTimeFormat(LOCALES.zh, { numeric: "auto", style: "short" }),
  en: new Intl.RelativeTimeFormat(LOCALES.en, { numeric: "auto", style: "short" }),
} as const;
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** "3 minutes ago", exact when pointed at, with the zone. */
export function Ago({ at }: { at: number | null | undefined }): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  const text = useCallback((): string => {
    const passed = at == null ? 0 : Math.max(0, MINUTE.now - at);
    const step = STEPS.find(([, size]) => passed >= size);
    const said = step ? AGO[language].format(-Math.floor(passed / step[1]), step[0]) : "";
    return said.replace(/(\d)(?=\p{Script=Han})/u, "$1 "); // as the rest of the page has it
  }, [at, language]);
  const words = useSyncExternalStore(at == null ? never : MINUTE.subscribe, text);
  if (at === null || at === undefined) return <span className="tm-faint">–</span>;
  return <Stamp at={at}>{words || t("time.justNow")}</Stamp>;
}

/** Any text about a moment, with the exact moment when it is pointed at: local and UTC. */
export function Stamp({ at, children }: { at: number; children?: ReactNode }): ReactNode {
  const format = useFormatTime();
  const { t } = useTranslation();
  // Written when somebody points at it: most of a thousand rows are never pointed at.
  const tell = (event: PointerEvent<HTMLElement>): void => {
    const utc = new Date(at * 1000).toISOString().replace("T", " ").slice(0, 19);
    event.currentTarget.title = `${t("time.local")}${t("mark.aside", { text: ZONE })}${t("mark.colon")}${format(at)}\n${t("time.utc")}${t("mark.colon")}${utc}`;
  };
  return (
    <time dateTime={new Date(at * 1000).toISOString()} onPointerEnter={tell}>
      {children ?? format(at, "short")}
    </time>
  );
}
