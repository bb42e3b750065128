/** The audit's address, what the server is asked for it, and how a value is shown. */
import { describe, expect, it } from "vitest";
import { en } from "../src/i18n/en";
import { zh } from "../src/i18n/zh";
import {
  ACTORS,
  filterOf,
  isFiltered,
  isMade,
  isRemoved,
  KINDS,
  SPANS,
  SUBJECTS,
  subjectOf,
  valueText,
} from "../src/pages/audit/filter";

describe("the audit's filters", () => {
  it("ask the server for what the address says, and for nothing else", () => {
    expect(filterOf({}, 1000)).toEqual({});
    expect(filterOf({ subject: "job:t1", by: "ann", since: "7d" }, 1_000_000)).toEqual({
      subject: "job:t1",
      by: "ann",
      after: 1_000_000 - 7 * 86_400,
    });
    expect(filterOf({ since: "soon" }, 1000)).toEqual({});
    expect(filterOf({ since: "30d" }, 1000)).toEqual({ after: 0 });
  });

  it("are there or not", () => {
    expect(isFiltered({})).toBe(false);
    expect(isFiltered({ subject: undefined })).toBe(false);
    expect(isFiltered({ actor: "token" })).toBe(true);
  });

  it("know what has only one side", () => {
    expect(["flavor_made", "flavor_changed", "flavor_removed"].map(isMade)).toEqual([true, false, false]);
    expect(["flavor_made", "flavor_changed", "flavor_removed"].map(isRemoved)).toEqual([false, false, true]);
  });

  it("tell a kind of thing from one thing, whatever its name holds", () => {
    expect(subjectOf(undefined)).toEqual({});
    expect(subjectOf("pool")).toEqual({ kind: "pool" });
    expect(subjectOf("flavor:vision/a:b")).toEqual({ kind: "flavor", name: "vision/a:b" });
  });

  it("have words in both languages", () => {
    for (const { audit } of [en, zh]) {
      expect(Object.keys(audit.kinds)).toEqual([...KINDS]);
      expect(Object.keys(audit.actors)).toEqual([...ACTORS]);
      expect(Object.keys(audit.subjects).sort()).toEqual([...SUBJECTS].sort());
      expect(Object.keys(audit.spans)).toEqual([...SPANS]);
    }
  });
});

describe("a value of a record", () => {
  it("is one line", () => {
    expect(valueText(null)).toBe("–");
    expect(valueText(0)).toBe("0");
    expect(valueText(false)).toBe("false");
    expect(valueText(["a", 2, null])).toBe("a, 2, –");
    expect(valueText({ a: 1 })).toBe('{"a":1}');
  });
});
