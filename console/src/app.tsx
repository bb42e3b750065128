/** What surrounds every page: looks, language, the query cache, the router. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { App as AntApp, ConfigProvider } from "antd";
import enUS from "antd/locale/en_US";
import zhCN from "antd/locale/zh_CN";
import { type ReactNode, useMemo } from "react";
import { antdTheme } from "./antd";
import { ApiError, whenSignedOut } from "./api/client";
import { whenKeyChanges } from "./api/key";
import { useLanguage } from "./i18n";
import { router } from "./router";
import { LookContext, useLookState } from "./theme";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      // The server may be on this very machine or in a closed network: only asking tells whether it answers.
      networkMode: "always",
      refetchOnWindowFocus: true,
      // A refusal stays a refusal; only silence is worth asking again.
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < 3,
      retryDelay: (count) => Math.min(1000 * 1.5 ** count, 15_000),
    },
  },
});

/** Ask again who is signed in: perhaps somebody else is by now, in another tab. */
const askAgain = (): void => void client.invalidateQueries({ queryKey: ["session"] });
whenSignedOut(() => {
  if (client.getQueryData(["session"]) !== null) askAgain();
});
whenKeyChanges(askAgain);

export function App(): ReactNode {
  const look = useLookState();
  const language = useLanguage();
  const theme = useMemo(() => antdTheme(look.dark, look.still), [look.dark, look.still]);
  return (
    <LookContext value={look}>
      <ConfigProvider theme={theme} locale={language === "zh" ? zhCN : enUS} button={{ autoInsertSpace: false }}>
        <AntApp message={{ maxCount: 3 }}>
          <QueryClientProvider client={client}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </AntApp>
      </ConfigProvider>
    </LookContext>
  );
}
