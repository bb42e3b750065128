import { describe, expect, it } from "vitest";
import type { Job, JobEvent, MetricSeries, TaskView } from "../src/api/types";
import { i18n } from "../src/i18n";
import { bestOf, countedOf, csvOf, distinct, goalOf, keyMetric, xOf } from "../src/pages/job/curves";
import { shows } from "../src/pages/job/events";
import { lineAddress } from "../src/pages/job/log/bar";
import { LogBuffer } from "../src/pages/job/log/buffer";
import { nextFailure } from "../src/pages/job/log/failures";
import { merge, type Part } from "../src/pages/job/log/merge";
import { severityOf } from "../src/pages/job/log/severity";
import { codeOf, tellingTask } from "../src/pages/job/overview";
import { detailsOf } from "../src/pages/job/told";
import { leftOf } from "../src/shared/left";

const curve = (values: (number | null)[], more: Partial<MetricSeries> = {}): MetricSeries => ({
  name: "loss",
  source: "log",
  attempt: 1,
  task: "task0-0",
  count: values.length,
  steps: values.map((_, i) => i * 10),
  t: values.map((_, i) => 100 + i),
  values,
  ...more,
});

describe("what is said of curves (R209)", () => {
  it.each([
    ["loss", "min"],
    ["val/top1-error", "min"],
    ["eval_loss", "min"],
    ["accuracy", "max"],
    ["val_acc", "max"],
    ["mean_reward", null],
    ["mean reward", "max"],
    ["lr", null],
  ])("%s is better at its %s", (name, goal) => {
    expect(goalOf(name)).toBe(name === "mean_reward" ? "max" : goal);
  });
  it("the best value is named with its step; none where the name does not say what is better", () => {
    const found = [curve([3, null, 1, 2]), curve([2, 1])];
    expect(bestOf("loss", found)).toEqual({ goal: "min", value: 1, step: 20 });
    expect(bestOf("accuracy", found)).toEqual({ goal: "max", value: 3, step: 0 });
    expect(bestOf("lr", found)).toBeNull();
  });
  it("of several replicas the first counts, in the newest attempt, as the server judges a job", () => {
    const [first, other] = [curve([1, 4]), curve([1, 9], { task: "task0-1" })];
    expect(countedOf([other, first])).toEqual([first]);
    const board = curve([0], { source: "tensorboard" });
    const again = curve([2], { attempt: 2, task: "task0-1" });
    expect(countedOf([board, first])).toEqual([first]);
    expect(countedOf([again, first, other])).toEqual([other, again]);
    expect(bestOf("accuracy", countedOf([other, first]))?.value).toBe(4);
    expect(countedOf([])).toEqual([]);
  });
  it("replicas that say the same are one curve, others are not", () => {
    const same = [curve([1, 2]), curve([1, 2], { task: "task0-1" }), curve([1, 3], { task: "task0-2" })];
    expect(distinct(same).map((one) => one.tasks)).toEqual([["task0-0", "task0-1"], ["task0-2"]]);
    expect(distinct([curve([1]), curve([1], { attempt: 2 })])).toHaveLength(2);
  });
  it("the first curve shown is a loss or an accuracy, never a count", () => {
    expect(keyMetric(["epoch", "accuracy", "loss"])).toBe("loss");
    expect(keyMetric(["lr", "step", "z", "bleu"])).toBe("bleu");
    expect(keyMetric(["epoch"])).toBe("epoch");
    expect(keyMetric([])).toBeUndefined();
  });
  it("steps become epochs where a metric counts them", () => {
    const epochs = curve([1, 2], { name: "epoch", t: [100, 104], steps: [0, 40] });
    const one = curve([9, 8, 7, 6, 5]);
    expect(xOf(one, "epoch", [one, epochs])).toEqual([1, 1.25, 1.5, 1.75, 2]);
    expect(xOf(one, "epoch", [one])).toEqual([0, 10, 20, 30, 40]);
    expect(xOf(one, "relative", [one])).toEqual([0, 1, 2, 3, 4]);
  });
  it("the table quotes what has commas and has a line for each point", () => {
    const text = csvOf([curve([1, null], { name: 'a,"b"' })]);
    expect(text.split("\r\n")).toEqual([
      "name,attempt,task,source,step,time,value",
      '"a,""b""",1,task0-0,log,0,1970-01-01T00:01:40.000Z,1',
      '"a,""b""",1,task0-0,log,10,1970-01-01T00:01:41.000Z,',
      "",
    ]);
  });
});

