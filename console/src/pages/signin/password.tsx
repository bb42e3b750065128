/** Choose a password: after the one-time one, and in the settings. */
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { changePassword } from "../../api/session";
import { useErrorText } from "../../shared/trouble";
import { Field } from "./field";
import { Note } from "./note";

export const SHORTEST_PASSWORD = 10;

/** `old` known: it is not asked for again. `label`: what the button says where nothing follows. */
export function PasswordForm({ old, label, onDone }: { old?: string; label?: string; onDone: () => void }): ReactNode {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const [typed, setTyped] = useState({ old: "", fresh: "", again: "" });
  const [tried, setTried] = useState(false);
  const [problem, setProblem] = useState<{ title: string; remedy: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const current = old || typed.old;
  const wrong = {
    old: current === "" ? t("signin.needPassword") : undefined,
    fresh:
      typed.fresh.length < SHORTEST_PASSWORD
        ? t("signin.tooShort")
        : typed.fresh === current
          ? t("signin.same")
          : undefined,
    again: typed.again === typed.fresh ? undefined : t("signin.differ"),
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (busy || Object.values(wrong).some(Boolean)) return;
    setBusy(true);
    setProblem(null);
    try {
      await changePassword(current, typed.fresh);
      setTyped({ old: "", fresh: "", again: "" });
      setTried(false);
      onDone();
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  const field = (name: keyof typeof typed) => ({
    value: typed[name],
    change: (value: string) => setTyped((before) => ({ ...before, [name]: value })),
    problem: tried ? wrong[name] : undefined,
    secret: true,
  });
  return (
    <form noValidate onSubmit={(event) => void submit(event)}>
      {problem && <Note title={problem.title}>{problem.remedy}</Note>}
      {!old && <Field {...field("old")} label={t("signin.old")} complete="current-password" testId="old-password" />}
      <Field
        {...field("fresh")}
        label={t("signin.fresh")}
        hint={t("signin.rule")}
        complete="new-password"
        testId="new-password"
      />
      <Field {...field("again")} label={t("signin.again")} complete="new-password" testId="new-password-again" />
      <button type="submit" className="tm-button tm-button-first" disabled={busy} data-testid="set-password">
        {label ?? t("signin.change")}
      </button>
    </form>
  );
}
