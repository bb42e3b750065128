/** What is found from anywhere, and saved views of the list of jobs. */
import { get, put, remove } from "./client";
import type { Found, SavedView } from "./types";

export const searchAll = (q: string, signal?: AbortSignal): Promise<Found> => get("/search", { q }, signal);

export const listViews = (): Promise<{ items: SavedView[] }> => get("/views");

export const saveView = (name: string, view: { query: string; workspace: string | null }): Promise<SavedView> =>
  put(`/views/${encodeURIComponent(name)}`, view);

export const deleteView = (name: string): Promise<void> => remove(`/views/${encodeURIComponent(name)}`);
