/** How a lineage is laid out: in columns, nothing over anything else, lines from left to right. */
import { describe, expect, it } from "vitest";
import type { Lineage, LineageNode } from "../src/api/types";
import { BOX, columnsOf, draw } from "../src/shared/lineage/layout";

function node(id: string, layer: number): LineageNode {
  return {
    id,
    kind: "job",
    name: id,
    version: null,
    ref: id,
    state: "there",
    status: null,
    owner: "ann",
    workspace: "default",
    at: 1,
    layer,
    more: false,
  };
}

function lineage(nodes: [string, number][], edges: [string, string][]): Lineage {
  return {
    center: "c",
    nodes: nodes.map(([id, layer]) => node(id, layer)),
    edges: edges.map(([source, target]) => ({ source, target, how: "input" as const })),
    more: false,
  };
}

const SOME = lineage(
  [
    ["a", -2],
    ["b", -1],
    ["d", -1],
    ["c", 0],
    ["e", 1],
    ["f", 2],
    ["g", 2],
  ],
  [
    ["a", "b"],
    ["a", "c"],
    ["b", "c"],
    ["d", "c"],
    ["c", "e"],
    ["e", "f"],
    ["c", "g"],
    ["e", "g"],
  ],
);

describe("a lineage", () => {
  it("stands in columns by layer", () => {
    const { placed, width } = draw(SOME);
    const at = new Map(placed.map((one) => [one.node.id, one.x]));
    expect(placed).toHaveLength(7);
    expect(at.get("a")).toBe(0);
    expect(at.get("b")).toBe(at.get("d"));
    expect(at.get("f")).toBe(4 * (BOX.width + BOX.across));
    expect(width).toBe(5 * BOX.width + 4 * BOX.across);
  });

  it("has no box over another, and all within the sheet", () => {
    const { placed, width, height } = draw(SOME);
    for (const one of placed) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.y).toBeGreaterThanOrEqual(0);
      expect(one.x + BOX.width).toBeLessThanOrEqual(width);
      expect(one.y + BOX.height).toBeLessThanOrEqual(height);
      for (const other of placed)
        if (one !== other && one.x === other.x) expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(BOX.height);
    }
  });

  it("gives a line that passes a column a place of its own", () => {
    const { columns, ways } = columnsOf(SOME);
    expect(ways.find((one) => one.key === "a c")?.slots).toHaveLength(3);
    expect(columns[1]).toHaveLength(3);
    const { placed, lines } = draw(SOME);
    const path = lines.find((one) => one.key === "a c")?.path ?? "";
    const level = Number(/L\S+ (\S+)/.exec(path)?.[1]);
    for (const one of placed.filter((each) => each.node.layer === -1))
      expect(level < one.y || level > one.y + BOX.height).toBe(true);
  });

  it("puts what belongs together beside each other", () => {
    const crossed = lineage(
      [
        ["l1", -2],
        ["l2", -2],
        ["m2", -1],
        ["m1", -1],
        ["c", 0],
      ],
      [
        ["l1", "m1"],
        ["l2", "m2"],
        ["m1", "c"],
        ["m2", "c"],
      ],
    );
    const rows = columnsOf(crossed).columns.map((column) => column.map((one) => one.id));
    expect(rows[0]?.map((id) => id.slice(1))).toEqual(rows[1]?.map((id) => id.slice(1)));
  });

  it("is one box where there is nothing else", () => {
    expect(draw(lineage([["c", 0]], []))).toMatchObject({ lines: [], width: BOX.width, height: BOX.height });
  });
});