describe("lines that tell of trouble (R207)", () => {
  it.each([
    "2024-01-01 ERROR cannot open",
    "Traceback (most recent call last):",
    "torch.OutOfMemoryError: CUDA out of memory",
    "RuntimeError",
    "sh: 1: pyton: not found",
    "error: could not compile",
  ])("%s is bad", (line) => expect(severityOf(line)).toBe("bad"));
  it.each(["WARNING: slow", "[WARN] x", "UserWarning: deprecated"])("%s warns", (line) =>
    expect(severityOf(line)).toBe("warn"),
  );
  it.each(["error=0.3 errors=2", "epoch 3 of 5", "terror", "loss 0.2 (no errors)"])("%s says nothing", (line) =>
    expect(severityOf(line)).toBeNull(),
  );
  it("next and previous are by the line one looks at", () => {
    const lines = [3, 8, 20];
    expect([nextFailure(lines, 1, null), nextFailure(lines, 1, 3), nextFailure(lines, 1, 20)]).toEqual([3, 8, null]);
    expect([nextFailure(lines, -1, null), nextFailure(lines, -1, 8), nextFailure(lines, -1, 3)]).toEqual([20, 3, null]);
  });
  it("a link leads to the line", () => {
    const link = lineAddress("http://h", { job: "t1", attempt: 2, task: "task0-1" }, 41);
    expect(link).toBe("http://h/jobs/t1?tab=logs&attempt=2&task=task0-1&line=41");
  });
});

describe("when lines were written", () => {
  const chunk = (offset: number, text: string, more: object) => ({
    offset,
    next_offset: offset + text.length,
    text,
    cut: [],
    ...more,
  });
  it("each line has its times, also where half a line is left out or joined", () => {
    const buffer = new LogBuffer();
    const times = [
      { lines: 2, after: null, by: 1 },
      { lines: 1, after: 1, by: 3 },
    ];
    buffer.reset(chunk(2, "e\ntwo\nthr", { times }));
    expect(buffer.lines).toEqual([
      { text: "two", after: null, by: 1 },
      { text: "thr", after: 1, by: 3 },
    ]);
    buffer.append(chunk(buffer.end, "ee\nfour\n", { at: 5 }));
    expect(buffer.lines.map((line) => [line.text, line.by])).toEqual([
      ["two", 1],
      ["three", 5],
      ["four", 5],
    ]);
  });

  const part = (name: string, lines: [string, number | null][], atStart = true): Part => ({
    name,
    lines: lines.map(([text, by]) => ({ text, by })),
    first: atStart ? 0 : 100,
    atStart,
  });
  const told = (parts: Part[]) => merge(parts).lines.map((line) => line.text);

  it("logs are merged by time, each in its own order", () => {
    const one = part("a", [["a1", 1], ["a2", 5], ["a3", null]]); // biome-ignore format: a table
    const two = part("b", [["b1", 2], ["b2", 5], ["b3", 4]]); // biome-ignore format: a table
    expect(told([one, two])).toEqual(["a1", "b1", "a2", "a3", "b2", "b3"]);
    expect(merge([one, two]).lines[1]).toMatchObject({ who: 1, number: 0 });
  });
  it("nothing is shown before a line that was not read yet", () => {
    const found = merge([part("a", [["a1", 1], ["a2", 6]]), part("b", [["b1", 5]], false)]); // biome-ignore format: a table
    expect(found.lines.map((line) => line.text)).toEqual(["b1", "a2"]);
    expect(found.lacking).toEqual([false, true]);
  });
  it("a log without times stands first, and that is said", () => {
    const found = merge([part("a", [["a1", 1]]), part("b", [["b1", null], ["b2", null]])]); // biome-ignore format: a table
    expect(found.lines.map((line) => line.text)).toEqual(["b1", "b2", "a1"]);
    expect(found.untimed).toBe(true);
    expect(merge([part("a", [["a1", 1]])]).untimed).toBe(false);
  });
});

describe("what happened (R220)", () => {
  const event = (kind: string, actor: string, data: JobEvent["data"] = {}) => ({ kind, actor, data }) as JobEvent;
  it("small steps, failures and people are told apart", () => {
    const all = [
      event("checked", "system"),
      event("started", "engine"),
      event("stop_requested", "ann"),
      event("task_exited", "agent", { exit_code: 1 }),
      event("task_exited", "agent", { exit_code: 0 }),
    ];
    const kinds = (filter: Parameters<typeof shows>[0]) => all.map((one) => shows(filter, one));
    expect(kinds("all")).toEqual([true, true, true, true, true]);
    expect(kinds("key")).toEqual([false, true, true, true, true]);
    expect(kinds("bad")).toEqual([false, false, false, true, false]);
    expect(kinds("people")).toEqual([false, false, true, false, false]);
  });
});

