/** Signing in through a provider: away to it, and back. Between the two only this tab knows what was begun. */
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { beginSignIn, completeSignIn } from "../../api/session";
import type { Session } from "../../api/types";
import { useErrorText } from "../../shared/trouble";
import { Note } from "./note";

const KEPT = "trainmaster.sign-in";
export const BACK = "/sign-in";

interface Begun {
  flow: string;
  /** Where the person wanted to go. */
  to: string;
  invitation?: string;
}

/** What a provider sent this tab back with, once: the address is cleared of it. */
export function comesBack(): Promise<Session> | undefined {
  if (window.location.pathname !== BACK) return undefined;
  const told = new URLSearchParams(window.location.search);
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  const begun: Begun = kept === null ? { flow: "", to: "/" } : (JSON.parse(kept) as Begun);
  window.history.replaceState(null, "", begun.to);
  const code = told.get("code");
  if (code === null) return told.has("error") ? Promise.reject(new Refused(told.get("error") ?? "")) : undefined;
  return completeSignIn({
    code,
    state: told.get("state") || "-",
    flow: begun.flow || "-",
    iss: told.get("iss") ?? "",
    invitation: begun.invitation ?? null,
  });
}

/** The provider, or the person there, said no. */
export class Refused extends Error {}

export function ProviderButton({ label, invitation }: { label: string; invitation?: string }): ReactNode {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const [problem, setProblem] = useState<{ title: string; remedy: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const go = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const { address, flow } = await beginSignIn();
      const { pathname, search } = window.location;
      const to = pathname === BACK || invitation !== undefined ? "/" : pathname + search;
      const begun: Begun = { flow, to, ...(invitation !== undefined && { invitation }) };
      sessionStorage.setItem(KEPT, JSON.stringify(begun));
      window.location.assign(address);
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
        className="tm-button tm-button-provider"
        disabled={busy}
        onClick={() => void go()}
        data-testid="sign-in-provider"
      >
        {t("signin.through", { provider: label })}
      </button>
    </>
  );
}
