/** What a place of the document is called in the form: `roles.0.resources.cpu` is "Sub-task 1 · CPU" (D11). Pure. */
import type { TFunction } from "i18next";
import { en } from "../../i18n/en";
import { channelAt } from "./algorithm-doc";

type Field = keyof typeof en.submit.field;

/** Places whose field has a name other than their last key. */
const NAMED: Record<string, Field> = {
  "roles.name": "roleName",
  "roles.env": "roleEnv",
  "model.name": "model",
  "model.save": "saveModel",
  "ports.label": "portLabel",
  "ports.count": "portCount",
  "ports.begin_at": "portBegin",
  inputs: "mounts",
  "inputs.path": "source",
  "inputs.dataset": "source",
  "inputs.s3": "source",
  "inputs.model": "source",
  "inputs.volume": "source",
  "inputs.mount": "target",
  "inputs.channel": "channel",
  "inputs.read_only": "readOnly",
  "inputs.cache": "cache",
  "outputs.s3": "outputs",
  "outputs.folder": "outputs",
  "outputs.if_exists": "outputs",
  "code.upload": "code",
  "code.path": "code",
};

const isField = (key: string): key is Field => key in en.submit.field;

/** The name of the field at `path`, with the sub-task that it belongs to; empty where the form has none. */
export function labelOf(path: string, t: TFunction): string {
  const channel = channelAt(path);
  if (channel !== undefined) return `${t("submit.field.channel")} · ${channel}`;
  const keys = path.split(".");
  const role = keys[0] === "roles" && /^\d+$/.test(keys[1] ?? "") ? Number(keys[1]) : null;
  const names = keys.filter((key) => !/^\d+$/.test(key));
  const found: string[] = role === null ? [] : [t("submit.role.n", { n: role + 1 })];
  for (let end = names.length; end > 0; end -= 1) {
    const last = names[end - 1] ?? "";
    const named = NAMED[names.slice(Math.max(0, end - 2), end).join(".")] ?? NAMED[end === 1 ? last : ""];
    const field = named ?? (isField(last) ? last : undefined);
    if (field === undefined || last === "roles") continue;
    found.push(t(`submit.field.${field}`));
    break;
  }
  return found.join(" · ");
}
