/** What is typed as YAML and cannot be JSON: said where it is typed, never sent as something else. */
import { expect, test } from "vitest";
import { readText } from "../src/pages/algorithms/document";
import { readDocument } from "../src/pages/submit/document";
import { parseYaml } from "../src/shared/yaml";

const CYCLES = ["name: &a [*a]", "a: &a {b: {c: *a}}", "&a\nb: *a"];
const NO_NUMBERS = ["lr: .nan", "lr: .inf", "a: [{b: -.inf}]"];

test.each([...CYCLES, ...NO_NUMBERS])("%s is refused in every field that takes YAML", (text) => {
  expect(() => parseYaml(text)).toThrow(Error);
  for (const read of [readDocument(text), readText(text)]) {
    expect(read).toHaveProperty("problem");
    expect((read as { problem: string }).problem).not.toBe("");
  }
});

test("an alias that is no circle is read", () => {
  expect(parseYaml("a: &a [1, 2]\nb: *a\nc: *a")).toEqual({ a: [1, 2], b: [1, 2], c: [1, 2] });
});

test("a few aliases do not become a million values", () => {
  const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
  for (let n = 1; n < 9; n++)
    bomb.push(
      `a${n}: &a${n} [${Array(10)
        .fill(`*a${n - 1}`)
        .join(",")}]`,
    );
  expect(() => parseYaml(bomb.join("\n"))).toThrow(/alias/i);
});
