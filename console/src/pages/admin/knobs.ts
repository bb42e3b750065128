/** Values of the policy's knobs as people type and read them. Pure. */
import type { TFunction } from "i18next";
import type { PolicyValues } from "../../api/queue";
import type { Knob, KnobValue } from "../../api/types";
import { en } from "../../i18n/en";
import { duration, number, parseDuration, spellDuration } from "../../shared/format";

/** What a person is typing, by knob; a text is not yet a value. */
export type Draft = Record<string, KnobValue>;

/** 43200 -> "12h" as it can be typed again. */
export const spelled = (knob: Knob, value: KnobValue): KnobValue =>
  knob.unit === "s" && typeof value === "number" ? spellDuration(value) : value;

/** The value that a draft means, or what is wrong with it. Pure. */
export function readDraft(knob: Knob, draft: KnobValue, t: TFunction): { value: KnobValue } | { problem: string } {
  if (typeof knob.default === "boolean" || knob.choices.length > 0) return { value: draft };
  const value =
    knob.unit === "s" && typeof draft === "string" ? parseDuration(draft) : typeof draft === "number" ? draft : null;
  const low = knob.minimum ?? Number.NEGATIVE_INFINITY;
  const high = knob.maximum ?? Number.POSITIVE_INFINITY;
  if (value === null)
    return { problem: knob.unit === "s" ? t("admin.policy.badDuration") : t("admin.policy.bad", boundsOf(knob)) };
  if (value < low || value > high) return { problem: t("admin.policy.bad", boundsOf(knob)) };
  if (knob.unit === "count" && !Number.isInteger(value)) return { problem: t("admin.policy.whole") };
  return { value };
}

/** What the choices of a knob are called; one that is not known yet is called by its value. */
const CHOICES: ReadonlySet<string> = new Set(Object.keys(en.admin.policy.choice));
export const choiceOf = (value: string, t: TFunction): string =>
  CHOICES.has(value) ? t(`admin.policy.choice.${value as keyof typeof en.admin.policy.choice}`) : value;

/** A knob's value in words. */
export function wordOf(knob: Knob, value: KnobValue, t: TFunction): string {
  if (typeof value === "boolean") return t(value ? "admin.policy.on" : "admin.policy.off");
  return knob.choices.length > 0 ? choiceOf(String(value), t) : shown(knob, value);
}

/** What a knob means, with what is said of the chosen value first: "a: …; b: …" of b is "b: …; a: …". */
export function meaningOf(meaning: string, chosen: string): string {
  const parted = meaning.includes("；") ? "；" : "; ";
  const parts = meaning.split(parted);
  const at = parts.findIndex((part) => part.startsWith(`${chosen}:`) || part.startsWith(`${chosen}：`));
  const [first] = at < 0 ? [] : parts.splice(at, 1);
  if (first === undefined) return meaning;
  const before = parts[0] !== undefined && !/^[\w-]+[:：]/.test(parts[0]) ? parts.splice(0, 1) : []; // what it is about
  return [...before, first, ...parts].join(parted);
}

export function shown(knob: Knob, value: KnobValue | null): string {
  if (value === null) return "∞";
  if (typeof value !== "number") return String(value);
  return knob.unit === "s" ? duration(value) : number(value);
}

export const boundsOf = (knob: Knob): { min: string; max: string } => ({
  min: knob.minimum === null ? "−∞" : shown(knob, knob.minimum),
  max: shown(knob, knob.maximum),
});

export function changesOf(
  knobs: readonly Knob[],
  draft: Draft,
  t: TFunction,
): { values: PolicyValues; problems: Record<string, string> } {
  const values: PolicyValues = {};
  const problems: Record<string, string> = {};
  for (const knob of knobs) {
    const typed = draft[knob.name];
    if (typed === undefined) continue;
    const read = readDraft(knob, typed, t);
    if ("problem" in read) problems[knob.name] = read.problem;
    else if (read.value !== knob.value) values[knob.name] = read.value === knob.default ? null : read.value;
  }
  return { values, problems };
}
