/**
 * Sign in; after the one-time password of the first start, choose an own one before anything else.
 *
 * Plain React: nothing here may import Ant Design, which is five times as large as all else that is needed to sign in.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { readSession, signIn, signInWays, signOut } from "../../api/session";
import type { Session } from "../../api/types";
import { useErrorText } from "../../shared/trouble";
import { Field } from "./field";
import { Frame } from "./frame";
import { Note } from "./note";
import { PasswordForm } from "./password";
import { ProviderButton } from "./provider";

export { PasswordForm } from "./password";

const LAST_USER = "trainmaster.user";

interface Props {
  session: Session | null;
  /** Somebody is about to come in. */
  onTyping: () => void;
  /** Why somebody who was away at the provider is not in. */
  problem?: { title: string; remedy: string } | undefined;
}

export function SignInPage({ session, onTyping, problem }: Props): ReactNode {
  const { t } = useTranslation();
  const [used, setUsed] = useState("");
  return (
    <Frame title={t(session === null ? "signin.title" : "signin.changeTitle")} onTyping={onTyping}>
      {session === null ? <Ways onUsed={setUsed} problem={problem} /> : <NewPassword old={used} />}
    </Frame>
  );
}

/** The ways in that this server has; while it has not said, and where it cannot, the one with a password. */
function Ways({ onUsed, problem }: { onUsed: (password: string) => void; problem: Props["problem"] }): ReactNode {
  const { t } = useTranslation();
  const ways = useQuery({ queryKey: ["sign-in-ways"], queryFn: signInWays, staleTime: 300_000 });
  const password = ways.data?.password ?? !ways.isPending;
  return (
    <>
      <h1>{t("signin.title")}</h1>
      {problem && <Note title={problem.title}>{problem.remedy}</Note>}
      {password && <SignIn onUsed={onUsed} first={ways.data?.first ?? false} />}
      {ways.data?.provider && password && <p className="tm-signin-or">{t("signin.or")}</p>}
      {ways.data?.provider && <ProviderButton label={ways.data.provider.label} />}
    </>
  );
}

/** `first`: nobody has ever been in, so that the password is where the server was started. */
function SignIn({ onUsed, first }: { onUsed: (password: string) => void; first: boolean }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const errorText = useErrorText();
  const [known] = useState(() => localStorage.getItem(LAST_USER) ?? "");
  const [username, setUsername] = useState(known);
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<{ title: string; remedy: string } | null>(null);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (busy || username === "" || password === "") return;
    setBusy(true);
    setProblem(null);
    try {
      const session = await signIn(username, password);
      localStorage.setItem(LAST_USER, username);
      onUsed(password);
      client.setQueryData(["session"], session);
    } catch (error) {
      const wrong = error instanceof ApiError && error.status === 401 && error.code !== "account_locked";
      setProblem(wrong ? { title: t("signin.wrong"), remedy: t("signin.wrongHint") } : errorText(error));
      setBusy(false);
    }
  };
  return (
    <>
      {problem && <Note title={problem.title}>{problem.remedy}</Note>}
      <form noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label={t("signin.username")}
          value={username}
          change={setUsername}
          problem={tried && username === "" ? t("signin.needUsername") : undefined}
          complete="username"
          testId="username"
          focused={known === ""}
        />
        <Field
          label={t("signin.password")}
          value={password}
          change={setPassword}
          problem={tried && password === "" ? t("signin.needPassword") : undefined}
          secret
          complete="current-password"
          testId="password"
          focused={known !== ""}
        />
        <button type="submit" className="tm-button tm-button-first" disabled={busy} data-testid="sign-in">
          {t("signin.submit")}
        </button>
      </form>
      {first && (
        <p className="tm-signin-hint" data-testid="first-start">
          {t("signin.firstStart")}
        </p>
      )}
    </>
  );
}

function NewPassword({ old }: { old: string }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const leave = async (): Promise<void> => {
    await signOut();
    client.setQueryData(["session"], null);
  };
  return (
    <>
      <h1>{t("signin.changeTitle")}</h1>
      <p className="tm-signin-hint">{t("signin.changeHint")}</p>
      <PasswordForm
        old={old}
        onDone={() => void readSession().then((session) => client.setQueryData(["session"], session))}
      />
      <button type="button" className="tm-flat-button tm-signin-skip" onClick={() => void leave()}>
        {t("signin.skip")}
      </button>
    </>
  );
}
