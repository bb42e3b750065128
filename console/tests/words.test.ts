import { describe, expect, it } from "vitest";
import { en } from "../src/i18n/en";
import { zh } from "../src/i18n/zh";

type Tree = { [key: string]: string | Tree };

function flat(tree: Tree, at = ""): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]): [string, string][] =>
    typeof value === "string" ? [[at + key, value]] : flat(value, `${at}${key}.`),
  );
}

const gaps = (text: string): string[] => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? "").sort();

const sources = import.meta.glob<string>("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

describe("both languages say the same", () => {
  const english = new Map(flat(en as unknown as Tree));
  const chinese = new Map(flat(zh as unknown as Tree));

  it("has a Chinese text for every English one that is not a singular", () => {
    expect([...english.keys()].filter((key) => !key.endsWith("_one") && !chinese.has(key))).toEqual([]);
  });
  it("fills the same gaps in both", () => {
    const differ = [...chinese].filter(
      ([key, text]) => JSON.stringify(gaps(text)) !== JSON.stringify(gaps(english.get(key) ?? "")),
    );
    expect(differ.map(([key]) => key)).toEqual([]);
  });
  it("leaves no text empty, and none untranslated that is more than a name", () => {
    const same = [...chinese].filter(
      ([key, text]) => text === "" || (text === english.get(key) && /[a-z]{4,} [a-z]{2,}/.test(text)),
    );
    expect(same.map(([key]) => key)).toEqual([]);
  });
});

describe("Chinese as it is set", () => {
  const chinese = flat(zh as unknown as Tree);

  it("has a space between Chinese and Latin letters or digits, and its own punctuation", () => {
    const close = /[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]|[\u4e00-\u9fff] ?[,;:!?](?![^\s])/;
    expect(chinese.filter(([, text]) => close.test(text))).toEqual([]);
  });
  it("joins no text to what follows by marks that are English: those of both languages are texts, too", () => {
    const joined = Object.entries(sources).flatMap(([file, text]) =>
      text
        .split("\n")
        .flatMap((line, i) => (/\bt\([^)]*\)\}(: | \u2014 )/.test(line) ? [`${file}:${i + 1} ${line.trim()}`] : [])),
    );
    expect(Object.keys(sources).length).toBeGreaterThan(300);
    expect(joined).toEqual([]);
  });
});

describe("questions before something is done", () => {
  it("look the same, without a sign that only some would have", () => {
    const asked = Object.entries(sources).flatMap(([file, text]) =>
      text
        .split("modal.confirm({")
        .slice(1)
        .flatMap((rest) => (/^(.*\n){1,3} *icon: null/.test(rest) ? [] : [file])),
    );
    expect(asked).toEqual([]);
  });
});
