/** Light or dark, and who chooses: the person, or their system. Without Ant Design (antd.ts), so that signing in needs none of it. */
import { createContext, useContext, useEffect, useMemo, useState } from "react";

export type Look = "light" | "dark" | "system";
const KEY = "trainmaster.look";
const DARK = "(prefers-color-scheme: dark)";
const STILL = "(prefers-reduced-motion: reduce)";

export const FONT =
  '-apple-system, BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "PingFang SC", "Microsoft YaHei", "Noto Sans SC", "Noto Sans CJK SC", "Helvetica Neue", Arial, sans-serif';
export const MONO =
  '"JetBrains Mono", "SF Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace';

/** Distinct on light and dark, and in the common kinds of colour blindness next to each other. */
export const SERIES = [
  "#4c6ef5",
  "#f76707",
  "#12b886",
  "#be4bdb",
  "#f59f00",
  "#15aabf",
  "#fa5252",
  "#82c91e",
  "#7950f2",
  "#868e96",
] as const;

export interface LookState {
  look: Look;
  dark: boolean;
  /** The person's system asks for no movement. */
  still: boolean;
  setLook: (look: Look) => void;
}

export const LookContext = createContext<LookState>({
  look: "system",
  dark: false,
  still: false,
  setLook: () => undefined,
});
export const useLook = (): LookState => useContext(LookContext);

function savedLook(): Look {
  const saved = localStorage.getItem(KEY);
  return saved === "light" || saved === "dark" ? saved : "system";
}

/** Whether the person's system asks for it, now and when that changes. */
export function useMedia(query: string): boolean {
  const [asked, setAsked] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const listen = (): void => setAsked(media.matches);
    media.addEventListener("change", listen);
    return () => media.removeEventListener("change", listen);
  }, [query]);
  return asked;
}

export function useLookState(): LookState {
  const [look, setLookState] = useState<Look>(savedLook);
  const system = useMedia(DARK);
  const still = useMedia(STILL);
  const dark = look === "system" ? system : look === "dark";
  useEffect(() => {
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  }, [dark]);
  return useMemo(
    () => ({
      look,
      dark,
      still,
      setLook: (next: Look) => {
        localStorage.setItem(KEY, next);
        setLookState(next);
      },
    }),
    [look, dark, still],
  );
}
