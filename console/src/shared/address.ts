/** What the addresses of pages hold after the question mark: the router reads it, pages change it. */

export interface JobsSearch {
  q?: string;
  state?: string[];
  owner?: string;
  framework?: string;
  node?: string;
  order?: string;
}

export const JOB_TABS = ["overview", "logs", "metrics", "usage", "events", "files", "json"] as const;
export type JobTab = (typeof JOB_TABS)[number];

export interface JobSearch {
  tab?: JobTab;
  attempt?: number;
  task?: string;
  line?: number;
  find?: string;
  /** Logs of all replicas: in one by time, or beside each other. */
  logs?: "merged" | "side";
  /** Names of the metrics that are drawn; none: all. */
  metrics?: string[];
  axis?: "epoch" | "relative" | "time";
  /** In hundredths. */
  smooth?: number;
  log?: boolean;
  /** Without it the main steps. */
  events?: "all" | "bad" | "people";
}

export interface QueueSearch {
  view?: "list" | "timeline";
  pool?: string;
  model?: string;
  workspace?: string;
  owner?: string;
  mine?: boolean;
}

export interface ClusterSearch {
  flavors?: string[];
  model?: string;
  pool?: string;
  owner?: string;
  q?: string;
}

export const ADMIN_TABS = ["overview", "nodes", "pools", "workspaces", "flavors", "policy"] as const;
export type AdminTab = (typeof ADMIN_TABS)[number];
