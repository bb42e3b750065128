/** The document of an algorithm as the dialog edits it: one to begin with, and one read from text. Pure. */
import { stringify } from "yaml";
import type { Json, JsonObject } from "../../api/types";
import { parseYaml } from "../../shared/yaml";

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What an input channel may be given, all of it where the document says nothing (R153). */
export const KINDS = ["dataset", "model", "path", "volume", "s3"] as const;

export const FILE = "algorithm.yaml";

export const fresh = (): JsonObject => ({
  command: "python train.py",
  parameters: [],
  custom_parameters: true,
  inputs: [],
  outputs: [],
});

/** What says nothing beside its default; left out, so that the text is short. */
const DEFAULTS: JsonObject = {
  version: 1,
  description: "",
  image: "default",
  flavors: [],
  runs_on: [],
  kinds: [...KINDS],
  max_replicas: null,
  min: null,
  max: null,
  default: null,
  choices: [],
  required: false,
  editable: true,
  deletable: true,
  given: "argument",
  folder: null,
};

function without(value: JsonObject, kept: readonly string[] = []): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter(
      ([key, one]) => kept.includes(key) || !(key in DEFAULTS && JSON.stringify(one) === JSON.stringify(DEFAULTS[key])),
    ),
  );
}

/** An effective document without what says nothing, and without its code and from where that is. An input channel that is required says so, since that is the default there. */
export function short(spec: JsonObject): JsonObject {
  const each = (list: Json | undefined, kept: readonly string[] = []): Json[] =>
    (Array.isArray(list) ? list : []).map((one) => (isObject(one) ? without(one, kept) : one));
  const { code: _, name: __, origin: ___, ...rest } = spec;
  return {
    ...without(rest),
    parameters: each(spec["parameters"]),
    inputs: each(spec["inputs"], ["required"]),
    outputs: each(spec["outputs"]),
  };
}

export const textOf = (doc: JsonObject): string => stringify(doc, { lineWidth: 100 });

/** What a text says, and the name in it; or why it is none. */
export function readText(text: string): { doc: JsonObject; name: string } | { problem: string } {
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  if (!isObject(value)) return { problem: "" };
  const named = (list: Json | undefined): Json[] =>
    (Array.isArray(list) ? list : []).map((one) => (typeof one === "string" ? { name: one } : one));
  const { name, code: _, origin: __, ...doc } = value;
  const inputs = named(doc["inputs"]).map((one) => (isObject(one) ? { required: true, ...one } : one));
  return {
    doc: { ...fresh(), ...doc, inputs, outputs: named(doc["outputs"]) },
    name: typeof name === "string" ? name : "",
  };
}

/** The entries of a list of the document. */
export const entries = (doc: JsonObject, key: string): JsonObject[] => {
  const list = doc[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
};

/** The texts of a list. */
export const strings = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);

/** The kinds that an input channel is limited to; none: it takes all. */
export const someOf = (channel: JsonObject): string[] => {
  const kinds = strings(channel["kinds"]);
  return KINDS.every((kind) => kinds.includes(kind)) ? [] : kinds;
};

/** Whether a job may leave a hyperparameter out: not one that it has to have, or may not change (R155). */
export const mayGo = (what: JsonObject): boolean =>
  what["required"] !== true && what["editable"] !== false && what["deletable"] !== false;

/** What was typed as a value of a type: "" is none. */
export function typedValue(text: string, type: Json | undefined): Json {
  if (text === "") return null;
  if (type === "bool" && (text === "true" || text === "false")) return text === "true";
  const read = Number(text);
  return (type === "int" || type === "float") && Number.isFinite(read) ? read : text;
}
