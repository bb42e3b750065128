/** What a setting of a comparison is called: as in the form, where that has a field for it. Pure. */
import type { TFunction } from "i18next";
import type { ComparedRow } from "../../api/types";
import { en } from "../../i18n/en";

type Field = keyof typeof en.submit.field;

/** What people name themselves, parameters and variables, is called as they named it. */
const OWN: ReadonlySet<ComparedRow["section"]> = new Set(["parameters", "inputs"]);
/** Settings whose field has a name other than theirs. */
const NAMED: Record<string, Field> = {
  "model.name": "model",
  "model.save": "saveModel",
  "hooks.before": "before",
  "hooks.after": "after",
  "code.path": "code",
  "code.upload": "code",
  "framework.kind": "framework",
  kind: "framework",
};
/** Amounts of one replica: a page of a job gives their sum. */
const EACH: ReadonlySet<Field> = new Set<Field>(["cpu", "memory", "gpu", "shm"]);
/** Words of the form that stand for something else in a job file, or for a whole part of it. */
const OTHER: ReadonlySet<string> = new Set(["name", "before", "after", "source", "target", "model", "resources"]);

function fieldOf(name: string): Field | undefined {
  if (name in NAMED) return NAMED[name];
  return name in en.submit.field && !OTHER.has(name) ? (name as Field) : undefined;
}

/** The name that the form has for a setting, with the sub-task in front where the row names one; undefined where it has none. */
export function settingOf({ section, name }: Pick<ComparedRow, "section" | "name">, t: TFunction): string | undefined {
  if (OWN.has(section)) return undefined;
  const called = (field: Field): string => {
    const what = t(`submit.field.${field}`);
    return section === "resources" && EACH.has(field) ? t("compare.perReplica", { what }) : what;
  };
  const field = fieldOf(name);
  if (field !== undefined) return called(field);
  const dot = name.indexOf(".");
  const rest = dot < 0 ? undefined : fieldOf(name.slice(dot + 1));
  return rest && `${name.slice(0, dot)} · ${called(rest)}`;
}
