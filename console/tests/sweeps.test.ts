/** Sweeps: typed lines of a grid, the order of entries, and which are the best. */
import { describe, expect, it } from "vitest";
import type { Json, SweepDetail, SweepEntry } from "../src/api/types";
import { gridOf, listOf, readValue, withGrid, withList } from "../src/pages/submit/sweep-lines";
import { endedOf } from "../src/pages/sweeps/bar";
import { csvOf, nextOrder, topOf, usualOrder } from "../src/pages/sweeps/order";

const entry = (index: number, best: number | null, more: Partial<SweepEntry> = {}): SweepEntry => ({
  index,
  job: `t${index}`,
  name: `digits-${index}`,
  state: "succeeded",
  tries: 1,
  parameters: { lr: index / 10 },
  own: [],
  submitted_at: 1,
  started_at: 2,
  ended_at: 3,
  run_s: 1,
  verdict: null,
  metrics: {},
  best,
  best_step: null,
  algorithm: null,
  ...more,
});
const sweep = (more: Partial<SweepDetail>): SweepDetail => ({ metric: "loss", goal: "min", ...more }) as SweepDetail;

describe("a list that is typed", () => {
  it("reads entries in their short and their whole form, and writes what it does not show back", () => {
    const list: Json[] = [
      { lr: 0.1, adam: true },
      { algorithm: "net@2", parameters: { lr: 1 } },
      { command: ["a", "b c"], code: { upload: "sha256:0" } },
      { command: "x", lr: 1 },
    ];
    const lines = listOf({ list });
    expect(lines.map(({ algorithm, command, parameters }) => [algorithm, command, parameters])).toEqual([
      ["", "", ["lr=0.1", "adam=true"]],
      ["net@2", "", ["lr=1"]],
      ["", "", []],
      ["", "", ["command=x", "lr=1"]],
    ]);
    expect(withList({ list, metric: "loss" }, lines)).toEqual({
      metric: "loss",
      list: [
        { parameters: { lr: 0.1, adam: true } },
        { algorithm: "net@2", parameters: { lr: 1 } },
        { command: ["a", "b c"], code: { upload: "sha256:0" }, parameters: {} },
        { parameters: { command: "x", lr: 1 } },
      ],
    });
  });

  it("has no sweep without an entry, and no parameter without a name", () => {
    expect(withList({ metric: "loss" }, [])).toBeUndefined();
    const line = { algorithm: "", command: " ", parameters: ["lr", "=1", "a=b=c"] };
    expect(withList({}, [line])).toEqual({ list: [{ parameters: { a: "b=c" } }] });
  });
});

describe("a grid that is typed", () => {
  it("reads values as a job file does", () => {
    expect(["0.1", "1e-3", "true", "false", "adam", "0x1", "-2", ""].map(readValue)).toEqual([
      0.1,
      0.001,
      true,
      false,
      "adam",
      "0x1",
      -2,
      "",
    ]);
  });

  it("is in the document once a line has a name and a value", () => {
    expect(withGrid({}, [{ name: "", values: [1] }])).toBeUndefined();
    expect(withGrid({ metric: "loss" }, [{ name: "lr", values: [] }])).toBeUndefined();
    const made = withGrid({ metric: "loss" }, [
      { name: " lr ", values: [0.1, 1] },
      { name: "b", values: [] },
    ]);
    expect(made).toEqual({ metric: "loss", grid: { lr: [0.1, 1] } });
    expect(gridOf(made ?? {})).toEqual([{ name: "lr", values: [0.1, 1] }]);
    expect(gridOf({ grid: [1] })).toEqual([]);
  });
});

describe("the entries of a sweep", () => {
  it("are ordered by the best first, and by a heading one way and the other", () => {
    expect([sweep({}), sweep({ goal: "max" }), sweep({ metric: null })].map(usualOrder)).toEqual([
      "best",
      "-best",
      "index",
    ]);
    expect(nextOrder("best", "state", false)).toBe("state");
    expect(nextOrder("state", "state", false)).toBe("-state");
    expect(nextOrder("-run_s", "run_s", true)).toBe("run_s");
  });

  it("have a best few, which began", () => {
    const all = [entry(1, 3), entry(2, 1), entry(3, null), entry(4, 2), entry(5, null, { started_at: null })];
    expect(topOf(sweep({}), all, 3).map((one) => one.index)).toEqual([2, 4, 1]);
    expect(topOf(sweep({ goal: "max" }), all, 9).map((one) => one.index)).toEqual([1, 4, 2, 3]);
    expect(topOf(sweep({ metric: null }), all, 2).map((one) => one.index)).toEqual([1, 2]);
  });

  it("are a table", () => {
    const found = {
      items: [entry(1, 0.5, { metrics: { loss: 0.7 } })],
      total: 1,
      parameters: ["lr"],
      metrics: ["loss"],
      at: 0,
    };
    expect(csvOf(found)).toBe(
      "index,job,name,state,run_s,parameters.lr,loss,best\r\n1,t1,digits-1,succeeded,1,0.1,0.7,0.5\r\n",
    );
  });

  it("are over when all of them are", () => {
    expect(endedOf({ running: 2, stopped: 3, failed: 1 })).toBe(4);
  });
});

describe("a batch as a table", () => {
  it("names the algorithm of each entry where one has its own", () => {
    const items = [entry(1, null, { algorithm: "net@2" }), entry(2, null)];
    const text = csvOf({ items, total: 2, parameters: [], metrics: [], at: 0 });
    expect(text.split("\r\n").slice(0, 3)).toEqual([
      "index,job,name,algorithm,state,run_s,best",
      "1,t1,digits-1,net@2,succeeded,1,",
      "2,t2,digits-2,,succeeded,1,",
    ]);
  });
});
