/** What went wrong, in words. Apart from ui.tsx, so that signing in needs no Ant Design. */
import { useTranslation } from "react-i18next";
import { ApiError, Unreachable } from "../api/client";

/** A rule as a sentence of its own: "Must differ from the old password". */
const sentence = (rule: string) => rule.charAt(0).toUpperCase() + rule.slice(1);

/** What went wrong and what to do, for a line of text: each problem of the input, or what the whole advises. */
export function useErrorText(): (error: unknown) => { title: string; remedy: string } {
  const { t } = useTranslation();
  return (error) => {
    if (error instanceof Unreachable) return { title: t("error.unreachable"), remedy: t("error.unreachableHint") };
    if (error instanceof ApiError && error.code === "unknown")
      return { title: t("error.broken", { status: error.message }), remedy: t("error.brokenHint") };
    if (error instanceof ApiError)
      return {
        title: error.message,
        remedy: error.problems.map((p) => `${sentence(p.rule)}${t("mark.stop")}${p.remedy}`).join(" ") || error.remedy,
      };
    return { title: t("error.title"), remedy: error instanceof Error ? error.message : String(error) };
  };
}
