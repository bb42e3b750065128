import { describe, expect, it } from "vitest";
import type { NodeRow, Share, TimelineBar, Workspace } from "../src/api/types";
import { limitsOfPeople, personRows } from "../src/pages/admin/personal";
import { quotaLines, toneOfQuota } from "../src/pages/admin/quotas";
import { storageForm, storageOf } from "../src/pages/admin/storage";
import { withHeadings } from "../src/pages/cluster/rows";
import { roughly, stepAt, stepsOf, summaryOf } from "../src/pages/cluster/steps";
import { colorsOf, ranges, slicedIn, usesOf } from "../src/pages/cluster/uses";
import { ordered } from "../src/pages/models/metrics";
import { colors } from "../src/pages/queue/timeline";
import { home } from "../src/pages/queue/timeline/view";
import { unchangedFor } from "../src/pages/queue/unchanged";
import { storageShares } from "../src/shared/shares";

type CardUse = NodeRow["usage"][number];
const use = (physical: number, more: Partial<CardUse> = {}): CardUse => ({
  index: physical,
  model: "A100",
  physical,
  virtual: 0,
  share: 1,
  label: `${physical}(0):`,
  job: null,
  name: null,
  owner: "bob",
  workspace: "vision",
  task: null,
  ...more,
});
const kept = (
  use: Partial<Workspace["storage"]["use"]>,
  more: Partial<Workspace["storage"]> = {},
): Workspace["storage"] => {
  const all = { person: null, used_bytes: 0, used_files: 0, limit_mib: null, limit_files: null, warning: null, ...use };
  return { use: all, mine: all, per_person: {}, people: {}, by_person: [], ...more };
};
const share = (used: number, nominal: number): Share => ({
  resource: "gpu",
  nominal,
  cap: null,
  used,
  borrowed: Math.max(0, used - nominal),
  warning: null,
});

describe("who uses a node", () => {
  it("is told job by job, GPUs that lie together as a range", () => {
    expect(ranges([3, 0, 1, 2, 6])).toBe("0–3, 6");
    expect(ranges([])).toBe("");
    const mine = { job: "t1", name: "resnet", owner: "ann" };
    const uses = usesOf([use(0, mine), use(1, mine), use(2), use(3)], false);
    expect(uses.map(({ job, owner, gpus }) => [job, owner, gpus])).toEqual([
      ["t1", "ann", "0–1"],
      [null, "bob", "2–3"],
    ]);
  });
  it("names the slice where GPUs are cut, and keeps shares of one person apart", () => {
    const cut = [use(0, { index: 2, virtual: 2 }), use(1, { index: 5, virtual: 1 })];
    expect(slicedIn(cut)).toBe(true);
    expect(slicedIn([use(0), use(1)])).toBe(false);
    expect(usesOf(cut, true)[0]?.gpus).toBe("0.2, 1.1");
    expect(usesOf([use(0, { share: 0.5 }), use(0, { share: 0.25 })], false)).toHaveLength(2);
  });
  it("keeps one color for a job, and one for a person whose jobs may not be known", () => {
    const of = colorsOf([
      { job: "t1", owner: "ann" },
      { job: null, owner: "bob" },
    ]);
    expect(of({ job: "t1", owner: "ann" })).not.toBe(of({ job: null, owner: "bob" }));
    expect(of({ job: null, owner: "bob" })).toBe(of({ job: null, owner: "bob" }));
  });
  it("stands under a line for each pool where there are several", () => {
    const node = (name: string, pool: string): NodeRow => ({ name, pool }) as NodeRow;
    expect(withHeadings([node("a", "x"), node("b", "x")])).toHaveLength(2);
    const lines = withHeadings([node("a", "x"), node("b", "x"), node("c", "y")]);
    expect(lines.map((line) => ("heading" in line ? `= ${line.pool}` : line.name))).toEqual([
      "= x",
      "a",
      "b",
      "= y",
      "c",
    ]);
  });
});

describe("what was held over time", () => {
  it("is drawn in steps up to what there is, and higher where more was held", () => {
    const made = stepsOf([0, 4, 8], 8, 300, 100);
    expect(made.line).toBe("M0 100.0H100.0L100.0 50.0H200.0L200.0 0.0H300.0");
    expect(made.area).toBe(`${made.line}V100H0Z`);
    expect(stepsOf([16], 8, 10, 10).most).toBe(16);
    // The last mean is of a time that is mostly over: the picture ends with what is held now.
    const now = stepsOf([0, 1], 4, 100, 100, 4);
    expect(now.line).toBe("M0.0 100.0H49.0L49.0 75.0H98.0V0.0H100.0".replace("M0.0", "M0"));
    expect(stepsOf([0], 4, 100, 100, 8).most).toBe(8);
    expect(stepsOf([], 8, 10, 10)).toMatchObject({ line: "", area: "" });
  });
  it("is summed up as a mean, and read where the pointer is", () => {
    expect(summaryOf([2, 4, 6])).toEqual({ mean: 4, last: 6 });
    expect(summaryOf([])).toEqual({ mean: 0, last: 0 });
    const past = { at: [10, 20, 30, 40] };
    expect([-1, 0, 0.3, 0.99, 2].map((place) => stepAt(past, place))).toEqual([0, 0, 1, 3, 3]);
  });
  it("is neither none nor all where it is nearly that", () => {
    const held = [0, 0.02, 0.06, 2, 3.97, 4, 5].map((mean) => roughly(mean, 4));
    expect(held).toEqual(["0", "<0.1", "0.1", "2", "3.9", "4", "5"]);
    const percent = [0, 0.4, 0.6, 50, 99.7, 100].map((share) => roughly(share, 100, 1));
    expect(percent).toEqual(["0", "<1", "1", "50", "99", "100"]);
  });
});

