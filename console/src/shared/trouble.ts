/** What went wrong, in words. Apart from ui.tsx, so that signing in needs no Ant Design. */
import { useTranslation } from "react-i18next";
import { ApiError, Unreachable } from "../api/client";

interface Trouble {
  title: string;
  remedy: string;
  /** Both one after the other, for a message of one line. */
  line: string;
}

/** A rule as a sentence of its own: "Must differ from the old password"; a name that it begins with stays: "example.org has no address". */
export const sentence = (rule: string): string =>
  /^[a-z]+[ ,]/.test(rule) ? rule.charAt(0).toUpperCase() + rule.slice(1) : rule;

/** `stop` ends the title, since the server's titles have none: most stand alone. */
export function lineOf(title: string, remedy: string, stop: string): string {
  return remedy === "" || /[.。]$/.test(title) ? `${title} ${remedy}`.trim() : `${title}${stop}${remedy}`;
}

/** What went wrong and what to do, for a line of text: each problem of the input, or what the whole advises. */
export function useErrorText(): (error: unknown) => Trouble {
  const { t } = useTranslation();
  const told = (error: unknown): Omit<Trouble, "line"> => {
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
  return (error) => {
    const { title, remedy } = told(error);
    return { title, remedy, line: lineOf(title, remedy, t("mark.stop")) };
  };
}
