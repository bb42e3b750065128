/** Amounts and sums of the page "Usage": exact, in millionths. */
import { describe, expect, it } from "vitest";
import type { ReportLine } from "../src/api/types";
import { AMOUNT, amountText, millionths, monthsUpTo, shownAmount, spentPercent } from "../src/pages/usage/amounts";
import { rowsBy } from "../src/pages/usage/groups";

describe("amounts", () => {
  it("are read and written without loss", () => {
    for (const text of ["0.00", "12.50", "-12.50", "0.000001", "1000000000000.123456", "-0.10"])
      expect(amountText(millionths(text))).toBe(text);
  });

  it("are shown rounded, and what is less than a cent is not shown as nothing", () => {
    const texts = ["1234567.895", "0.00", "-0.00", "0.004", "-0.000417", "-1.005", "0.009999", "0.010001"];
    expect(texts.map(shownAmount)).toEqual([
      "1,234,567.90",
      "0.00",
      "0.00",
      "0.004",
      "-0.000417",
      "-1.01",
      "0.009999",
      "0.01",
    ]);
  });

  it("that may be written", () => {
    expect(["1", "12.50", "-3", "0.000001"].every((text) => AMOUNT.test(text))).toBe(true);
    expect(["", "1,5", "1e3", ".5", "1.", "1.0000001", "９"].some((text) => AMOUNT.test(text))).toBe(false);
  });
});

describe("a budget", () => {
  it("is spent in whole percent, one of 0 by anything at all", () => {
    expect(spentPercent("79.99", "100.00")).toBe(79);
    expect(spentPercent("250.00", "100.00")).toBe(250);
    expect(spentPercent("0.00", "0.00")).toBe(0);
    expect(spentPercent("0.01", "0.00")).toBe(100);
    expect(spentPercent("-5.00", "100.00")).toBe(0);
  });
});

describe("months", () => {
  it("go back over the end of a year", () => {
    expect(monthsUpTo("2026-02", 4)).toEqual(["2026-02", "2026-01", "2025-12", "2025-11"]);
  });
});

describe("rows", () => {
  const line = (workspace: string, owner: string, flavor: string, amount: string): ReportLine => ({
    workspace,
    owner,
    flavor,
    machine_s: 3600,
    gpu_s: 7200,
    amount,
  });
  const lines = [line("w", "ann", "big", "0.10"), line("w", "bob", "big", "0.20"), line("v", "ann", "", "0.70")];

  it("are the lines as they are, or added up exactly, most first", () => {
    expect(rowsBy(lines, "line").map((row) => row.amount)).toEqual(["0.70", "0.20", "0.10"]);
    expect(rowsBy(lines, "owner").map((row) => [row.owner, row.amount, row.workspace])).toEqual([
      ["ann", "0.80", ""],
      ["bob", "0.20", ""],
    ]);
    expect(rowsBy(lines, "flavor").map((row) => [row.flavor, row.amount, row.machine_s])).toEqual([
      ["", "0.70", 3600],
      ["big", "0.30", 7200],
    ]);
  });

  it("changes nothing of the lines", () => {
    rowsBy(lines, "workspace");
    expect(lines[0]?.machine_s).toBe(3600);
  });
});
