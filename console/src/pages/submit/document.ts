/** The job document that the form edits: places in it, reading it from text, its short form. Pure. */
import type { Json, JsonObject } from "../../api/types";
import { parseYaml } from "../../shared/yaml";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const keysOf = (path: string): string[] => path.split(".");

/** The value at a dotted path such as `roles.0.resources.cpu`; undefined where there is none. */
export function getAt(doc: Json | undefined, path: string): Json | undefined {
  let at: Json | undefined = doc;
  for (const key of keysOf(path)) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isObject(at)) at = at[key];
    else return undefined;
  }
  return at;
}

/** A copy with `value` at `path`; undefined removes it, and with it the objects that become empty. */
export function setAt(doc: JsonObject, path: string, value: Json | undefined): JsonObject {
  return put(doc, keysOf(path), value) as JsonObject;
}

function put(at: Json | undefined, keys: string[], value: Json | undefined): Json | undefined {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (Array.isArray(at)) {
    const copy = [...at];
    const fresh = put(copy[Number(key)], rest, value);
    if (fresh === undefined) copy.splice(Number(key), 1);
    else copy[Number(key)] = fresh;
    return copy;
  }
  const copy: JsonObject = isObject(at) ? { ...at } : {};
  const fresh = put(copy[key], rest, value);
  if (fresh === undefined || (rest.length > 0 && isObject(fresh) && Object.keys(fresh).length === 0)) delete copy[key];
  else copy[key] = fresh;
  return copy;
}

const SESSION = "-session";

/** For how long what was submitted without a thought holds its node: a working day. */
const A_DAYS_WORK = "8h";
const A_DAYS_WORK_S = 28_800;

/** A new job. It ends by itself: within a day's work, or where the platform permits less (`most` seconds), by that limit. */
export function emptyDocument(most?: number): JsonObject {
  const doc: JsonObject = { name: "", roles: [emptyRole([])] };
  return most === undefined || most >= A_DAYS_WORK_S ? { ...doc, duration: A_DAYS_WORK } : doc;
}

/** The document in a workspace, where it names none; undefined: in the default one. */
export const inWorkspace = (doc: JsonObject, workspace: string | undefined): JsonObject =>
  workspace === undefined || doc["workspace"] !== undefined ? doc : { ...doc, workspace };

export function rolesOf(doc: JsonObject): JsonObject[] {
  const roles = doc["roles"];
  return Array.isArray(roles) ? roles.filter(isObject) : [];
}

/**
 * The command of a new sub-task, as OpenPAI's form has it: 需要使用的命令(默认为：sleep infinity) (R84). Its people take such
 * a job as a machine that they enter and work on. Who trains writes the training's command over it: a click selects all of
 * it, and while it stands the form says beside it that the replicas only stay up. What is asked for by default is one core
 * and no GPU, so that a forgotten one costs little.
 */
export const STAYS_UP = "sleep infinity";

export function emptyRole(taken: string[]): JsonObject {
  return { name: freshName("worker", taken), replicas: 1, command: STAYS_UP, resources: { cpu: 1, memory: "1GiB" } };
}

export function freshName(wanted: string, taken: string[]): string {
  const stem = wanted.replace(/-\d+$/, "");
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? stem : `${stem}-${n}`;
    if (!taken.includes(name)) return name;
  }
}

/** What a session takes over from a job: where it may run, and what it finds there. */
const OF_SESSION = [
  "image",
  "pull_secret",
  "code",
  "inputs",
  "env",
  "secrets",
  "workspace",
  "pool",
  "virtual_cluster",
  "nodes",
  "driver",
];
const LONGEST_NAME = 30;

/** A job that stays up to be entered, with the place, code, data, variables and one replica of a job's first sub-task (R204). */
export function sessionOf(doc: JsonObject): JsonObject {
  const kept = Object.fromEntries(OF_SESSION.flatMap((key) => (doc[key] === undefined ? [] : [[key, doc[key]]])));
  const { name, resources, flavors, env } = rolesOf(doc)[0] ?? emptyRole([]);
  const of = Object.entries({ name, resources, flavors, env }).filter(([, value]) => value !== undefined);
  const role = { ...(Object.fromEntries(of) as JsonObject), replicas: 1, command: STAYS_UP };
  const called = `${String(doc["name"] ?? "").slice(0, LONGEST_NAME - SESSION.length)}${SESSION}`;
  return { ...(kept as JsonObject), name: called, roles: [role], duration: "2h", model: { save: false } };
}

