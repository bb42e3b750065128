/** Reads YAML that somebody typed: what JSON cannot say is refused, or it would reach the server as something else. Pure. */
import { parse } from "yaml";

/** The value of a text. Throws an Error with what is wrong. */
export function parseYaml(text: string): unknown {
  const value: unknown = parse(text);
  demandPlain(value, []);
  return value;
}

function demandPlain(value: unknown, above: readonly unknown[]): void {
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${value} is not a number`);
  if (typeof value !== "object" || value === null) return;
  if (above.includes(value)) throw new Error("An alias refers to something that it is part of");
  for (const one of Object.values(value)) demandPlain(one, [...above, value]);
}
