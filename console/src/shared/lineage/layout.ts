/**
 * Where what stands in a lineage is drawn: a column for each layer, the lines between them as short as may be. A line over
 * several layers has a place of its own in each column that it passes, so that it never runs behind a box. Pure.
 */
import type { Lineage, LineageNode } from "../../api/types";

/** Of a box, between boxes, and around all of them; the same in styles/lineage.css. */
export const BOX = { width: 188, height: 56, across: 56, down: 14, margin: 22 } as const;
/** How high the place of a line is that passes a column. */
const PASSING = 4;
/** How often rows are put beside those that they are joined with; more moves hardly anything. */
const ROUNDS = 4;

/** A place in a column: of a node, or of a line that passes. */
interface Slot {
  id: string;
  node: LineageNode | null;
  /** The slots that it is joined with. */
  beside: string[];
}

export interface Placed {
  node: LineageNode;
  x: number;
  y: number;
}

export interface Drawing {
  placed: Placed[];
  /** Paths of SVG, one for each edge. */
  lines: { key: string; path: string }[];
  width: number;
  height: number;
}

interface Columns {
  columns: Slot[][];
  /** Of each edge the slots from its source to its target. */
  ways: { key: string; slots: string[] }[];
}

/** Return the slots by layer from left to right, each column ordered so that few lines cross. */
export function columnsOf(lineage: Lineage): Columns {
  const layers = [...new Set(lineage.nodes.map((one) => one.layer))].sort((a, b) => a - b);
  const slots = new Map<string, Slot>(lineage.nodes.map((node) => [node.id, { id: node.id, node, beside: [] }]));
  const columns = layers.map((layer) =>
    lineage.nodes.flatMap((one) => (one.layer === layer ? [slots.get(one.id) as Slot] : [])),
  );
  const layerOf = new Map(lineage.nodes.map((one) => [one.id, one.layer]));
  const ways = lineage.edges.map(({ source, target }) => {
    const [from, to] = [layerOf.get(source) ?? 0, layerOf.get(target) ?? 0];
    const way = [source];
    layers.forEach((layer, at) => {
      if (layer <= from || layer >= to) return;
      const id = `${source} ${layer}`; // all lines from one node pass in one place
      if (!slots.has(id)) {
        const slot: Slot = { id, node: null, beside: [] };
        slots.set(id, slot);
        columns[at]?.push(slot);
      }
      way.push(id);
    });
    way.push(target);
    for (let at = 1; at < way.length; at++) join(slots.get(way[at - 1] ?? ""), slots.get(way[at] ?? ""));
    return { key: `${source} ${target}`, slots: way };
  });
  order(columns, layers.indexOf(0));
  return { columns, ways };
}

function join(one: Slot | undefined, other: Slot | undefined): void {
  if (!one || !other) return;
  one.beside.push(other.id);
  other.beside.push(one.id);
}

/** From the middle outwards: what was asked for stays where it is, the others go beside what they belong to. */
function order(columns: Slot[][], center: number): void {
  const outwards = columns.map((_, at) => at).sort((a, b) => Math.abs(a - center) - Math.abs(b - center));
  for (let round = 0; round < ROUNDS; round++) {
    const row = new Map<string, number>();
    for (const column of columns) number(column, row);
    for (const at of outwards) {
      const column = columns[at] ?? [];
      const wanted = new Map(column.map((one) => [one.id, mean(one, row)]));
      column.sort((a, b) => (wanted.get(a.id) ?? 0) - (wanted.get(b.id) ?? 0));
      number(column, row);
    }
  }
}

/** Note of each slot how far it is from the middle of its column. */
function number(column: Slot[], row: Map<string, number>): void {
  column.forEach((one, at) => {
    row.set(one.id, at - (column.length - 1) / 2);
  });
}

function mean({ beside }: Slot, row: Map<string, number>): number {
  return beside.length === 0 ? 0 : beside.reduce((sum, id) => sum + (row.get(id) ?? 0), 0) / beside.length;
}

export function draw(lineage: Lineage): Drawing {
  const { columns, ways } = columnsOf(lineage);
  const heights = columns.map(
    (column) => column.reduce((sum, one) => sum + heightOf(one), 0) + (column.length - 1) * BOX.down,
  );
  const height = Math.max(BOX.height, ...heights);
  const placed: Placed[] = [];
  const where = new Map<string, { x: number; y: number }>();
  columns.forEach((column, at) => {
    const x = at * (BOX.width + BOX.across);
    let y = (height - (heights[at] ?? 0)) / 2;
    for (const slot of column) {
      if (slot.node) placed.push({ node: slot.node, x, y });
      where.set(slot.id, { x, y: y + heightOf(slot) / 2 });
      y += heightOf(slot) + BOX.down;
    }
  });
  const lines = ways.map(({ key, slots }) => ({ key, path: pathOf(slots.flatMap((id) => where.get(id) ?? [])) }));
  return { placed, lines, width: columns.length * (BOX.width + BOX.across) - BOX.across, height };
}

function heightOf(slot: Slot): number {
  return slot.node ? BOX.height : PASSING;
}

/** Level over a column, bent between two. */
function pathOf(points: { x: number; y: number }[]): string {
  return points
    .map(({ x, y }, at) => {
      const before = points[at - 1];
      if (!before) return `M${x + BOX.width} ${y}`;
      const bend = x - BOX.across / 2;
      const curve = `C${bend} ${before.y} ${bend} ${y} ${x} ${y}`;
      return at < points.length - 1 ? `${curve} L${x + BOX.width} ${y}` : curve;
    })
    .join(" ");
}
