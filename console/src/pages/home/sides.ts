/** Which of the two columns each card of the first page stands in, so that both end at about the same height. Pure. */
import type { Home } from "../../api/types";

const HEAD = 56;
const ROW = 58;
const LINE = 41;
const BAR = 46;
const GAP = 16;

/** What may stand on either side, in the order in which it is placed. */
export type Card = "limits" | "use" | "did";

const rows = (count: number, each: number): number => HEAD + GAP + Math.max(1, count) * each;

/** About how high a card is, in pixels. */
function height(card: Card, home: Home): number {
  if (card === "limits") return rows(home.limits.length, BAR);
  if (card === "did") return rows(home.did.length, LINE);
  return home.use.machine_s > 0 ? HEAD + 120 : rows(1, LINE);
}

/** The jobs are at the left, what is free at the right; each other card is put where less is. */
export function sides(home: Home): { left: Card[]; right: Card[] } {
  const jobs = [home.running, home.waiting, home.failed].reduce((sum, all) => sum + rows(all.length, ROW), 0);
  const free = home.free.reduce((sum, pool) => sum + 30 + (pool.cards.length + 2) * BAR, HEAD + GAP);
  const placed = { left: [] as Card[], right: [] as Card[] };
  const filled = { left: home.any ? jobs : 330, right: free };
  const cards: Card[] = home.limits.length > 0 ? ["limits", "use", "did"] : ["use", "did"];
  // The highest is placed first: what comes then evens out.
  for (const card of [...cards].sort((a, b) => height(b, home) - height(a, home))) {
    const side = filled.left < filled.right ? "left" : "right";
    placed[side].push(card);
    filled[side] += height(card, home);
  }
  const inOrder = (some: Card[]): Card[] => cards.filter((card) => some.includes(card));
  return { left: inOrder(placed.left), right: inOrder(placed.right) };
}
