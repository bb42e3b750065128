/** What was deleted and can come back. */
import { get, post } from "./client";
import type { BinPage, Bulk, Restored } from "./types";

export interface BinQuery {
  q?: string;
  mine?: boolean;
  limit?: number;
  cursor?: string | null;
}

export const listBin = (query: BinQuery, signal?: AbortSignal): Promise<BinPage> => get("/bin", { ...query }, signal);
export const restoreBinned = (id: string, name?: string): Promise<Restored> =>
  post(`/bin/${encodeURIComponent(id)}/restore`, name === undefined ? {} : { name });
export const removeBinned = (ids: string[]): Promise<Bulk> => post("/bin/remove", { ids });
