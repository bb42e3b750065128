/** What people keep under names, whatever its kind: by what lists of it are narrowed, and favorites among it. */
import { put, remove } from "./client";

/** As their addresses and their texts have them. */
export const ASSETS = ["models", "templates", "images", "datasets", "algorithms", "volumes"] as const;
export type AssetWords = (typeof ASSETS)[number];

export interface AssetQuery {
  q?: string;
  mine?: boolean;
  /** What others share with the members of their workspace; models are shared with nobody. */
  shared?: boolean;
  /** What one marked for oneself. */
  favorite?: boolean;
  workspace?: string;
  limit?: number;
  cursor?: string | null;
}

export const favorAsset = (kind: AssetWords, id: string, wanted: boolean): Promise<unknown> => {
  const at = `/${kind}/${encodeURIComponent(id)}/favorite`;
  return wanted ? put(at, {}) : remove(at);
};

/** The most that a form offers to choose from. */
const MOST = 500;

/** Favorites before all others, each part in the order it had. Pure. */
export const favoritesFirst = <T extends { favorite: boolean }>(items: readonly T[]): T[] => [
  ...items.filter((one) => one.favorite),
  ...items.filter((one) => !one.favorite),
];

/** What a form offers to choose from in a workspace: favorites first, also where they were changed long ago. */
export async function readOffered<T extends { id: string; favorite: boolean }>(
  list: (query: AssetQuery, signal?: AbortSignal) => Promise<{ items: T[]; next_cursor: string | null }>,
  workspace: string,
  signal?: AbortSignal,
): Promise<T[]> {
  const page = await list({ workspace, limit: MOST }, signal);
  if (page.next_cursor === null) return favoritesFirst(page.items);
  const marked = (await list({ workspace, favorite: true, limit: MOST }, signal)).items;
  return [...marked, ...page.items.filter((one) => !one.favorite)];
}