describe("quotas", () => {
  it("come most used first, and say whether they are full", () => {
    const of = (name: string, ...shares: Share[]): Pick<Workspace, "name" | "quotas" | "storage"> => ({
      name,
      quotas: [{ pool: "default", share: shares }],
      storage: kept({}),
    });
    const lines = quotaLines([
      of("low", share(1, 8)),
      of("full", share(8, 8)),
      of("none", share(2, 0)),
      of("over", share(9, 8)),
    ]);
    expect(lines.map(({ workspace }) => workspace)).toEqual(["none", "over", "full", "low"]);
    expect(lines.map((line) => toneOfQuota(line.share))).toEqual(["borrows", "borrows", "full", "room"]);
  });
});

describe("storage", () => {
  const workspace = (more: Partial<Workspace["storage"]>): Workspace => ({ storage: kept({}, more) }) as Workspace;
  it("is a quota like others where it is limited, and full when nothing more may be kept", () => {
    const use = { used_bytes: 3 * 2 ** 30, used_files: 10, limit_mib: 2048, limit_files: 40, warning: null };
    const lines = quotaLines([{ name: "vision", quotas: [], storage: kept(use) }]);
    expect(lines.map(({ pool, share: one }) => [pool, one.resource, one.used, one.nominal])).toEqual([
      ["", "storage_mib", 3072, 2048],
      ["", "files", 10, 40],
    ]);
    expect(lines.map((line) => toneOfQuota(line.share))).toEqual(["full", "room"]);
    expect(storageShares(kept({}).use)).toEqual([]);
  });
  it("is edited in GiB", () => {
    const use = { used_bytes: 0, used_files: 0, limit_mib: 512, limit_files: null, warning: null, person: null };
    expect(storageForm(workspace({ use }))).toEqual({ gib: 0.5, files: null });
    expect(storageOf({ gib: 1.5, files: 0 })).toEqual({ mib: 1536, files: 0 });
    expect(storageOf(undefined)).toEqual({});
  });
  it("has limits of each person and of some, in the same rows as those of pools", () => {
    const one = {
      ...workspace({ per_person: { mib: 512 }, people: { ann: { mib: 100, files: null } } }),
      per_person: { default: { gpu: 4 } },
      people: { bob: { default: { gpu: null } } },
    };
    const rows = personRows(one);
    expect(rows.map(({ person, pool, resource, limit }) => [person, pool, resource, limit])).toEqual([
      ["", "default", "gpu", 4],
      ["", "", "storage_mib", 0.5],
      ["bob", "default", "gpu", null],
      ["ann", "", "storage_mib", 100 / 1024],
      ["ann", "", "files", null],
    ]);
    expect(limitsOfPeople(rows)).toEqual({
      per_person: one.per_person,
      people: one.people,
      storage_per_person: { mib: 512 },
      storage_people: { ann: { mib: 100, files: null } },
    });
    expect(limitsOfPeople([{ person: " ", pool: "default", resource: "files", limit: null }, undefined])).toEqual(
      limitsOfPeople([]),
    );
  });
});

describe("the queue's page", () => {
  it("says for how many full minutes nothing has changed (D19)", () => {
    expect(unchangedFor(1000, 1059)).toBeNull();
    expect(unchangedFor(1000, 1000 + 19 * 60 + 5)).toBe(19 * 60);
    expect(unchangedFor(1000, 990)).toBeNull();
  });
  it("begins the timeline where something begins, not in an empty past", () => {
    expect(home(21_600, 0).offset).toBe(-432);
    expect(home(21_600, -600).offset).toBe(-600 - 432);
    expect(home(21_600, -1e6).offset).toBe(-5400);
    expect(home(21_600, 500).offset).toBe(-432);
  });
  it("colors bars by owner, also of jobs that may not be known", () => {
    const bar = (owner: string | null): TimelineBar =>
      ({ owner, job: null, workspace: "w", priority: "normal" }) as TimelineBar;
    const paint = colors([bar("bob"), bar("ann"), bar(null)], "owner");
    expect(paint.legend.map(([name]) => name)).toEqual(["ann", "bob"]);
    expect(paint.of(bar("ann"))).not.toBe(paint.of(bar("bob")));
    expect(paint.of(bar(null))).toBe("#868e96");
  });
});

describe("models", () => {
  it("show the metric that says most first, and none without a value", () => {
    expect(ordered({ epoch: 3, loss: 0.2, lr: null, b: 1 }, "loss").map(([name]) => name)).toEqual([
      "loss",
      "b",
      "epoch",
    ]);
    expect(ordered({ lr: null }, undefined)).toEqual([]);
  });
});
