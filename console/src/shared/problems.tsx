/** Problems in the reader's language: the server's code gives the text, its arguments fill it; else its own English words. */
import { useQuery } from "@tanstack/react-query";
import { readMeta } from "../api/cluster";
import type { Problem } from "../api/types";
import { useLanguage } from "../i18n";

export function useProblemText(): (problem: Problem) => { rule: string; remedy: string } {
  const language = useLanguage();
  const meta = useQuery({ queryKey: ["meta"], queryFn: readMeta, staleTime: Infinity });
  return (problem) => {
    const texts = meta.data?.problems?.[problem.code ?? ""];
    if (!texts || language === "en") return { rule: problem.rule, remedy: problem.remedy };
    const args = problem.args ?? {};
    return { rule: fill(texts.rule.zh, args) ?? problem.rule, remedy: fill(texts.remedy.zh, args) ?? problem.remedy };
  };
}

/** "{count} tasks" with its arguments; null when one is missing (then the other language is better than a gap). */
export function fill(template: string, args: Record<string, unknown>): string | null {
  let whole = true;
  const text = template.replace(/\{\{|\}\}|\{(\w+)\}/g, (match, name: string | undefined) => {
    if (name === undefined) return match[0] ?? "";
    if (!(name in args)) whole = false;
    return String(args[name]);
  });
  return whole ? text : null;
}
