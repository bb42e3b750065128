/** What a field may hold at least and at most, read out of the job's published schema: the form has no numbers of its own (R66, R247). Pure. */
import type { Json, JsonObject } from "../../api/types";
import { isObject } from "./document";

export interface Bounds {
  min?: number;
  max?: number;
  /** Characters of a text. */
  shortest?: number;
  longest?: number;
  /** Entries of a list or pairs. */
  most?: number;
}

const at = (value: Json | undefined, key: string): Json | undefined => (isObject(value) ? value[key] : undefined);
const numberAt = (value: JsonObject, key: string): number | undefined => {
  const found = value[key];
  return typeof found === "number" ? found : undefined;
};

/** The schema itself, or what it refers to; of several it may be, all. */
function variants(schema: Json | undefined, root: JsonObject): JsonObject[] {
  if (!isObject(schema)) return [];
  const ref = schema["$ref"];
  if (typeof ref === "string") return variants(at(root["$defs"], ref.slice(ref.lastIndexOf("/") + 1)), root);
  const any = schema["anyOf"];
  return Array.isArray(any) ? any.flatMap((one) => variants(one, root)) : [schema];
}

/** The ends of a pattern that counts characters: ^[...]{1,30}$. */
const COUNTED = /\{(\d+),(\d+)\}\$$/;

/** The bounds of the field at a dotted path such as `roles.0.resources.cpu`; what is not bounded is left out. */
export function boundsAt(schema: JsonObject | undefined, path: string): Bounds {
  if (!schema) return {};
  let here: JsonObject[] = [schema];
  for (const key of path.split("."))
    here = here.flatMap((one) => variants(/^\d+$/.test(key) ? one["items"] : at(one["properties"], key), schema));
  const found: Bounds = {};
  for (const one of here) {
    const counted = COUNTED.exec(typeof one["pattern"] === "string" ? one["pattern"] : "");
    Object.assign(
      found,
      pairs({
        min: numberAt(one, "minimum"),
        max: numberAt(one, "maximum"),
        shortest: counted?.[1] === undefined ? undefined : Number(counted[1]),
        longest: numberAt(one, "maxLength") ?? (counted?.[2] === undefined ? undefined : Number(counted[2])),
        most: numberAt(one, "maxItems") ?? numberAt(one, "maxProperties"),
      }),
    );
  }
  return found;
}

const pairs = (given: { [K in keyof Bounds]: Bounds[K] | undefined }): Bounds =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
