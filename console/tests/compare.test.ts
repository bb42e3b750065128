import type { TFunction } from "i18next";
import { describe, expect, it } from "vitest";
import type { ComparedMetric, Comparison, Job, MetricSeries, Overlay } from "../src/api/types";
import { linesOf as diffLines } from "../src/pages/compare/diff";
import { linesOf } from "../src/pages/compare/lines";
import { pathOf, placeOf } from "../src/pages/compare/places";
import { settingOf } from "../src/pages/compare/setting";
import { csvOf, firstMetric, leading, lookOf, namesOf, parametersOf, reached } from "../src/pages/compare/table";

const job = (id: string, name: string): Job =>
  ({
    id,
    name,
    state: "succeeded",
    owner: "ann",
    workspace: "vision",
    submitted_at: 5,
    run_s: null,
    attempts: 1,
    tasks: { total: 1 },
  }) as Job;

const metric = (
  name: string,
  better: ComparedMetric["better"],
  values: ([number, number] | null)[],
): ComparedMetric => ({
  name,
  better,
  best: [],
  values: values.map((one) =>
    one === null
      ? null
      : { last: one[1], low: Math.min(...one), low_step: 0, high: Math.max(...one), high_step: 1, count: 2 },
  ),
});

const found: Comparison = {
  jobs: [job("t11111111a", "base"), job("t22222222b", "base"), job("t33333333c", 'odd, "name"')],
  rows: [
    { section: "parameters", name: "lr", values: [0.1, 0.2, null], differs: true },
    { section: "parameters", name: "epochs", values: [3, 3, 3], differs: false },
    { section: "command", name: "command", values: ["a", "b", "c"], differs: true },
  ],
  metrics: [
    metric("acc", "max", [[0.1, 0.9], [0.3, 0.4], null]),
    metric("lr", null, [
      [1, 2],
      [1, 3],
      [1, 1],
    ]),
    metric("val_loss", "min", [
      [3, 1],
      [2, 1],
      [4, 2],
    ]),
  ],
  partial: [],
  unreadable: [],
};

describe("jobs side by side (B16, R159)", () => {
  it("a job is judged by the best that it reached, or by its last value where nobody knows what is best", () => {
    const [acc, lr, loss] = found.metrics as [ComparedMetric, ComparedMetric, ComparedMetric];
    expect([0, 1, 2].map((at) => reached(acc, at, "max"))).toEqual([0.9, 0.4, null]);
    expect(reached(lr, 1, null)).toBe(3);
    expect([...leading(acc, "max")]).toEqual([0]);
    expect([...leading(loss, "min")]).toEqual([0, 1]);
    expect([...leading(lr, null)]).toEqual([]);
    expect([...leading(metric("f1", "max", [[0, 1], null]), "max")]).toEqual([]);
  });
  it("two jobs of one name are told apart, and colours come again with other dashes", () => {
    expect(namesOf(found.jobs)).toEqual(["base t1111111", "base t2222222", 'odd, "name"']);
    expect(lookOf(0).color).toBe(lookOf(10).color);
    expect(lookOf(0).dash).not.toEqual(lookOf(10).dash);
  });
  it("what says most is drawn first, and only parameters that differ", () => {
    expect(firstMetric(found)).toBe("val_loss");
    expect(parametersOf(found).map((row) => row.name)).toEqual(["lr"]);
  });
  it("the table has a job a line, and quotes what it must", () => {
    const lines = csvOf(found, false).split("\r\n");
    expect(lines[0]).toBe(
      "id,name,state,owner,workspace,submitted_at,run_s,attempts,parameters.lr,command.command," +
        "acc,acc.min,acc.max,lr,lr.min,lr.max,val_loss,val_loss.min,val_loss.max",
    );
    expect(lines[3]).toBe('t33333333c,"odd, ""name""",succeeded,ann,vision,5,,1,,c,,,,1,1,1,2,2,4');
    expect(csvOf(found, true)).toContain("parameters.epochs");
  });
});

