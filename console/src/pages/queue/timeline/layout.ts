/** Where every bar of the timeline lies. Pure: no page, no clock. Lengths are pixels, times seconds. */
import type { TimelineBar, TimelineNode } from "../../../api/types";

/** Up to so many nodes every card has a line of its own; beyond, a node is one line, divided by its cards. */
export const MOST_WITH_CARDS = 8;
const CARD_PX = 20;
const NODE_PX = 30;
const THIN_CARD_PX = 5;
const TRACK_PX = 16;
const GAP_PX = 8;
/** More tracks than this on one node become thinner instead of more. */
const MOST_TRACKS = 6;
const LEAST_PX = 4;

export interface Lane {
  node: TimelineNode;
  top: number;
  height: number;
  /** Height of a line per card; 0 when the node is drawn as one line. */
  card: number;
}

/** One rectangle of a bar: a job on cards that do not lie together has several. */
export interface Box {
  bar: number;
  lane: number;
  y: number;
  height: number;
}

export interface Layout {
  lanes: Lane[];
  boxes: Box[];
  height: number;
}

/** Runs of numbers that follow one another: 0 1 2 5 -> [0, 3], [5, 1]. */
export function runs(cards: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const card of [...cards].sort((a, b) => a - b)) {
    const last = found[found.length - 1];
    if (last && card < last[0] + last[1]) continue;
    if (last && card === last[0] + last[1]) last[1] += 1;
    else found.push([card, 1]);
  }
  return found;
}

/** A track for every span so that spans which overlap never share one: the first that is free. Returns tracks in the order given. */
export function tracks(spans: readonly { start: number; end: number | null }[]): number[] {
  const order = spans.map((_, i) => i).sort((a, b) => (spans[a]?.start ?? 0) - (spans[b]?.start ?? 0) || a - b);
  const free: number[] = [];
  const chosen = spans.map(() => 0);
  for (const i of order) {
    const span = spans[i];
    if (!span) continue;
    const at = free.findIndex((until) => until <= span.start);
    const track = at < 0 ? free.length : at;
    free[track] = span.end ?? Number.POSITIVE_INFINITY;
    chosen[i] = track;
  }
  return chosen;
}

/** `detailed`: a line for every card; else one per node, divided by its cards. */
export function layout(nodes: readonly TimelineNode[], bars: readonly TimelineBar[], detailed: boolean): Layout {
  const on = new Map<string, number[]>();
  for (const [i, bar] of bars.entries()) on.set(bar.node, [...(on.get(bar.node) ?? []), i]);
  const lanes: Lane[] = [];
  const boxes: Box[] = [];
  let top = 0;
  nodes.forEach((node, lane) => {
    const here = on.get(node.name) ?? [];
    const without = here.filter((i) => bars[i]?.cards.length === 0);
    const rows = tracks(without.flatMap((i) => bars[i] ?? []));
    const extra = without.length > 0 ? Math.max(...rows) + 1 : 0;
    const card = node.cards === 0 ? 0 : detailed ? CARD_PX : Math.max(THIN_CARD_PX, NODE_PX / node.cards);
    const cardsHeight = card * node.cards;
    const track = extra > MOST_TRACKS ? Math.max(LEAST_PX, (MOST_TRACKS * TRACK_PX) / extra) : TRACK_PX;
    const height = Math.max(NODE_PX, cardsHeight + extra * track);
    const begin = cardsHeight > 0 ? top + cardsHeight : top;
    for (const [k, bar] of without.entries())
      boxes.push({ bar, lane, y: begin + (rows[k] ?? 0) * track + 1, height: track - 2 });
    boxes.push(
      ...onCards(
        here.filter((i) => (bars[i]?.cards.length ?? 0) > 0),
        bars,
        lane,
        top,
        card,
      ),
    );
    lanes.push({ node, top, height, card: detailed && node.cards > 0 ? card : 0 });
    top += height + GAP_PX;
  });
  return { lanes, boxes, height: Math.max(0, top - GAP_PX) };
}

/** Jobs that share a card divide its line; whole cards keep theirs. */
function onCards(here: number[], bars: readonly TimelineBar[], lane: number, top: number, card: number): Box[] {
  const inset = card > 6 ? 1 : card > 2 ? 0.5 : 0;
  const sharing = new Map<number, number[]>();
  for (const i of here) {
    const bar = bars[i];
    if (bar?.kind === "running" && bar.cards.length === 1 && bar.cards[0] !== undefined)
      sharing.set(bar.cards[0], [...(sharing.get(bar.cards[0]) ?? []), i]);
  }
  const part = new Map<number, [number, number]>();
  for (const sharers of sharing.values()) {
    const rows = tracks(sharers.flatMap((i) => bars[i] ?? []));
    const count = Math.max(...rows) + 1;
    for (const [k, i] of sharers.entries()) part.set(i, [rows[k] ?? 0, count]);
  }
  return here.flatMap((bar) =>
    runs(bars[bar]?.cards ?? []).map(([first, count]): Box => {
      const [row, of] = part.get(bar) ?? [0, 1];
      const height = (card * count) / of;
      return { bar, lane, y: top + first * card + row * height + inset, height: Math.max(1, height - 2 * inset) };
    }),
  );
}

/** The next box for a key: along the line by time, across lines to what is nearest in time. Returns an index of `boxes`. */
export function step(
  boxes: readonly Box[],
  bars: readonly TimelineBar[],
  at: number | null,
  key: "left" | "right" | "up" | "down",
): number | null {
  if (boxes.length === 0) return null;
  const start = (i: number): number => bars[boxes[i]?.bar ?? -1]?.start ?? 0;
  const order = boxes
    .map((_, i) => i)
    .sort((a, b) => (boxes[a]?.lane ?? 0) - (boxes[b]?.lane ?? 0) || start(a) - start(b) || a - b);
  if (at === null) return order[0] ?? null;
  const place = order.indexOf(at);
  if (key === "left" || key === "right")
    return order[Math.min(order.length - 1, Math.max(0, place + (key === "right" ? 1 : -1)))] ?? at;
  const lane = boxes[at]?.lane ?? 0;
  const others = order.filter((i) => (key === "down" ? (boxes[i]?.lane ?? 0) > lane : (boxes[i]?.lane ?? 0) < lane));
  const target =
    key === "down"
      ? Math.min(...others.map((i) => boxes[i]?.lane ?? 0))
      : Math.max(...others.map((i) => boxes[i]?.lane ?? 0));
  const near = others
    .filter((i) => boxes[i]?.lane === target)
    .sort((a, b) => Math.abs(start(a) - start(at)) - Math.abs(start(b) - start(at)));
  return near[0] ?? at;
}
