/** A sweep as lines that are typed: of a grid a parameter and its values, of a list an entry. Pure. */
import type { Json, JsonObject, Scalar } from "../../api/types";

export interface SweepLine {
  name: string;
  values: readonly Scalar[];
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** What a typed value means, as in a job file: a number, true or false, or the text. */
export function readValue(text: string): Scalar {
  if (NUMBER.test(text)) return Number(text);
  return text === "true" ? true : text === "false" ? false : text;
}

export const spellValue = (value: Scalar): string => (value === null ? "null" : String(value));

const isScalar = (value: Json): value is string | number | boolean | null =>
  value === null || typeof value !== "object";

export function gridOf(sweep: JsonObject): SweepLine[] {
  const grid = sweep["grid"];
  if (grid === null || typeof grid !== "object" || Array.isArray(grid)) return [];
  return Object.entries(grid).map(([name, values]) => ({
    name,
    values: Array.isArray(values) ? values.filter(isScalar) : [],
  }));
}

/** `sweep` with these lines, those without a name or a value left out; undefined where none is left. */
export function withGrid(sweep: JsonObject, lines: readonly SweepLine[]): JsonObject | undefined {
  const whole = lines.filter((line) => line.name.trim() !== "" && line.values.length > 0);
  if (whole.length === 0) return undefined;
  return { ...sweep, grid: Object.fromEntries(whole.map((line) => [line.name.trim(), [...line.values]])) };
}

/** An entry of a list; `given`: as the document has it, with what the form does not show. */
export interface EntryLine {
  algorithm: string;
  command: string;
  /** Each as name=value. */
  parameters: readonly string[];
  given?: JsonObject;
}

const OF_ENTRY = ["parameters", "algorithm", "command", "code"];

export function listOf(sweep: JsonObject): EntryLine[] {
  const list = sweep["list"];
  if (!Array.isArray(list)) return [];
  return list.map((row) => {
    const found = isPlain(row) ? row : {};
    const whole = Object.keys(found).length > 0 && Object.keys(found).every((key) => OF_ENTRY.includes(key));
    const given: JsonObject = whole ? found : { parameters: found };
    const { algorithm, command, parameters } = given;
    return {
      algorithm: typeof algorithm === "string" ? algorithm : "",
      command: typeof command === "string" ? command : "",
      parameters: Object.entries(isPlain(parameters) ? parameters : {})
        .filter((one): one is [string, Scalar] => isScalar(one[1]))
        .map(([name, value]) => `${name}=${spellValue(value)}`),
      given,
    };
  });
}

/** `sweep` with these entries; undefined where there are none. */
export function withList(sweep: JsonObject, lines: readonly EntryLine[]): JsonObject | undefined {
  if (lines.length === 0) return undefined;
  return { ...sweep, list: lines.map(entryOf) };
}

function entryOf({ algorithm, command, parameters, given }: EntryLine): JsonObject {
  const { algorithm: _algorithm, parameters: _parameters, command: before, ...rest } = given ?? {};
  const kept = typeof before === "string" || before === undefined ? undefined : before; // a list of words
  const said = command.trim() === "" ? kept : command;
  return {
    ...rest,
    ...(algorithm === "" ? {} : { algorithm }),
    ...(said === undefined ? {} : { command: said }),
    parameters: Object.fromEntries(
      parameters.filter(isSetting).map((one) => {
        const at = one.indexOf("=");
        return [one.slice(0, at), readValue(one.slice(at + 1))];
      }),
    ),
  };
}

/** Whether a text sets a parameter: name=value. */
export const isSetting = (text: string): boolean => text.indexOf("=") > 0;

const isPlain = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
