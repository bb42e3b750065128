/**
 * Sign in; after the one-time password of the first start, choose an own one before anything else.
 *
 * Plain React: nothing here may import Ant Design, which is five times as large as all else that is needed to sign in.
 */
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { readSession, signIn, signOut } from "../../api/session";
import type { Session } from "../../api/types";
import { LanguageSwitch, Logo } from "../../shared/brand";
import { useTitle } from "../../shared/title";
import { useErrorText } from "../../shared/trouble";
import { type Look, useLook } from "../../theme";
import { Field } from "./field";
import { Note } from "./note";
import { PasswordForm } from "./password";

export { PasswordForm } from "./password";

const LAST_USER = "trainmaster.user";

/** `onTyping`: somebody is about to come in. */
export function SignInPage({ session, onTyping }: { session: Session | null; onTyping: () => void }): ReactNode {
  const { t } = useTranslation();
  const [used, setUsed] = useState("");
  useTitle(t(session === null ? "signin.title" : "signin.changeTitle"));
  return (
    <div className="tm-signin" onInput={onTyping}>
      <header>
        <span className="tm-brand">
          <Logo />
          Trainmaster
        </span>
        <LanguageSwitch />
        <LookChoice />
      </header>
      <main className="tm-signin-box">
        {session === null ? <SignIn onUsed={setUsed} /> : <NewPassword old={used} />}
      </main>
      <footer>
        <strong>{t("signin.tagline")}</strong> {t("signin.point")}
      </footer>
    </div>
  );
}

function LookChoice(): ReactNode {
  const { t } = useTranslation();
  const { look, setLook } = useLook();
  return (
    <select
      className="tm-flat-button"
      value={look}
      onChange={(e) => setLook(e.target.value as Look)}
      aria-label={t("theme.title")}
      data-testid="look"
    >
      {(["light", "dark", "system"] as const).map((one) => (
        <option key={one} value={one}>
          {t(`theme.${one}`)}
        </option>
      ))}
    </select>
  );
}

function SignIn({ onUsed }: { onUsed: (password: string) => void }): ReactNode {
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
      <h1>{t("signin.title")}</h1>
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
      {known === "" && <p className="tm-signin-hint">{t("signin.firstStart")}</p>}
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
