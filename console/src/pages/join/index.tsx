/**
 * Who has the link of an invitation comes in: with a new account, or with the one they have. Plain React, like the sign-in page.
 *
 * The secret stands behind the # of the address, which no browser sends anywhere; it is taken out of it at once and kept by this tab.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { acceptInvitation, joinWorkspace, lookAtInvitation } from "../../api/people";
import { signInWays } from "../../api/session";
import type { Session } from "../../api/types";
import { useErrorText } from "../../shared/trouble";
import { Field } from "../signin/field";
import { Frame } from "../signin/frame";
import { Note } from "../signin/note";
import { SHORTEST_PASSWORD } from "../signin/password";
import { ProviderButton } from "../signin/provider";

export const JOIN = "/join";
const KEPT = "trainmaster.invitation";

/** Whether this tab is at the address of an invitation. */
export const isInvitation = (): boolean => window.location.pathname === JOIN;

/** The secret of the invitation that this tab came with, undefined where it came with none. */
export function invitationHere(): string | undefined {
  if (!isInvitation()) return undefined;
  const secret = window.location.hash.slice(1);
  if (secret !== "") {
    sessionStorage.setItem(KEPT, secret);
    window.history.replaceState(null, "", JOIN);
  }
  return sessionStorage.getItem(KEPT) ?? "";
}

interface Props {
  secret: string;
  session: Session | null;
  /** The way on: to the console, or to the sign-in page with the invitation still there. */
  done: () => void;
  signIn: () => void;
}

export function JoinPage({ secret, session, done, signIn }: Props): ReactNode {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const look = useQuery({
    queryKey: ["invitation", secret],
    queryFn: () => lookAtInvitation(secret),
    staleTime: 60_000,
  });
  const leave = (): void => {
    sessionStorage.removeItem(KEPT);
    window.history.replaceState(null, "", "/");
    done();
  };
  const one = look.data;
  const wrong = look.error ? errorText(look.error) : null;
  return (
    <Frame title={t("join.title")}>
      <h1>{one ? t("join.into", { workspace: one.workspace }) : t("join.title")}</h1>
      {wrong && (
        <>
          <Note title={wrong.title}>{wrong.remedy}</Note>
          <button type="button" className="tm-button tm-button-first" onClick={leave}>
            {t(session === null ? "join.toSignIn" : "join.toConsole")}
          </button>
        </>
      )}
      {one && (
        <>
          <p className="tm-signin-hint">
            {t("people.invited", { by: one.made_by, role: t(`people.role.${one.role}` as "people.role.member") })}
          </p>
          {session === null ? (
            <Newcomer secret={secret} done={leave} signIn={signIn} />
          ) : (
            <Joins secret={secret} name={session.user.name} done={leave} />
          )}
        </>
      )}
    </Frame>
  );
}

function Joins({ secret, name, done }: { secret: string; name: string; done: () => void }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const errorText = useErrorText();
  const [problem, setProblem] = useState<{ title: string; remedy: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const join = async (): Promise<void> => {
    setBusy(true);
    try {
      await joinWorkspace(secret);
      await client.invalidateQueries({ queryKey: ["session"] });
      done();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  };
  return (
    <>
      {problem && <Note title={problem.title}>{problem.remedy}</Note>}
      <button
        type="button"
        className="tm-button tm-button-first"
        disabled={busy}
        onClick={() => void join()}
        data-testid="join-as"
      >
        {t("join.as", { name })}
      </button>
      <button type="button" className="tm-flat-button tm-signin-skip" onClick={done}>
        {t("join.notNow")}
      </button>
    </>
  );
}

const NAME = /^[a-z][a-z0-9._-]{0,31}$/;

function Newcomer({ secret, done, signIn }: { secret: string; done: () => void; signIn: () => void }): ReactNode {
  const { t } = useTranslation();
  const ways = useQuery({ queryKey: ["sign-in-ways"], queryFn: signInWays, staleTime: 300_000 }).data;
  return (
    <>
      {ways?.password && <NewAccount secret={secret} done={done} />}
      {ways?.provider && <ProviderButton label={ways.provider.label} invitation={secret} />}
      {ways?.password && (
        <button type="button" className="tm-flat-button tm-signin-skip" onClick={signIn} data-testid="join-sign-in">
          {t("join.haveAccount")}
        </button>
      )}
    </>
  );
}

function NewAccount({ secret, done }: { secret: string; done: () => void }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const errorText = useErrorText();
  const [typed, setTyped] = useState({ name: "", fresh: "", again: "" });
  const [tried, setTried] = useState(false);
  const [problem, setProblem] = useState<{ title: string; remedy: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const wrong = {
    name: NAME.test(typed.name) ? undefined : t("people.nameHint"),
    fresh: typed.fresh.length < SHORTEST_PASSWORD ? t("signin.tooShort") : undefined,
    again: typed.again === typed.fresh ? undefined : t("signin.differ"),
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (busy || Object.values(wrong).some(Boolean)) return;
    setBusy(true);
    setProblem(null);
    try {
      const session = await acceptInvitation(secret, typed.name, typed.fresh);
      client.setQueryData(["session"], session);
      done();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  };
  const field = (name: keyof typeof typed) => ({
    value: typed[name],
    change: (value: string) => setTyped((before) => ({ ...before, [name]: value })),
    problem: tried ? wrong[name] : undefined,
  });
  return (
    <form noValidate onSubmit={(event) => void submit(event)}>
      {problem && <Note title={problem.title}>{problem.remedy}</Note>}
      <Field
        {...field("name")}
        label={t("signin.username")}
        hint={t("people.nameHint")}
        complete="username"
        testId="join-name"
        focused
      />
      <Field
        {...field("fresh")}
        label={t("signin.password")}
        hint={t("signin.rule")}
        secret
        complete="new-password"
        testId="join-password"
      />
      <Field {...field("again")} label={t("join.again")} secret complete="new-password" testId="join-again" />
      <button type="submit" className="tm-button tm-button-first" disabled={busy} data-testid="join">
        {t("join.submit")}
      </button>
    </form>
  );
}
