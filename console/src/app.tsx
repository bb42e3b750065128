/** What surrounds every page of who is signed in: Ant Design's looks and language, and the router. */
import { LoadingOutlined } from "@ant-design/icons";
import { RouterProvider } from "@tanstack/react-router";
import { App as AntApp, ConfigProvider } from "antd";
import enUS from "antd/locale/en_US";
import zhCN from "antd/locale/zh_CN";
import { type ReactNode, useMemo } from "react";
import { antdTheme } from "./antd";
import { useLanguage } from "./i18n";
import { router } from "./router";
import { useLook } from "./theme";

// Ant Design's own icon fades out and goes when that is over. Where nobody sees the button, it never is: the icon stays,
// turns, and has the browser go through the whole page five times a second.
const BUTTON = { autoInsertSpace: false, loadingIcon: <LoadingOutlined /> };

/** Fetch what the page at this address needs, before there is a page. */
export const begin = (): Promise<void> => router.load();

export default function Console(): ReactNode {
  const { dark, still } = useLook();
  const language = useLanguage();
  const theme = useMemo(() => antdTheme(dark, still), [dark, still]);
  return (
    <ConfigProvider theme={theme} locale={language === "zh" ? zhCN : enUS} button={BUTTON}>
      <AntApp message={{ maxCount: 3 }}>
        <RouterProvider router={router} />
      </AntApp>
    </ConfigProvider>
  );
}
