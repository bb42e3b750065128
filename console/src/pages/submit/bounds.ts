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
  /** Characters of the names and of the values of pairs. */
  longestKey?: number;
  longestValue?: number;
  /** The number that holds where none is given. */
  usual?: number;
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

/** A pattern that counts characters: ^[...]{1,30}$, and one with a first character of its own, ^[...][...]{0,62}$. */
const COUNTED = /^\^((?:\[[^\]]*\])*)\[[^\]]*\]\{(\d+),(\d+)\}\$$/;
const CLASS = /\[[^\]]*\]/g;

function counted(pattern: Json | undefined): { shortest: number; longest: number } | undefined {
  const [, first, least, most] = COUNTED.exec(typeof pattern === "string" ? pattern : "") ?? [];
  if (first === undefined) return undefined;
  const own = (first.match(CLASS) ?? []).length;
  return { shortest: own + Number(least), longest: own + Number(most) };
}

const longestOf = (schema: JsonObject): number | undefined =>
  numberAt(schema, "maxLength") ?? counted(schema["pattern"])?.longest;

/** What names and values of pairs may be: a schema for each pattern of names. */
function pairsOf(schema: JsonObject): Bounds {
  const [named] = Object.entries(isObject(schema["patternProperties"]) ? schema["patternProperties"] : {});
  const names = isObject(schema["propertyNames"]) ? longestOf(schema["propertyNames"]) : counted(named?.[0])?.longest;
  return given({ longestKey: names, longestValue: isObject(named?.[1]) ? longestOf(named[1]) : undefined });
}

/** The bounds of the field at a dotted path such as `roles.0.resources.cpu`; what is not bounded is left out. */
export function boundsAt(schema: JsonObject | undefined, path: string): Bounds {
  if (!schema) return {};
  const all = (one: Json | undefined): JsonObject[] => variants(one, schema);
  let here: JsonObject[] = [schema];
  let usual: number | undefined;
  for (const key of path.split(".")) {
    const fields = here.map((one) => (/^\d+$/.test(key) ? one["items"] : at(one["properties"], key)));
    usual = fields.filter(isObject).map((field) => numberAt(field, "default"))[0];
    here = fields.flatMap(all);
  }
  const found: Bounds = given({ usual });
  for (const one of here)
    Object.assign(
      found,
      pairsOf(one),
      given({
        min: numberAt(one, "minimum"),
        max: numberAt(one, "maximum"),
        shortest: counted(one["pattern"])?.shortest,
        longest: longestOf(one),
        most: numberAt(one, "maxItems") ?? numberAt(one, "maxProperties"),
      }),
    );
  return found;
}

/** Those that there are. */
const given = (some: { [K in keyof Bounds]: Bounds[K] | undefined }): Bounds =>
  Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined));
