/** What naming an algorithm, or none, does to the document. Pure. */
import type { AlgorithmSpec, Json, JsonObject, Problem } from "../../api/types";
import { isObject, rolesOf, STAYS_UP } from "./document";

/** Whether a sub-task runs the algorithm: it names no command of its own. */
export const runsIt = (role: JsonObject, spec: AlgorithmSpec | undefined): boolean =>
  role["command"] === undefined || role["command"] === null || role["command"] === spec?.command;

const placesOf = (spec: AlgorithmSpec | undefined): Set<string> =>
  new Set([...(spec?.inputs ?? []), ...(spec?.outputs ?? [])].map((one) => one.name));

const drop = (value: Json | undefined, names: Set<string>): JsonObject | undefined => {
  const kept = Object.entries(isObject(value) ? value : {}).filter(([name]) => !names.has(name));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
};

const put = (doc: JsonObject, key: string, value: Json | undefined): JsonObject => {
  const { [key]: _, ...rest } = doc;
  return value === undefined ? rest : { ...rest, [key]: value };
};

/** The document without what the platform filled in of `before`: code, launcher, image, and the places of channels. */
function withoutFilled(doc: JsonObject, before: AlgorithmSpec | undefined): JsonObject {
  const places = placesOf(before);
  const { code: _, framework: __, image: ___, algorithm: ____, ...rest } = doc;
  const roles = rolesOf(doc).map((role) => put(role, "parameters", drop(role["parameters"], places)));
  return { ...put(rest, "env", drop(doc["env"], places)), roles };
}

/** The document of a job that runs `reference`, in place of `before` where it ran that. */
export function withAlgorithm(doc: JsonObject, reference: string, before: AlgorithmSpec | undefined): JsonObject {
  const made = doc["algorithm"] === undefined ? put(doc, "code", undefined) : withoutFilled(doc, before);
  const roles = rolesOf(made).map((role) =>
    runsIt(role, before) || role["command"] === STAYS_UP || rolesOf(made).length === 1
      ? put(role, "command", undefined)
      : role,
  );
  return { ...made, algorithm: reference, roles };
}

/** The document of a job with code and command of its own again. */
export function withoutAlgorithm(doc: JsonObject, before: AlgorithmSpec | undefined): JsonObject {
  const made = withoutFilled(doc, before);
  const inputs = made["inputs"];
  const kept = Array.isArray(inputs) ? inputs.filter((one) => !isObject(one) || one["channel"] === undefined) : [];
  const roles = rolesOf(made).map((role) =>
    runsIt(role, before) ? put(put(role, "parameters", undefined), "command", STAYS_UP) : role,
  );
  return { ...put(made, "inputs", kept.length > 0 ? kept : undefined), roles };
}

const OF = "inputs.of ";

/** Where the form shows a channel that has no input: the document has no place for it. */
export const channelPath = (name: string): string => OF + name;

/** The channel whose field is at `path`, where it has no input; undefined: it is another field. */
export const channelAt = (path: string): string | undefined =>
  path.startsWith(OF) ? path.slice(OF.length) : undefined;

/** The problem at the field of the channel that has no input, which is where the form has the remedy; any other as it is. */
export function atChannel(problem: Problem, remedy: string): Problem {
  const name = problem.code === "channel_missing" ? problem.args?.["name"] : undefined;
  return typeof name === "string" ? { ...problem, path: channelPath(name), remedy } : problem;
}

/** Whether `path` is within the field of one of the `channels`. */
export function ofChannels(path: string, doc: JsonObject, channels: readonly string[]): boolean {
  const [top, at = ""] = path.split(".");
  if (top !== "inputs" || channels.length === 0) return false;
  const inputs = doc["inputs"];
  const input = Array.isArray(inputs) && at !== "" ? inputs[Number(at)] : undefined;
  const name = channelAt(path) ?? (isObject(input) ? input["channel"] : undefined);
  return typeof name === "string" && channels.includes(name);
}
