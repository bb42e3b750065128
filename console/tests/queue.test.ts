import type { TFunction } from "i18next";
import { describe, expect, it } from "vitest";
import type { Knob, TimelineBar, TimelineNode } from "../src/api/types";
import { meaningOf, readDraft, shown, wordOf } from "../src/pages/admin/knobs";
import { limitsOf } from "../src/pages/admin/limits";
import { away } from "../src/pages/queue/forecast";
import { changeable } from "../src/pages/queue/sooner";
import { colors } from "../src/pages/queue/timeline";
import { clipped } from "../src/pages/queue/timeline/bars";
import { layout, runs, step, tracks } from "../src/pages/queue/timeline/layout";
import { around, halfOf, marks, panned, showing, withRoom, zoomed } from "../src/pages/queue/timeline/view";
import { changed, readChange } from "../src/pages/submit/document";

const node = (name: string, cards: number): TimelineNode => ({ name, pool: "default", service: "in_service", cards });
const bar = (
  on: string,
  start: number,
  end: number | null,
  cards: number[],
  more: Partial<TimelineBar> = {},
): TimelineBar => ({
  node: on,
  job: `t${start}${cards.join("")}`,
  name: "j",
  owner: "ann",
  workspace: "vision",
  priority: "normal",
  kind: "running",
  start,
  end,
  low: null,
  high: null,
  cards,
  gpu: cards.length,
  cpu: 1,
  memory_mib: 64,
  ...more,
});

describe("where the bars of the timeline lie", () => {
  it("draws cards that lie together as one bar, and the others by themselves", () => {
    expect(runs([5, 0, 1, 2])).toEqual([
      [0, 3],
      [5, 1],
    ]);
    expect(runs([])).toEqual([]);
  });
  it("gives spans that overlap tracks of their own, and uses a track again once it is free", () => {
    expect(
      tracks([
        { start: 0, end: 10 },
        { start: 5, end: 15 },
        { start: 10, end: null },
        { start: 99, end: 100 },
      ]),
    ).toEqual([0, 1, 0, 1]);
  });
  it("gives every card a line while there are few nodes, and no two jobs the same place", () => {
    const made = layout(
      [node("a", 4), node("b", 0)],
      [bar("a", 0, 9, [0, 1]), bar("a", 0, 9, [3]), bar("a", 0, 9, []), bar("b", 0, 9, [])],
      true,
    );
    expect(made.lanes.map((lane) => lane.card)).toEqual([20, 0]);
    const sorted = [...made.boxes].sort((p, q) => p.y - q.y);
    for (const [i, box] of sorted.slice(1).entries())
      expect(box.y).toBeGreaterThanOrEqual((sorted[i]?.y ?? 0) + (sorted[i]?.height ?? 0));
    expect(made.height).toBeGreaterThan(0);
  });
  it("divides the line of a card among the jobs that share it", () => {
    const made = layout([node("a", 1)], [bar("a", 0, 9, [0]), bar("a", 1, 9, [0])], true);
    expect(made.boxes.map((box) => box.height)).toEqual([8, 8]);
    expect(made.boxes[0]?.y).not.toBe(made.boxes[1]?.y);
  });
  it("divides the one line of a node among its cards, each still wide enough to point at", () => {
    const nodes = Array.from({ length: 64 }, (_, i) => node(`n${i}`, 8));
    const made = layout(nodes, [bar("n0", 0, 9, [3])], false);
    expect(made.lanes.every((lane) => lane.height === 40 && lane.card === 0)).toBe(true);
    expect(made.boxes[0]?.height).toBe(4);
    expect(layout([node("a", 2)], [], false).lanes[0]?.height).toBe(30);
  });
  it("marks round moments of local time", () => {
    expect(marks(1000, 3600, 0)).toEqual({ at: [1200, 1800, 2400, 3000, 3600, 4200], days: false });
    const week = marks(0, 604_800, 8 * 3600);
    expect(week.days).toBe(true);
    expect(week.at.every((at) => (at + 8 * 3600) % 86_400 === 0)).toBe(true);
  });
  it("never marks more moments than there is room for", () => {
    for (const span of [900, 5000, 21_600, 100_000, 2_592_000])
      expect(marks(12_345, span, 3600, 5).at.length).toBeLessThanOrEqual(6);
  });
});

