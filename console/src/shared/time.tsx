/** Times and durations on the page. One clock for everything that ticks, so a thousand rows cost one timer. */
import { Tooltip } from "antd";
import { type ReactNode, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { useLanguage } from "../i18n";
import { duration } from "./format";

const listeners = new Set<() => void>();
let now = Math.floor(Date.now() / 1000);
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Math.floor(Date.now() / 1000);
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Seconds since the epoch, ticking once a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** A span that grows until `to` is known. */
export function Elapsed({ from, to }: { from: number | null; to: number | null }): ReactNode {
  const current = useNow();
  if (from === null) return <span className="tm-faint">–</span>;
  return <span className="tm-num">{duration((to ?? Math.max(current, from)) - from, to !== null)}</span>;
}

const LOCALES = { zh: "zh-CN", en: "en-GB" } as const;

export function useFormatTime(): (at: number, style?: "full" | "short" | "clock" | "minute" | "day") => string {
  const locale = LOCALES[useLanguage()];
  return (at, style = "full") => {
    const date = new Date(at * 1000);
    const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false } as const;
    if (style === "clock") return date.toLocaleTimeString(locale, clock);
    if (style === "day") return date.toLocaleDateString(locale, { weekday: "short", month: "short", day: "numeric" });
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

const STEPS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** "3 minutes ago", exact in the tooltip with the zone. */
export function Ago({ at }: { at: number | null | undefined }): ReactNode {
  const current = useNow();
  const { t } = useTranslation();
  const locale = LOCALES[useLanguage()];
  if (at === null || at === undefined) return <span className="tm-faint">–</span>;
  const passed = Math.max(0, current - at);
  const step = STEPS.find(([, size]) => passed >= size);
  const text = step
    ? new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }).format(
        -Math.floor(passed / step[1]),
        step[0],
      )
    : t("time.justNow");
  return <Stamp at={at}>{text}</Stamp>;
}

/** Any text about a moment, with the exact moment in the tooltip: local and UTC. */
export function Stamp({ at, children }: { at: number; children?: ReactNode }): ReactNode {
  const format = useFormatTime();
  const { t } = useTranslation();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const exact = (
    <>
      {t("time.local")} ({zone}): {format(at)}
      <br />
      {t("time.utc")}: {new Date(at * 1000).toISOString().replace("T", " ").slice(0, 19)}
    </>
  );
  return (
    <Tooltip title={exact}>
      <time dateTime={new Date(at * 1000).toISOString()}>{children ?? format(at, "short")}</time>
    </Tooltip>
  );
}
