/** The grid of a sweep as lines that are typed: a parameter and its values. Pure. */
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