describe("where values lie", () => {
  it("numbers by size, by magnitude where they are far apart, words side by side", () => {
    const plain = placeOf([0, 10, 5]);
    expect([plain.of(0), plain.of(5), plain.of(10), plain.of(null)]).toEqual([0, 0.5, 1, null]);
    expect(plain.marks.map((mark) => mark.label)).toEqual(["0", "2", "4", "6", "8", "10"]);
    const wide = placeOf([0.001, 0.1]);
    expect(wide.of(0.01)).toBeCloseTo(0.5);
    expect(wide.marks.map((mark) => mark.label)).toEqual(["0.001", "0.01", "0.1"]);
    const words = placeOf(["sgd", "adam", null]);
    expect([words.of("adam"), words.of("sgd")].every((at) => at !== null)).toBe(true);
    expect(words.marks.map((mark) => mark.label)).toEqual(["–", "adam", "sgd"]);
    expect(placeOf([4, 4]).of(4)).toBe(0.5);
    expect(placeOf([true, false]).marks.map((mark) => mark.label)).toEqual(["false", "true"]);
  });
  it("what is not set has a place of its own, at the foot of the axis and below all that is set", () => {
    const some = placeOf([10, null, 20], "not set");
    expect(some.marks[0]).toEqual({ at: 0, label: "not set" });
    expect([some.of(null), some.of(undefined), some.of(20)]).toEqual([0, 0, 1]);
    expect(some.of(10)).toBeGreaterThan(0.1);
    expect(placeOf(["adam", null], "not set").marks.map(({ label }) => label)).toEqual(["not set", "adam"]);
    expect(placeOf([null, null], "not set").of(null)).toBe(0);
    expect(placeOf([10, 20], "not set").marks.map(({ label }) => label)).not.toContain("not set");
  });
  it("the way to and from what is not set is a line of its own, and both together are the whole line", () => {
    const same = (at: number): number => at * 10;
    const loose = (i: number): boolean => i === 1 || i === 2;
    expect(pathOf([1, 0, 1, 1], same, same, (i) => !loose(i))).toBe("M0.0 10.0M10.0 0.0M20.0 10.0L30.0 10.0");
    expect(pathOf([1, 0, 1, 1], same, same, loose)).toBe("M0.0 10.0L10.0 0.0L20.0 10.0M30.0 10.0");
  });
  it("a line has a gap where a value is missing", () => {
    const same = (at: number): number => at * 10;
    expect(pathOf([0, 1, null, 0.5, 1], same, same)).toBe("M0.0 0.0L10.0 10.0M30.0 5.0L40.0 10.0");
  });
});

const curve = (attempt: number, values: number[]): MetricSeries => ({
  name: "loss",
  source: "sdk",
  attempt,
  task: null,
  count: values.length,
  steps: values.map((_, i) => i),
  t: values.map((_, i) => 100 + i),
  values,
});

describe("curves over each other", () => {
  const jobs = found.jobs.slice(0, 2);
  const drawn = (id: string, series: MetricSeries[]): [string, Overlay["jobs"][number]] => [
    id,
    { id, roles: ["trainer"], series },
  ];
  const curves = new Map([
    drawn("t11111111a", [curve(1, [3, 2]), curve(2, [2, 1])]),
    drawn("t22222222b", [curve(1, [5])]),
  ]);
  it("of several replicas the one that is drawn is named", () => {
    const two = jobs.map((one) => ({ ...one, tasks: { ...one.tasks, total: 2 } }));
    const told = new Map([drawn("t22222222b", [{ ...curve(1, [5]), task: "task0-1" }])]);
    expect(linesOf("loss", two, told, "steps", 0).map((line) => line.label)).toEqual(["base t2222222 · trainer-1"]);
    expect(linesOf("loss", jobs, told, "steps", 0).map((line) => line.label)).toEqual(["base t2222222"]);
  });
  it("each job has its colour, and earlier attempts are not in the legend", () => {
    const lines = linesOf("loss", jobs, curves, "relative", 0);
    expect(lines.map((line) => [line.label, line.ghost, line.x])).toEqual([
      ["base t1111111", true, [0, 1]],
      ["base t1111111", false, [0, 1]],
      ["base t2222222", false, [0]],
    ]);
    expect(lines[0]?.color).toBe(lines[1]?.color);
    expect(linesOf("other", jobs, curves, "steps", 0)).toEqual([]);
  });
  it("smoothed ones stand over the raw values of a few jobs, and alone of many", () => {
    expect(linesOf("loss", jobs, curves, "steps", 0.5).filter((line) => line.width === 1)).toHaveLength(3);
    const many = Array.from({ length: 8 }, (_, i) => job(`t${i}`, `job-${i}`));
    const all = new Map(many.map((one) => drawn(one.id, [curve(1, [1, 2])])));
    expect(linesOf("loss", many, all, "steps", 0.5)).toHaveLength(8);
  });
});

describe("a setting of a comparison", () => {
  const t = ((key: string) => key) as unknown as TFunction;
  it("is called as in the form where that has it, and as people named it where they did", () => {
    expect(settingOf({ section: "resources", name: "gpu" }, t)).toBe("compare.perReplica");
    expect(settingOf({ section: "resources", name: "gpu_type" }, t)).toBe("submit.field.gpu_type");
    expect(settingOf({ section: "settings", name: "model.name" }, t)).toBe("submit.field.model");
    expect(settingOf({ section: "resources", name: "server.replicas" }, t)).toBe("server · submit.field.replicas");
    expect(settingOf({ section: "parameters", name: "gpu" }, t)).toBeUndefined();
    expect(settingOf({ section: "resources", name: "ports.http.count" }, t)).toBeUndefined();
    expect(settingOf({ section: "command", name: "trainer" }, t)).toBeUndefined();
  });
});

describe("a diff", () => {
  it("is lines with their numbers in both files", () => {
    const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n\\ No newline at end of file\n";
    expect(diffLines(diff).map((line) => [line.kind, line.was, line.now])).toEqual([
      ["place", null, null],
      ["same", 1, 1],
      ["removed", 2, null],
      ["added", null, 2],
      ["remark", null, null],
    ]);
    expect(diffLines("")).toEqual([]);
  });
});
