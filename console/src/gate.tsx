/**
 * Who is signed in decides between the sign-in page and the console behind it.
 *
 * Only this, the sign-in page and their styles are loaded first (tests/e2e/test_first_load.py counts the bytes). The console is fetched
 * at once by who has a session's key, and while somebody types by who has none.
 */
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { ApiError, whenSignedOut } from "./api/client";
import { sessionKey, whenKeyChanges } from "./api/key";
import type { Session } from "./api/types";
import { SignInPage } from "./pages/signin";
import { Note } from "./pages/signin/note";
import { sessionOrNone } from "./shared/session";
import { useErrorText } from "./shared/trouble";
import { LookContext, useLookState } from "./theme";

const loadConsole = (): Promise<typeof import("./app")> => import("./app");
const Console = lazy(loadConsole);
if (sessionKey() !== "") void loadConsole();

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

export function Gate(): ReactNode {
  const look = useLookState();
  return (
    <LookContext value={look}>
      <QueryClientProvider client={client}>
        <Way />
      </QueryClientProvider>
    </LookContext>
  );
}

function Way(): ReactNode {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const query = useQuery<Session | null>({
    queryKey: ["session"],
    queryFn: sessionOrNone,
    staleTime: 300_000,
    refetchInterval: (q) => (q.state.error ? 3000 : false),
    // Without a key nobody is signed in, so the page need not wait for the answer.
    initialData: () => (sessionKey() === "" ? null : undefined),
    initialDataUpdatedAt: 0, // it is asked all the same
  });
  if (query.data === undefined) {
    if (!query.error) return <Boot />;
    const { title, remedy } = errorText(query.error);
    return (
      <main className="tm-boot-error">
        <Note title={title}>{remedy}</Note>
        <button type="button" className="tm-button" onClick={() => void query.refetch()}>
          {t("action.retry")}
        </button>
      </main>
    );
  }
  if (query.data === null || query.data.user.must_change_password)
    return <SignInPage session={query.data} onTyping={() => void loadConsole()} />;
  return (
    <Suspense fallback={<Boot />}>
      <Console />
    </Suspense>
  );
}

/** The frame before there is one, where it will be: nothing moves when it comes. */
function Boot(): ReactNode {
  return (
    <div className="tm-boot" aria-busy="true">
      <i className="tm-boot-sider" />
      <i className="tm-boot-header" />
      <div className="tm-boot-page">
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}
