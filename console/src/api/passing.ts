/** What workspaces pass on to each other: offered to others, and taken in there under a name (R141). The same for each kind. */
import { get, put, remove } from "./client";
import type { PublishedPage, Subscription, Subscriptions, TakenName } from "./types";

/** What can be offered, by what the server calls it. */
export type PassedKind = Subscription["kind"];

/** What a detail says of it. */
export interface PassedDetail {
  id: string;
  name: string;
  workspace: string;
  may: readonly string[];
  taken: TakenName[];
  offers: string[];
  subscribers: TakenName[];
}

const offer = (kind: PassedKind, id: string, workspace: string): string =>
  `/${kind}s/${encodeURIComponent(id)}/offers/${encodeURIComponent(workspace)}`;
const inside = (workspace: string): string => `/workspaces/${encodeURIComponent(workspace)}`;
const taken = (kind: PassedKind, workspace: string, name: string): string =>
  `${inside(workspace)}/subscriptions/${kind}/${encodeURIComponent(name)}`;

/** To a workspace, or with `*` to everybody. */
export const offerAsset = (kind: PassedKind, id: string, workspace: string): Promise<unknown> =>
  put(offer(kind, id, workspace), {});
export const withdrawAsset = (kind: PassedKind, id: string, workspace: string): Promise<void> =>
  remove(offer(kind, id, workspace));

export const listPublished = (
  kind: PassedKind,
  workspace: string,
  query: { q: string; limit: number; cursor: string | null },
  signal?: AbortSignal,
): Promise<PublishedPage> => get(`${inside(workspace)}/published`, { kind, ...query }, signal);
export const listSubscriptions = (kind: PassedKind, workspace: string): Promise<Subscriptions> =>
  get(`${inside(workspace)}/subscriptions`, { kind });
export const subscribe = (kind: PassedKind, workspace: string, name: string, asset: string): Promise<Subscription> =>
  put(taken(kind, workspace, name), { asset });
export const unsubscribe = (kind: PassedKind, workspace: string, name: string): Promise<void> =>
  remove(taken(kind, workspace, name));