/** A job that trains with all that a session has: only its command is still to be written (R58). */
export function trainingOf(doc: JsonObject): JsonObject {
  const { duration: _, model, ...kept } = doc;
  const roles = rolesOf(doc).map(({ command, ...role }) => ({ ...role, command: command === STAYS_UP ? "" : command }));
  const saves = isObject(model) && model["save"] === false ? {} : { model };
  const name = String(doc["name"] ?? "");
  return {
    ...kept,
    ...saves,
    name: name.endsWith(SESSION) ? name.slice(0, -SESSION.length) : name,
    roles,
  } as JsonObject;
}

/** The kind of launcher of a document, however it is written. */
export function frameworkOf(doc: JsonObject): string {
  const given = doc["framework"];
  const kind = isObject(given) ? given["kind"] : given;
  return typeof kind === "string" ? kind : "single";
}

/** What only a job of several replicas or sub-tasks needs to say of a sub-task, and what says nothing there. */
const OF_SEVERAL: JsonObject = { replicas: 1, min_replicas: null, min_succeeded: null, min_failed: 1, main: false };

/** Whether a document says anything that a job of one replica has no need of: a launcher, sub-tasks, replicas, when they end (R29). */
export function isDistributed(doc: JsonObject): boolean {
  const roles = rolesOf(doc);
  const says = (role: JsonObject): boolean =>
    role["ends_job"] === true ||
    Object.entries(OF_SEVERAL).some(([key, none]) => role[key] !== undefined && role[key] !== none);
  return frameworkOf(doc) !== "single" || roles.length !== 1 || roles.some(says);
}

/** The document trained by `launcher` on at least two replicas; null: the first sub-task alone, on one (R29). */
export function distributed(doc: JsonObject, launcher: string | null): JsonObject {
  const [role, ...others] = rolesOf(doc);
  const made = setAt(doc, "framework", launcher ?? undefined);
  if (!role) return made;
  if (launcher === null) {
    const { ends_job: _, ...kept } = role;
    const alone = Object.entries(kept).filter(([key]) => !(key in OF_SEVERAL));
    return setAt(made, "roles", [{ ...Object.fromEntries(alone), replicas: 1 }]);
  }
  if (others.length > 0) return made; // several sub-tasks have their own numbers
  return setAt(made, "roles.0.replicas", Math.max(2, Number(role["replicas"] ?? 1)));
}

/** A name for one more of the same: digits -> digits-2 -> digits-3, cut where it would be longer than `longest`. */
export function nextName(name: string, longest = Number.POSITIVE_INFINITY): string {
  const [, stem = name, number] = /^(.*?)-(\d+)$/.exec(name) ?? [];
  const end = `-${number === undefined ? 2 : Number(number) + 1}`;
  return `${[...stem].slice(0, longest - end.length).join("")}${end}`;
}

/** What the platform assumes when a field is absent; fields that say the same are left out of the form's document. */
const JOB_DEFAULTS: JsonObject = {
  version: 1,
  description: "",
  algorithm: null,
  slug: null,
  code: null,
  inputs: [],
  env: {},
  secrets: [],
  pool: "default",
  virtual_cluster: null,
  nodes: [],
  driver: null,
  preemptible: false,
  workspace: "default",
  share: null,
  priority: "normal",
  duration: null,
  image: "default",
  pull_secret: null,
  retries: 0,
  fault_restarts: 0,
  grace: 10,
  debug_hold: 0,
  metrics: [],
  progress: null,
  storage: null,
  labels: {},
  extras: {},
};
const ROLE_DEFAULTS: JsonObject = {
  parameters: {},
  hooks: null,
  ports: [],
  env: {},
  flavors: [],
  min_replicas: null,
  min_succeeded: null,
  min_failed: 1,
  main: false,
  ends_job: false,
};
const RESOURCE_DEFAULTS: JsonObject = { gpu: 0, gpu_type: null, gpu_share: 1, shm: 64 };

const same = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
const without = (doc: JsonObject, defaults: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(doc).filter(([key, value]) => !(key in defaults && same(value, defaults[key]))));

/** A secret that goes into the variable of its own name is its name alone. */
function shortSecret(one: Json): Json {
  if (!isObject(one)) return one;
  const kept = without(one, { env: null, file: null });
  return Object.keys(kept).length === 1 && typeof kept["name"] === "string" ? kept["name"] : kept;
}