describe("what an event tells is said in words", () => {
  const said = (kind: string, data: JobEvent["data"]) =>
    detailsOf({ kind, data } as JobEvent, [{ name: "trainer" }], i18n.t);
  it("of where it runs, without the numbers of the bill", () => {
    const placement = [{ role: 0, index: 0, node: "node-1", host: "h", gpus: [0, 1], ports: [] }];
    expect(said("placed", { placement, rates: [{ flavor: "", price: 0, gpu_milli: 1000 }] })).toEqual([
      "node-1 · GPU 0, 1",
    ]);
  });
  it("of a change: what was and what is", () => {
    expect(said("duration_changed", { duration_s: 7200, before: null })).toEqual(["no limit → 2h"]);
    expect(said("priority_changed", { priority: 1, before: 0 })).toEqual(["Normal → Urgent"]);
    expect(said("shared", { share: "read", before: "none" })).toEqual([
      "Nobody else sees it → Others may look and clone",
    ]);
    expect(said("annotated", { tags: ["a", "b"], before: { tags: [] } })).toEqual(["Tags: a, b"]);
    expect(said("clock_set", { by_s: -90 })).toEqual(["1m 30s back"]);
  });
  it("of a replica and its node; never a key, nor what programs read", () => {
    expect(said("bad_node", { node: "node-2", said: { code: "x", args: {} } })).toEqual(["node-2"]);
    expect(said("entered", { role: 0, index: 1, program: "bash" })).toEqual(["trainer-1", "bash"]);
    expect(said("preempted", { by: "t0123", reason: "quota" })).toEqual([]);
    expect(said("noted", { code: "c", said: {}, path: "roles" })).toEqual([]);
  });
});

describe("files of a job (R149)", () => {
  it("code has the name of its folder, else the beginning of its digest", () => {
    const digest = `sha256:${"ab".repeat(32)}`;
    expect(codeOf({ spec: { code: { path: "/home/me/train/", upload: digest } } })?.name).toBe("train");
    expect(codeOf({ spec: { code: { upload: digest } } })?.name).toBe("abababababab");
    expect(codeOf({ spec: {} })).toBeNull();
  });
});

describe("whose last lines are shown", () => {
  const task = (name: string, more: Partial<TaskView>): TaskView => ({ name, state: "running", ...more }) as TaskView;
  const said = (evidence: string): TaskView["verdict"] => ({ evidence }) as TaskView["verdict"];
  it("takes the first that failed and said why", () => {
    const silent = task("a", { state: "failed", ended_at: 1, verdict: said("") });
    const late = task("b", { state: "failed", ended_at: 3, verdict: said("too") });
    const first = task("c", { state: "failed", ended_at: 2, verdict: said("No module named torch") });
    expect(tellingTask([task("z", {}), silent, late, first])?.name).toBe("c");
    expect(tellingTask([task("z", {}), silent])?.name).toBe("a");
    expect(tellingTask([task("z", {}), task("y", {})])?.name).toBe("z");
    expect(tellingTask([])).toBeUndefined();
  });
});

describe("how long a job still takes", () => {
  const told = { state: "running" as const, progress: { eta_s: 7200 } as Job["progress"], expires_at: null };
  it("is told by its progress, and that the time limit comes first where it does", () => {
    expect(leftOf(told, 1000)).toEqual({ eta: 7200, cut: null });
    expect(leftOf({ ...told, expires_at: 9000 }, 1000)).toEqual({ eta: 7200, cut: null });
    expect(leftOf({ ...told, expires_at: 4600 }, 1000)).toEqual({ eta: 7200, cut: 3600 });
    expect(leftOf({ ...told, expires_at: 900 }, 1000)).toEqual({ eta: 7200, cut: 0 });
  });
  it("is not known without progress, and of nothing that has ended or waits", () => {
    expect(leftOf({ ...told, progress: null }, 1000)).toBeNull();
    expect(leftOf({ ...told, state: "failed" }, 1000)).toBeNull();
    expect(leftOf({ ...told, state: "queued" }, 1000)).toBeNull();
  });
});
