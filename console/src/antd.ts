/** The colors and measures of Ant Design in light and dark; those of our own styles are in styles/base.css. */
import { theme as antd, type ThemeConfig } from "antd";
import { FONT, MONO } from "./theme";

export function antdTheme(dark: boolean, still: boolean): ThemeConfig {
  const hovered = dark ? "#91a7ff" : "#4263eb"; // words under the mouse are read, too
  const field = dark ? "#6f7889" : "#878e9b";
  return {
    algorithm: dark ? antd.darkAlgorithm : antd.defaultAlgorithm,
    cssVar: { key: "tm" },
    token: {
      colorPrimary: dark ? "#5c7cfa" : "#3b5bdb",
      colorLink: dark ? "#91a7ff" : "#3b5bdb",
      colorLinkHover: hovered,
      colorInfo: dark ? "#5c7cfa" : "#3b5bdb",
      colorSuccess: dark ? "#40a858" : "#1f7a35",
      colorError: dark ? "#ea4845" : "#c92a2a",
      colorWarning: "#e8890c",
      colorBgLayout: dark ? "#0f1115" : "#f5f6f8",
      colorBgContainer: dark ? "#171a21" : "#ffffff",
      colorBgElevated: dark ? "#1e222b" : "#ffffff",
      colorBorderSecondary: dark ? "#272c37" : "#e9ebef",
      colorTextBase: dark ? "#e6e8ee" : "#1b1f27",
      // At least 4.5 to 1 on every ground of the page (WCAG 1.4.3): placeholders and hints are read, too.
      colorTextSecondary: dark ? "#b4bac6" : "#4b5260",
      colorTextTertiary: dark ? "#969eac" : "#5f6672",
      colorTextDescription: dark ? "#969eac" : "#5f6672",
      colorTextPlaceholder: dark ? "#969eac" : "#5f6672",
      colorSuccessBg: dark ? "#14301c" : "#e9f7ec",
      colorSuccessBorder: dark ? "#2c5c39" : "#b2dfbb",
      borderRadius: 8,
      fontFamily: FONT,
      fontFamilyCode: MONO,
      wireframe: false,
      motion: !still,
    },
    components: {
      Button: { defaultHoverColor: hovered, defaultHoverBorderColor: hovered },
      // What is typed into is known by its border alone: at least 3 to 1 (WCAG 1.4.11).
      Input: { colorBorder: field },
      InputNumber: { colorBorder: field },
      Select: { colorBorder: field },
      Checkbox: { colorBorder: field },
      Radio: { colorBorder: field },
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
