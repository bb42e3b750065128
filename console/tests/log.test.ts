import { describe, expect, it } from "vitest";
import { LogBuffer, MOST_LINES } from "../src/pages/job/log/buffer";
import { markOf } from "../src/pages/job/log/search";
import { tellingLine } from "../src/pages/job/verdict";
import { ansi, plain } from "../src/shared/ansi";

const chunk = (offset: number, text: string, more: object = {}) => ({
  offset,
  next_offset: offset + new TextEncoder().encode(text).length,
  text,
  cut: [],
  ...more,
});
const texts = (buffer: LogBuffer) => buffer.lines.map((line) => line.text);

describe("the part of a log in memory (R207, R208)", () => {
  it("joins a line that came in two pieces", () => {
    const buffer = new LogBuffer();
    buffer.reset(chunk(0, "one\ntw"));
    expect(buffer.append(chunk(6, "o\nthree\n"))).toBe(true);
    expect(texts(buffer)).toEqual(["one", "two", "three"]);
    expect(buffer.first).toBe(0);
  });
  it("counts bytes, not characters", () => {
    const buffer = new LogBuffer();
    buffer.reset(chunk(0, "训练\n"));
    expect(buffer.end).toBe(7);
    expect(buffer.append(chunk(7, "ok\n"))).toBe(true);
  });
  it("refuses what does not join on", () => {
    const buffer = new LogBuffer();
    buffer.reset(chunk(0, "a\n"));
    expect(buffer.append(chunk(50, "z\n"))).toBe(false);
    expect(texts(buffer)).toEqual(["a"]);
  });
  it("drops the half line at which a window by bytes begins, and then grows upwards without a seam", () => {
    const whole = "first\nsecond\nthird\n";
    const buffer = new LogBuffer();
    buffer.reset(chunk(8, whole.slice(8)));
    expect(texts(buffer)).toEqual(["third"]);
    expect(buffer.first).toBeNull();
    expect(buffer.prepend({ ...chunk(0, whole.slice(0, buffer.start)) })).toBe(2);
    expect(texts(buffer)).toEqual(["first", "second", "third"]);
    expect(buffer.first).toBe(0);
  });
  it("grows upwards by line numbers, and refuses a window that does not reach", () => {
    const buffer = new LogBuffer();
    buffer.reset(chunk(100, "l10\nl11\n", { first_line: 10 }));
    expect(buffer.prepend(chunk(0, "l5\nl6\n", { first_line: 5 }))).toBe(-1);
    expect(buffer.prepend(chunk(92, "l8\nl9\n", { first_line: 8 }))).toBe(2);
    expect(buffer.first).toBe(8);
  });
  it("says how much the size cap dropped, and does not glue the ends together", () => {
    const buffer = new LogBuffer();
    buffer.reset(chunk(0, "head"));
    buffer.append({ offset: 1004, next_offset: 1009, text: "tail\n", cut: [{ offset: 4, length: 1000 }] });
    expect(buffer.lines).toEqual([{ text: "head" }, { text: "tail", cut: 1000 }]);
  });
  it("never holds more than it may, and goes on at the right line", () => {
    const buffer = new LogBuffer();
    const lines = Array.from({ length: MOST_LINES + 5 }, (_, i) => `l${i}`);
    buffer.reset(chunk(0, `${lines.join("\n")}\n`, { first_line: 0 }));
    expect(buffer.trimBottom()).toBe(5);
    expect(buffer.nextLine).toBe(MOST_LINES);
    expect(buffer.rejoin(chunk(999, "next\n", { first_line: MOST_LINES }))).toBe(true);
    expect(buffer.trimTop()).toBe(1);
    expect(buffer.first).toBe(1);
  });
});

describe("terminal output", () => {
  it("keeps colours and drops what moves a cursor", () => {
    expect(ansi("\u001b[1;31mERROR\u001b[0m disk\u001b[K full")).toEqual([
      { text: "ERROR", style: "tm-fg-1 tm-b" },
      { text: " disk", style: "" },
      { text: " full", style: "" },
    ]);
  });
  it("shows the last state of a progress bar", () => expect(plain("10%\r50%\r100%\r")).toBe("100%"));
  it("knows 256 colours and skips true colours", () => {
    expect(ansi("\u001b[38;5;2mok\u001b[0m")[0]).toEqual({ text: "ok", style: "tm-fg-2" });
    expect(ansi("\u001b[38;2;1;2;3mok")[0]).toEqual({ text: "ok", style: "" });
  });
});

describe("marking hits", () => {
  it("takes text literally unless asked for a pattern", () => {
    expect("a.b axb".match(markOf("a.b", false) ?? /never/)).toEqual(["a.b"]);
    expect("a.b axb".match(markOf("a.b", true) ?? /never/)).toEqual(["a.b", "axb"]);
    expect(markOf("(", true)).toBeNull();
  });
});

describe("the way from a verdict into the log (R222)", () => {
  it("looks for the line that names the error", () => {
    expect(tellingLine("loading\nModuleNotFoundError: No module named 'x'\n=====\npython FAILED\n-----")).toBe(
      "ModuleNotFoundError: No module named 'x'",
    );
    expect(tellingLine("about to end\n=======")).toBe("about to end");
    expect(tellingLine("")).toBe("");
  });
});