/** The document without what says nothing: defaults, and nulls inside sub-objects. Means the same to the platform. */
export function shortForm(doc: JsonObject): JsonObject {
  const short = without(doc, JOB_DEFAULTS);
  const framework = short["framework"];
  if (isObject(framework) && Object.keys(framework).length === 1 && typeof framework["kind"] === "string")
    short["framework"] = framework["kind"];
  if (short["framework"] === "single") delete short["framework"];
  const model = short["model"];
  if (isObject(model)) {
    const kept = without(model, { save: true, name: null });
    if (Object.keys(kept).length > 0) short["model"] = kept;
    else delete short["model"];
  }
  const code = short["code"];
  if (isObject(code)) short["code"] = without(code, { path: null, upload: null });
  if (Array.isArray(short["secrets"])) short["secrets"] = short["secrets"].map(shortSecret);
  if (Array.isArray(short["roles"])) {
    short["roles"] = short["roles"].map((role) => {
      if (!isObject(role)) return role;
      const kept = without(role, ROLE_DEFAULTS);
      if (isObject(kept["hooks"])) kept["hooks"] = without(kept["hooks"], { before: null, after: null });
      if (same(kept["hooks"], {})) delete kept["hooks"];
      if (Array.isArray(kept["flavors"])) delete kept["resources"];
      if (isObject(kept["resources"])) kept["resources"] = without(kept["resources"], RESOURCE_DEFAULTS);
      return kept;
    });
  }
  return short;
}

export type Language = "json" | "yaml";

/** What a text is written in, by how it begins: an object of JSON opens with its brace. */
export const languageOf = (text: string): Language => (/^\s*([{[]|$)/.test(text) ? "json" : "yaml");

/** A document of either dialect, or why the text is none. JSON is YAML too, but its own messages are clearer. */
export function readDocument(text: string): { doc: JsonObject; pai: boolean } | { problem: string } {
  let value: unknown;
  try {
    value = languageOf(text) === "json" ? JSON.parse(text) : parseYaml(text);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  if (!isObject(value)) return { problem: "" };
  return { doc: value, pai: "jobName" in value || "taskRoles" in value };
}

/** One role written on the job itself becomes a list of one, so that the form has one way to show it. */
export function withRoles(doc: JsonObject): JsonObject {
  if (Array.isArray(doc["roles"])) return doc;
  const fields = [
    "replicas",
    "min_replicas",
    "command",
    "parameters",
    "hooks",
    "resources",
    "flavors",
    "ports",
    "min_succeeded",
    "min_failed",
    "main",
    "ends_job",
  ];
  const role: JsonObject = { name: "main" };
  const rest: JsonObject = { ...doc };
  for (const field of fields) {
    const value = rest[field];
    if (value !== undefined) role[field] = value;
    delete rest[field];
  }
  return { ...rest, roles: [role] };
}

/** A suggested change, given as JSON of dotted path -> value; nothing where that is not readable. */
export function readChange(text: string | undefined): [string, Json][] {
  if (text === undefined) return [];
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? Object.entries(read) : [];
  } catch {
    return [];
  }
}

const RESOURCE = /^(roles\.\d+)\.resources\./;

/** The document with the change. A role whose amounts are changed has amounts of its own from then on, and no flavors. */
export function changed(doc: JsonObject, change: readonly [string, Json][]): JsonObject {
  return change.reduce((made, [path, value]) => {
    const role = RESOURCE.exec(path)?.[1];
    return setAt(role === undefined ? made : setAt(made, `${role}.flavors`, undefined), path, value);
  }, doc);
}

/** The order in which a person writes a job; what is not named here follows as it was. */
const ORDER = [
  "version",
  "name",
  "slug",
  "description",
  "algorithm",
  "framework",
  "image",
  "pull_secret",
  "code",
  "roles",
  "replicas",
  "min_replicas",
  "command",
  "parameters",
  "hooks",
  "flavors",
  "resources",
  "ports",
  "min_succeeded",
  "min_failed",
  "main",
  "ends_job",
  "inputs",
  "env",
  "secrets",
  "workspace",
  "share",
  "pool",
  "virtual_cluster",
  "nodes",
  "driver",
  "priority",
  "preemptible",
  "duration",
  "retries",
  "fault_restarts",
  "grace",
  "debug_hold",
  "metrics",
  "progress",
  "model",
  "labels",
  "extras",
];

export function inOrder(doc: JsonObject): JsonObject {
  const rank = (key: string): number => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length);
  const sorted = Object.fromEntries(Object.entries(doc).sort(([a], [b]) => rank(a) - rank(b)));
  if (Array.isArray(sorted["roles"]))
    sorted["roles"] = sorted["roles"].map((role) => (isObject(role) ? inOrder(role) : role));
  return sorted;
}
