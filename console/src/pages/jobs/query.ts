/** What the address says of the list, and what the server is asked for it. Pure. */
import { type JobFilter, STATES, type State } from "../../api/types";
import type { JobsSearch } from "../../shared/address";
import { parseDuration } from "../../shared/format";

export const NEWEST = "-submitted_at";
export const SPANS = ["1h", "24h", "7d", "30d"] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export const isDay = (text: string | undefined): boolean => text !== undefined && DAY.test(text);

export function statesOf(search: JobsSearch): State[] {
  const wanted = new Set(search.state?.split(",") ?? []);
  return STATES.filter((state) => wanted.has(state));
}

/** The beginning of a day here, in seconds; `later` days after it. Undefined for what is no day. */
function dayAt(text: string, later = 0): number | undefined {
  const [year, month, day] = text.split("-").map(Number) as [number, number, number];
  const at = new Date(year, month - 1, day + later).getTime();
  return Number.isNaN(at) ? undefined : at / 1000;
}

export function sinceOf(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined;
  if (DAY.test(text)) return dayAt(text);
  const span = parseDuration(text);
  return span === null ? undefined : Math.max(0, now - span);
}

export const untilOf = (text: string | undefined): number | undefined =>
  text && DAY.test(text) ? dayAt(text, 1) : undefined;

/** `now`: from when a span of time is counted back. */
export function filterOf(search: JobsSearch, mine: boolean, now: number): JobFilter {
  const states = statesOf(search);
  const filter: JobFilter = {
    q: search.q,
    state: states.length > 0 ? states : undefined,
    mine: mine || undefined,
    owner: mine ? undefined : search.owner,
    workspace: search.workspace,
    pool: search.pool,
    framework: search.framework,
    node: search.node,
    tag: search.tag ? [search.tag] : undefined,
    favorite: search.favorite || undefined,
    sweep: search.sweep,
    algorithm: search.algorithm,
    favorite_algorithm: search.favorite_algorithm || undefined,
    flavor: search.flavor,
    output: search.output,
    since: sinceOf(search.since, now),
    until: untilOf(search.until),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

/** Whether more than whose jobs and their order is chosen. */
export const isFiltered = ({ who: _who, order: _order, columns: _columns, ...search }: JobsSearch): boolean =>
  Object.values(search).some((value) => value !== undefined);

/** The order after a click on a heading: its first direction, then the other, then the newest first again. */
export function nextOrder(order: string, key: string, falling: boolean): string | undefined {
  const first = falling ? `-${key}` : key;
  const second = falling ? key : `-${key}`;
  const next = order === first ? second : order === second ? NEWEST : first;
  return next === NEWEST ? undefined : next;
}

/** How many jobs of these states a verb is for; the others stay as they are. */
export function concerned(
  verb: "stop" | "delete" | "change",
  counts: Partial<Record<State, number>>,
  states: readonly State[],
): number {
  const ended: readonly State[] = ["succeeded", "failed", "stopped", "expired"];
  return STATES.filter((state) => states.length === 0 || states.includes(state))
    .filter((state) => ended.includes(state) === (verb === "delete") && !(verb === "stop" && state === "stopping"))
    .reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** What of the address makes a view: all of it, as the part of the address behind the question mark. */
export function viewOf(search: JobsSearch): string {
  const held = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(held.map(([key, value]) => [key, String(value)])).toString();
}

const TEXTS = [
  "q",
  "state",
  "owner",
  "workspace",
  "pool",
  "framework",
  "node",
  "tag",
  "sweep",
  "algorithm",
  "flavor",
  "output",
  "since",
  "until",
  "order",
  "columns",
] as const satisfies readonly (keyof JobsSearch)[];

/** The address of a view; what is no part of one is passed over. */
export function searchOf(view: string): JobsSearch {
  const found = Object.fromEntries(new URLSearchParams(view));
  const search: JobsSearch = {};
  for (const key of TEXTS) if (found[key]) search[key] = found[key];
  if (found["who"] === "mine" || found["who"] === "all") search.who = found["who"];
  for (const key of ["favorite", "favorite_algorithm"] as const) if (found[key] === "true") search[key] = true;
  return search;
}
