/** The lines of the table of nodes. Pure. */
import type { NodeRow } from "../../api/types";
import type { Entry } from "./columns";

/** The nodes with a line above those of each pool, where there are several pools. */
export function withHeadings(nodes: readonly NodeRow[]): Entry[] {
  if (new Set(nodes.map((node) => node.pool)).size < 2) return [...nodes];
  return nodes.flatMap((node, i): Entry[] =>
    node.pool === nodes[i - 1]?.pool ? [node] : [{ pool: node.pool, heading: true }, node],
  );
}
