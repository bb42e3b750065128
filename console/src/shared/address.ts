/** What the addresses of pages hold after the question mark: the router reads it, pages change it. */

export interface JobsSearch {
  q?: string;
  /** States, with commas between them. */
  state?: string;
  /** Whose: one's own, or everybody's; absent: as last time. */
  who?: "mine" | "all";
  owner?: string;
  workspace?: string;
  pool?: string;
  framework?: string;
  node?: string;
  tag?: string;
  /** Only the favorites of who looks. */
  favorite?: boolean;
  /** The id of a sweep: only its entries. */
  sweep?: string;
  /** An algorithm, or NAME@VERSION; or only of the favorites among them. */
  algorithm?: string;
  favorite_algorithm?: boolean;
  flavor?: string;
  /** A place of object storage that results go to, or the model that they become. */
  output?: string;
  /** Columns in order, with commas between them; absent: as this browser keeps them. */
  columns?: string;
  /** Submitted since: so long ago (7d), or a day (2026-11-01); until: a day, which is included. */
  since?: string;
  until?: string;
  order?: string;
}

export const JOB_TABS = ["overview", "logs", "metrics", "usage", "events", "files", "lineage", "json"] as const;
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
  /** What is open of its files: a folder ends with a slash. */
  path?: string;
}

/** A version of a data set or a model, and what is open of its files. */
export interface FilesSearch {
  version?: number;
  path?: string;
}

export const COMPARE_TABS = ["differences", "curves", "parameters", "code"] as const;
export type CompareTab = (typeof COMPARE_TABS)[number];

export interface CompareSearch {
  /** Ids, slugs, or versions of models. */
  job?: string[];
  tab?: CompareTab;
  /** Metrics that are drawn; none: the one that says most. */
  metric?: string[];
  x?: "epoch" | "relative" | "time";
  /** In hundredths. */
  smooth?: number;
  log?: boolean;
  /** What is the same, too. */
  all?: boolean;
  /** The column of the results by which they are ordered, with - in front for descending. */
  order?: string;
  /** Which value of the drawn metric is the best, where its name does not say it or says it wrong. */
  best?: "min" | "max";
  /** The parameter and the metric that are drawn against each other. */
  by?: string;
  of?: string;
  /** The two jobs whose code is compared. */
  base?: string;
  other?: string;
}

/** How curves over each other are drawn. */
export type Drawn = Pick<CompareSearch, "metric" | "x" | "smooth" | "log">;

export const SWEEP_TABS = ["entries", "curves", "parameters"] as const;

/** A sweep: what is shown of it, and how it is drawn, as jobs side by side are. */
export interface SweepSearch extends Drawn, Pick<CompareSearch, "by" | "of"> {
  tab?: (typeof SWEEP_TABS)[number];
  /** The order of its entries; absent: the best first. */
  order?: string;
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

export interface UsageSearch {
  /** YYYY-MM; absent: this month. */
  month?: string;
  workspace?: string;
}

export interface AuditSearch {
  /** A kind of thing, or one: `job:<id>`, `workspace:vision`. */
  subject?: string;
  by?: string;
  kind?: string;
  workspace?: string;
  actor?: string;
  /** So long ago: 7d. */
  since?: string;
}

export const ADMIN_TABS = ["overview", "nodes", "pools", "workspaces", "users", "flavors", "policy"] as const;
export type AdminTab = (typeof ADMIN_TABS)[number];

export interface NoticesSearch {
  kind?: string;
  unread?: boolean;
}

export const SETTINGS_TABS = ["account", "notifications"] as const;
export type SettingsTab = (typeof SETTINGS_TABS)[number];

/**
 * What the form begins with: a clone of a job, a session with what it runs with, a training with what a session has, or a
 * template, which `edit` changes.
 */
export interface SubmitSearch {
  clone?: string;
  set?: string;
  session?: string;
  train?: string;
  template?: string;
  edit?: true;
  sweep?: true;
}
