/**
 * Who is signed in decides between the sign-in page and the console behind it.
 *
 * Only this, the sign-in page and their styles are loaded first (tests/e2e/test_first_load.py counts the bytes). The console is fetched
 * at once by who has a session's key, and while somebody types by who has none.
 */
import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { whenSignedOut } from "./api/client";
import { readHome } from "./api/home";
import { sessionKey, whenKeyChanges } from "./api/key";
import type { Session } from "./api/types";
import { invitationHere, isInvitation, JoinPage } from "./pages/join";
import { SignInPage } from "./pages/signin";
import { Note } from "./pages/signin/note";
import { comesBack, Refused } from "./pages/signin/provider";
import { client } from "./shared/queries";
import { sessionOrNone } from "./shared/session";
import { useErrorText } from "./shared/trouble";
import { LookContext, useLookState } from "./theme";

const loadConsole = (): Promise<typeof import("./app")> => import("./app");
const SESSION = { queryKey: ["session"], queryFn: sessionOrNone, staleTime: 300_000 } as const;

/** The session of who is just back from a sign-in provider, undefined for everybody else. */
const BACK_HERE = comesBack();

if (sessionKey() !== "") {
  void client.prefetchQuery<Session | null>(SESSION);
  const stays = BACK_HERE === undefined && !isInvitation(); // else the address is soon another
  if (stays && location.pathname === "/") {
    // Side by side with what surrounds the first page, and not after it.
    void import("./pages/home");
    void client.prefetchQuery({ queryKey: ["home"], queryFn: readHome });
  }
  void loadConsole().then(({ begin }) => (stays ? begin() : undefined));
}

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
  const [invitation, setInvitation] = useState(invitationHere);
  const [signingIn, setSigningIn] = useState(false);
  const [away, setAway] = useState(BACK_HERE !== undefined);
  const [problem, setProblem] = useState<{ title: string; remedy: string }>();
  const [toldOf] = useState(() => ({ done: false }));
  useEffect(() => {
    if (BACK_HERE === undefined || toldOf.done) return;
    toldOf.done = true;
    BACK_HERE.then(
      (session) => client.setQueryData(["session"], session),
      (error: unknown) =>
        setProblem(
          error instanceof Refused
            ? { title: t("signin.refused"), remedy: t("signin.refusedHint", { error: error.message }) }
            : errorText(error),
        ),
    ).finally(() => setAway(false));
  }, [t, errorText, toldOf]);
  const query = useQuery<Session | null>({
    ...SESSION,
    refetchInterval: (q) => (q.state.error ? 3000 : false),
    // Without a key nobody is signed in, so the page need not wait for the answer.
    initialData: () => (sessionKey() === "" ? null : undefined),
    initialDataUpdatedAt: 0, // it is asked all the same
  });
  if (query.data !== null && signingIn) setSigningIn(false); // with the invitation still there
  if (away) return <Boot />;
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
  const must = query.data?.user.must_change_password === true;
  if (invitation !== undefined && !signingIn && !must)
    return (
      <JoinPage
        secret={invitation}
        session={query.data}
        done={() => setInvitation(undefined)}
        signIn={() => setSigningIn(true)}
      />
    );
  if (query.data === null || must)
    return <SignInPage session={query.data} onTyping={() => void loadConsole()} problem={problem} />;
  return <Behind />;
}

/** The console once it is here. Not `lazy`: what follows a fallback, React holds back until that was seen for 300 ms. */
function Behind(): ReactNode {
  const { t } = useTranslation();
  const [loaded, setLoaded] = useState<{ Console: ComponentType } | { error: unknown }>();
  useEffect(() => {
    loadConsole().then(
      ({ default: Console }) => setLoaded({ Console }),
      (error: unknown) => setLoaded({ error }),
    );
  }, []);
  if (!loaded) return <Boot />;
  if ("error" in loaded)
    return (
      <main className="tm-boot-error" data-testid="not-loaded">
        <Note title={t("error.load")}>{t("error.loadHint")}</Note>
        <button type="button" className="tm-button" onClick={() => window.location.reload()}>
          {t("action.reload")}
        </button>
      </main>
    );
  return <loaded.Console />;
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
