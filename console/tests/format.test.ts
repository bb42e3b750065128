import { describe, expect, it } from "vitest";
import {
  bytes,
  DURATION_STEPS,
  duration,
  MIB_STEPS,
  mib,
  modelName,
  number,
  parseDuration,
  parseMemory,
  shellWords,
  speak,
  spellDuration,
  spellMemory,
  WHOLE_STEPS,
} from "../src/shared/format";

describe("sizes and durations are read as the server reads them (trainmaster/core/formats/units.py)", () => {
  it.each([
    ["30m", 1800],
    ["1h30m", 5400],
    ["90", 90],
    ["1.5h", 5400],
    ["2d", 172800],
    ["10 s", 10],
  ])("%s is %d seconds", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });
  it.each(["", "soon", "5x", "1h and more"])("%j is no duration", (text) => expect(parseDuration(text)).toBeNull());

  it.each([
    ["512MiB", 512],
    ["2GiB", 2048],
    ["1.5g", 1536],
    ["2048", 2048],
    [64, 64],
  ])("%s is %d MiB", (text, size) => {
    expect(parseMemory(text)).toBe(size);
  });
  it("refuses what is no size", () => expect(parseMemory("much")).toBeNull());

  it("spells durations exactly, in every language as documents do", () => {
    for (const seconds of [0, 59, 60, 3661, 5430, 90_061, 604_800]) {
      expect(parseDuration(spellDuration(seconds))).toBe(seconds);
    }
    speak("zh");
    expect(spellDuration(5430)).toBe("1h30m30s");
    speak("en");
  });
  it("spells memory exactly, so that a document says what was typed", () => {
    for (const size of [1, 1023, 1024, 1536, 2048]) expect(parseMemory(spellMemory(size))).toBe(size);
  });
});

describe("numbers as people read them", () => {
  it("shows the two largest units of a duration", () => {
    expect(duration(93)).toBe("1m 33s");
    expect(duration(90061)).toBe("1d 1h");
    expect(duration(50434)).toBe("14h");
    expect(duration(0.44, true)).toBe("0.4s");
    const cut = [0.07, 0.1, 9.98, 19.9, 59.9, 60, 119.9];
    expect(cut.map((seconds) => duration(seconds, true))).toEqual([
      "<0.1s",
      "0.1s",
      "9.9s",
      "19s",
      "59s",
      "1m",
      "1m 59s",
    ]);
    expect(duration(19.9)).toBe("19s");
    expect(duration(0)).toBe("0s");
  });
  it("says durations as a Chinese reader writes them (R200)", () => {
    expect(duration(43_500, false, "zh")).toBe("12 小时 5 分");
    expect(duration(3 * 86_400, false, "zh")).toBe("3 天");
    expect(duration(21 * 60, false, "zh")).toBe("21 分钟");
    expect(duration(93, false, "zh")).toBe("1 分 33 秒");
    expect(duration(0.44, true, "zh")).toBe("0.4 秒");
    expect(duration(0, false, "zh")).toBe("0 秒");
  });
  it("speaks the language of the page where none is given", () => {
    speak("zh");
    expect(duration(7200)).toBe("2 小时");
    speak("en");
    expect(duration(7200)).toBe("2h");
  });
  it("marks an axis of sizes with round ones, and one of whole numbers with whole ones", () => {
    expect(
      MIB_STEPS.map(mib).filter((said) => said.includes(".") || !/^(1|2|4|8|16|32|64|128|256|512) /.test(said)),
    ).toEqual([]);
    expect(WHOLE_STEPS.every(Number.isInteger)).toBe(true);
  });
  it("marks an axis of durations with one word each, never twice the same, though everybody waited for nothing", () => {
    for (const step of DURATION_STEPS) {
      expect(duration(step)).not.toContain(" ");
      for (const nth of [1, 2, 3]) expect(duration(nth * step)).not.toBe(duration((nth - 1) * step));
    }
    expect(DURATION_STEPS).toEqual([...DURATION_STEPS].sort((a, b) => a - b));
  });
  it("keeps metrics short without lying about their size", () => {
    expect(number(0.97321)).toBe("0.9732");
    expect(number(0.0000123)).toBe("1.23e-5");
    expect(number(123456)).toBe("123,456");
  });
  it("shows bytes", () => expect(bytes(1536)).toBe("1.5 KiB"));
  it("takes a model version apart", () => {
    expect(modelName("digits@3")).toEqual({ id: "digits", version: 3 });
    expect(modelName("digits")).toEqual({ id: "digits", version: undefined });
  });
  it("quotes a command so that a shell would read the same words", () => {
    expect(shellWords(["bash", "-c", "echo 'a' && b"])).toBe("bash -c 'echo '\\''a'\\'' && b'");
  });
});
