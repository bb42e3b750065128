/** Colours of the product in light and dark, and who chooses: the person, or their system. */
import { theme as antd, type ThemeConfig } from "antd";
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
function useMedia(query: string): boolean {
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

export function antdTheme(dark: boolean, still: boolean): ThemeConfig {
  return {
    algorithm: dark ? antd.darkAlgorithm : antd.defaultAlgorithm,
    cssVar: { key: "tm" },
    token: {
      colorPrimary: dark ? "#5c7cfa" : "#3b5bdb",
      colorLink: dark ? "#91a7ff" : "#3b5bdb",
      colorInfo: dark ? "#5c7cfa" : "#3b5bdb",
      colorSuccess: "#2b8a3e",
      colorSuccessBg: dark ? "#14301c" : "#e9f7ec",
      colorSuccessBorder: dark ? "#2b6b3c" : "#a3d9b1",
      colorError: "#e03131",
      colorWarning: "#e8890c",
      colorBgLayout: dark ? "#0f1115" : "#f5f6f8",
      colorBgContainer: dark ? "#171a21" : "#ffffff",
      colorBgElevated: dark ? "#1e222b" : "#ffffff",
      colorBorderSecondary: dark ? "#272c37" : "#e9ebef",
      colorTextBase: dark ? "#e6e8ee" : "#1b1f27",
      borderRadius: 8,
      fontFamily: FONT,
      fontFamilyCode: MONO,
      wireframe: false,
      motion: !still,
    },
    components: {
      Layout: {
        headerBg: dark ? "#171a21" : "#ffffff",
        siderBg: dark ? "#13161c" : "#ffffff",
        headerHeight: 52,
        headerPadding: "0 20px",
      },
      Menu: {
        itemBorderRadius: 8,
        activeBarBorderWidth: 0,
        itemBg: "transparent",
        ...(dark ? { itemSelectedColor: "#b9c8ff", itemSelectedBg: "#222c4d" } : {}),
      },
      Table: {
        headerBg: "transparent",
        cellPaddingBlockMD: 9,
        cellPaddingInlineMD: 10,
        headerSplitColor: "transparent",
      },
      Card: { headerFontSize: 15, headerHeight: 46 },
      Tabs: {
        horizontalMargin: "0 0 14px 0",
        ...(dark ? { itemSelectedColor: "#91a7ff", inkBarColor: "#91a7ff" } : {}),
      },
    },
  };
}
