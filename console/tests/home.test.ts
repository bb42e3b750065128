/** What stands where on the first page. */
import { describe, expect, it } from "vitest";
import type { Home } from "../src/api/types";
import { sides } from "../src/pages/home/sides";

const many = (count: number): never[] => Array.from({ length: count }) as never[];

function home(running: number, did: number, more: Partial<Home> = {}): Home {
  const pool = { cards: many(1) };
  const use = { machine_s: 3600 };
  return {
    any: true,
    running: many(running),
    waiting: [],
    failed: [],
    free: [pool],
    limits: [],
    did: many(did),
    use,
    ...more,
  } as unknown as Home;
}

describe("both columns of the first page end at about the same height", () => {
  it("few jobs: what one did last stands below them", () => {
    expect(sides(home(1, 8))).toEqual({ left: ["use"], right: ["did"] });
    expect(sides(home(0, 8, { any: false }))).toEqual({ left: ["use"], right: ["did"] });
  });
  it("many jobs: all else is beside them", () => {
    expect(sides(home(8, 3))).toEqual({ left: [], right: ["use", "did"] });
  });
  it("each card stands once, limits before use", () => {
    const { left, right } = sides(home(2, 8, { limits: many(2) }));
    expect([...left, ...right].sort()).toEqual(["did", "limits", "use"]);
  });
});