describe("the part of time that is seen", () => {
  it("keeps the moment under the pointer where it is while it is zoomed, within bounds", () => {
    const view = around(3600);
    const nearer = zoomed(view, 0.5, 0.75);
    expect(nearer.span).toBe(1800);
    expect(nearer.offset + 0.75 * nearer.span).toBe(view.offset + 0.75 * view.span);
    expect(zoomed(view, 1e-9, 0).span).toBe(900);
    expect(zoomed(view, 1e9, 0).span).toBe(30 * 86_400);
  });
  it("moves to a moment that is not seen, and stays for one that is", () => {
    const view = around(3600);
    expect(showing(view, 0)).toBe(view);
    for (const at of [-90_000, 90_000]) {
      const there = showing(view, at);
      expect(at).toBeGreaterThan(there.offset);
      expect(at).toBeLessThan(there.offset + there.span);
    }
    expect(panned(view, 60).offset).toBe(view.offset + 60);
  });
});

describe("the timeline by keys", () => {
  const bars = [bar("a", 0, 9, [0]), bar("a", 50, 60, [0]), bar("b", 40, 60, [0]), bar("b", 90, 99, [0])];
  const boxes = [0, 1, 2, 3].map((i) => ({ bar: i, lane: i < 2 ? 0 : 1, y: 0, height: 9 }));
  it("begins at the first bar, goes along by time and across to the nearest", () => {
    expect(step(boxes, bars, null, "right")).toBe(0);
    expect(step(boxes, bars, 0, "right")).toBe(1);
    expect(step(boxes, bars, 1, "down")).toBe(2);
    expect(step(boxes, bars, 3, "up")).toBe(1);
    expect(step(boxes, bars, 3, "right")).toBe(3);
    expect(step(boxes, bars, 0, "up")).toBe(0);
    expect(step([], [], null, "left")).toBeNull();
  });
});

describe("what is written on and beside bars", () => {
  it("clips a name to the room there is", () => {
    expect(clipped("resnet", 200)).toBe("resnet");
    expect(clipped("resnet-on-imagenet", 60)).toBe("resnet-o…");
    expect(clipped("语音识别大模型训练", 60)).toBe("语音识别…");
    expect(clipped("resnet", 20)).toBe("");
  });
  it("keeps a color with its workspace, whatever else is shown", () => {
    const all = [bar("a", 0, 1, [], { workspace: "vision" }), bar("a", 0, 1, [], { workspace: "speech" })];
    const paint = colors(all, "workspace");
    expect(paint.legend.map(([name]) => name)).toEqual(["speech", "vision"]);
    expect(paint.of(all[0] as TimelineBar)).not.toBe(paint.of(all[1] as TimelineBar));
    expect(colors(all, "job").of(bar("a", 0, 1, [], { job: null }))).toBe("#868e96");
  });
  it("says how far a start is away without pretending to know seconds", () => {
    expect(away(1000, 955)).toBe("45s");
    expect(away(1000, 0)).toBe("17m");
    expect(away(1000, 1001)).toBeNull();
  });
});

describe("changes that would help", () => {
  it("can be made while a job waits only where they touch nothing it asked for", () => {
    expect(changeable({ duration: 600 })).toEqual({ duration_s: 600 });
    expect(changeable({ priority: "urgent" })).toEqual({ priority: "urgent" });
    expect(changeable({ "roles.0.replicas": 2 })).toBeNull();
    expect(changeable({ duration: 600, "roles.0.replicas": 2 })).toBeNull();
    expect(changeable(null)).toBeNull();
  });
  it("are put into the copy of the document otherwise", () => {
    expect(changed({ name: "a", roles: [{ replicas: 4 }] }, readChange('{"roles.0.replicas": 2}'))).toEqual({
      name: "a",
      roles: [{ replicas: 2 }],
    });
    expect(readChange("not json")).toEqual([]);
    expect(readChange("[1]")).toEqual([]);
  });
  it("give a role amounts of its own, so that no flavor speaks against them", () => {
    const doc = { roles: [{ flavors: ["pair"], resources: { gpu: 2, cpu: 4 } }] };
    expect(changed(doc, [["roles.0.resources.gpu", 1]])).toEqual({ roles: [{ resources: { gpu: 1, cpu: 4 } }] });
  });
});

