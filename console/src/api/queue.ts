/** What waits, when it is expected to start, and the rules it waits by. */
import { get, post, put } from "./client";
import type { WorkspaceBody } from "./cluster";
import type { KnobValue, PolicyEffect, PolicyView, Question, QueuePage, Timeline, WouldStart } from "./types";

export interface QueueQuery {
  pool?: string;
  workspace?: string;
  model?: string;
  owner?: string;
  mine?: boolean;
  offset?: number;
  limit?: number;
}

export const readQueue = (query: QueueQuery, signal?: AbortSignal): Promise<QueuePage> =>
  get("/queue", { ...query, mine: query.mine || undefined }, signal);

export const readTimeline = (pool: string | undefined, signal?: AbortSignal): Promise<Timeline> =>
  get("/queue/timeline", { pool }, signal);

export const wouldStart = (question: Question, signal?: AbortSignal): Promise<WouldStart> =>
  post("/queue/would-start", { dialect: "auto", ...question }, { signal });

export const readPolicy = (): Promise<PolicyView> => get("/queue/policy");

/** New values by knob; null is the default again. */
export type PolicyValues = Record<string, KnobValue | null>;

export const savePolicy = (values: PolicyValues): Promise<PolicyView> => put("/queue/policy", { values });

/** How long the latest jobs would have waited with a workspace as it is to be. */
export const simulateWorkspace = (name: string, body: WorkspaceBody): Promise<PolicyEffect> =>
  post("/queue/policy/simulate", { workspaces: { [name]: body } });

export const simulatePolicy = (values: PolicyValues, signal?: AbortSignal): Promise<PolicyEffect> =>
  post("/queue/policy/simulate", { values }, { signal });