describe("the policy", () => {
  const t = ((key: string) => key) as unknown as TFunction;
  const knob = (more: Partial<Knob>): Knob => ({
    name: "k",
    title: { zh: "", en: "" },
    meaning: { zh: "", en: "" },
    unit: "",
    value: 1,
    default: 1,
    minimum: 0,
    maximum: 4,
    choices: [],
    ...more,
  });
  it("reads what was typed, and says what is wrong with it", () => {
    expect(readDraft(knob({ unit: "s", maximum: 90_000 }), "12h", t)).toEqual({ value: 43_200 });
    expect(readDraft(knob({ unit: "s" }), "soon", t)).toEqual({ problem: "admin.policy.badDuration" });
    expect(readDraft(knob({}), 5, t)).toEqual({ problem: "admin.policy.bad" });
    expect(readDraft(knob({ unit: "count" }), 1.5, t)).toEqual({ problem: "admin.policy.whole" });
    expect(readDraft(knob({ choices: ["easy", "none"], default: "easy" }), "none", t)).toEqual({ value: "none" });
    expect(shown(knob({ unit: "s" }), 43_200)).toBe("12h");
  });
  it("says choices in words, and first what is said of the chosen one", () => {
    expect(wordOf(knob({ choices: ["easy", "none"], default: "easy" }), "none", t)).toBe("admin.policy.choice.none");
    expect(wordOf(knob({ choices: ["new"], default: "new" }), "new", t)).toBe("new");
    expect(wordOf(knob({ unit: "s" }), 43_200, t)).toBe("12h");
    expect(wordOf(knob({ default: true }), true, t)).toBe("admin.policy.on");
    expect(meaningOf("age: by time; sjf: shortest first", "sjf")).toBe("sjf: shortest first; age: by time");
    expect(meaningOf("none：按顺序；easy：可先启动", "easy")).toBe("easy：可先启动；none：按顺序");
    expect(meaningOf("How others follow; any: x; same: y", "same")).toBe("How others follow; same: y; any: x");
    expect(meaningOf("How far back; 0 ignores it", "0.5")).toBe("How far back; 0 ignores it");
  });
  it("makes limits of rows, leaving out those without a resource", () => {
    expect(
      limitsOf([{ resource: "gpu", nominal: 4, cap: null }, { resource: "", nominal: 1, cap: 2 }, undefined]),
    ).toEqual({ gpu: { nominal: 4, cap: null } });
    expect(limitsOf(undefined)).toEqual({});
  });
});

describe("labels of the timeline's axis", () => {
  const tick = (at: number, words = "03:00") => ({ at, words });
  const shown = (labels: ReturnType<typeof tick>[], now?: ReturnType<typeof tick>) =>
    withRoom(labels, 500, now).map(({ at }) => at);

  it("are all there that have room, and none is cut", () => {
    expect(shown([tick(10), tick(30), tick(250), tick(470), tick(495)])).toEqual([30, 250, 470]);
    expect(shown([tick(30, "28 Nov, 03:00")])).toEqual([]);
  });
  it("give way to now only where they would touch it", () => {
    const now = tick(44, "Now 01:26");
    expect(shown([tick(70), tick(111)], now)).toEqual([111]);
    expect(shown([tick(70), tick(111)])).toEqual([70, 111]);
  });
  it("Chinese letters take more room", () => {
    expect(halfOf("现在 01:26")).toBeGreaterThan(halfOf("ab 01:26"));
  });
});
