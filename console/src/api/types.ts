/** The shapes of docs/design/api.md. Times are seconds since the epoch, durations seconds, memory MiB, fractions 0..1. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
export type Bilingual = { zh: string; en: string };

export const STATES = [
  "queued", "initialising", "running", "saving", "retained", "stopping", "succeeded", "failed", "stopped", "expired",
] as const;
export type State = (typeof STATES)[number];
export const ENDED: ReadonlySet<string> = new Set<State>(["succeeded", "failed", "stopped", "expired"]);

export interface Problem {
  path: string;
  rule: string;
  remedy: string;
  code?: string;
  value?: Json;
  /** What fills the texts of `code` in either language. */
  args?: Record<string, Json>;
}

export interface Session {
  user: { name: string; role: string; must_change_password: boolean; locale?: string | null };
  csrf: string;
  server: { version: string; sandbox: string | { kind: string; detail?: string }; name?: string };
}

export interface Reason {
  code: string;
  message: Bilingual;
  evidence?: Record<string, Json>;
  position?: number | null;
}

export interface Verdict {
  code: string;
  title?: Bilingual;
  message?: string;
  evidence?: string;
  role?: string | number | null;
  index?: number | null;
  exit_code?: number | null;
  signal?: number | null;
}

export interface Progress {
  fraction: number | null;
  step?: number | null;
  of?: number | null;
  eta_s?: number | null;
}

export interface Job {
  id: string;
  name: string;
  slug: string | null;
  state: State;
  queue_state: string;
  pai_state: string;
  owner: string;
  workspace: string;
  pool: string;
  priority: string;
  framework: string;
  dialect: string;
  description: string;
  submitted_at: number;
  queued_at: number;
  started_at: number | null;
  ended_at: number | null;
  run_s: number | null;
  wait_s: number | null;
  duration_s: number | null;
  expires_at: number | null;
  attempts: number;
  retries: { used: number; limit: number };
  tasks: { total: number; waiting: number; running: number; succeeded: number; failed: number; lost: number };
  resources: { cpu: number; memory_mib: number; gpu: number; gpu_type: string | null };
  nodes: string[];
  reason: Reason | null;
  verdict: Verdict | null;
  model: string | null;
  progress: Progress | null;
  metrics: Record<string, number>;
  labels: Record<string, string>;
  version: number;
  seq: number;
}

export interface RoleView {
  name: string;
  system_name: string;
  replicas: number;
  command: string;
  resources: { cpu: number; memory_mib: number; gpu: number; gpu_type: string | null; shm_mib: number };
  ports: { label: string; count: number; begin_at: number }[];
  min_succeeded: number | null;
  min_failed: number | null;
  main: boolean;
  ends_job: boolean;
}

export interface TaskView {
  name: string;
  role: string;
  role_index: number;
  index: number;
  phase: "waiting" | "running" | "exited" | "lost";
  node: string;
  host: string;
  gpus: number[];
  ports: Record<string, number[]>;
  exit_code: number | null;
  signal: number | null;
  started_at: number | null;
  ended_at: number | null;
  verdict: Verdict | null;
}

export interface AttemptView {
  number: number;
  cause: string;
  phase: string;
  why: string | null;
  created_at: number;
  started_at: number | null;
  draining_at: number | null;
  ended_at: number | null;
  verdict: Verdict | null;
  tasks: TaskView[];
}

export interface JobDetail extends Job {
  roles: RoleView[];
  attempt_list: AttemptView[];
  warnings: { code: string; message: string }[];
  spec: JsonObject;
  extras?: Json;
}

export interface JobPage {
  items: Job[];
  next_cursor: string | null;
  counts: Partial<Record<State, number>>;
  seq: number;
}

export interface JobQuery {
  state?: State[];
  q?: string;
  owner?: string;
  framework?: string;
  pool?: string;
  node?: string;
  order?: string;
  limit?: number;
}

export interface JobEvent {
  seq: number;
  at: number;
  actor: string;
  attempt: number;
  kind: string;
  title: Bilingual;
  data: Record<string, Json>;
}

export interface Explanation {
  state: string;
  reason: Reason | null;
  position: number | null;
  ahead: number | null;
  evidence: Record<string, Json>;
  suggestions: { message: Bilingual; change?: Json }[];
  verdict: Verdict | null;
}

export interface Bulk {
  done: string[];
  refused: { id: string; title: string; code: string }[];
}

export interface Preview {
  ok: boolean;
  problems: Problem[];
  warnings: Problem[];
  spec: JsonObject | null;
  fits: {
    when: "now" | "queue" | "never";
    reason: { code: string; message: Bilingual } | null;
    placement: { task: string; node: string; gpus: number[] }[];
  } | null;
  roles: { name: string; command: string; tasks: { name: string; argv: string[]; env: Record<string, string> }[] }[];
  native: Json;
}

export interface Submission {
  spec: Json | string;
  dialect?: "auto" | "native" | "pai";
  set?: Record<string, string>;
}

export interface LogChunk {
  offset: number;
  next_offset: number;
  size: number;
  text: string;
  cut: { offset: number; length: number }[];
  ended: boolean;
  first_line?: number | null;
}

export interface LogHits {
  items: { offset: number; line: number | null; text: string }[];
  next_offset: number;
  done: boolean;
}

export interface UsageSeries {
  t: number[];
  [column: string]: (number | null)[];
}

export interface Usage {
  tasks: Record<string, UsageSeries>;
  limits: Record<string, { cpu?: number | null; memory_mib?: number | null; gpu?: number | null }>;
}

export interface MetricSeries {
  name: string;
  source: string;
  attempt: number;
  task: string;
  steps: (number | null)[];
  t: number[];
  values: (number | null)[];
}

export interface Metrics {
  series: MetricSeries[];
  last: Record<string, number>;
}

export interface FileItem {
  name: string;
  path: string;
  kind: string;
  size: number;
  modified_at: number | null;
}

export interface FilePage {
  path: string;
  items: FileItem[];
}

export interface Gpu {
  index: number;
  model: string;
  job: string | null;
  task: string | null;
  utilisation: number | null;
  memory_mib: number | null;
  memory_total_mib: number | null;
}

export interface NodeTask {
  job: string;
  name: string;
  owner: string;
  task: string;
  cpu: number;
  memory_mib: number;
  gpus: number[];
}

export interface NodeView {
  name: string;
  host: string;
  pool: string;
  schedulable: boolean;
  reason: string;
  simulated: boolean;
  facts: Record<string, string>;
  cpu: { used: number; total: number };
  memory_mib: { used: number; total: number };
  gpus: Gpu[];
  tasks: NodeTask[];
}

export interface Cluster {
  nodes: NodeView[];
  pools: { name: string }[];
  queue: { waiting: number; running: number };
  sandbox: { kind: string; detail: string };
  engine: Json;
}

export interface ModelItem {
  id: string;
  name: string;
  owner: string;
  versions: number;
  latest: number | null;
  created_at: number;
}

export interface ModelVersion {
  version: number;
  digest: string;
  size_bytes: number;
  files: number;
  created_at: number;
  job: string | null;
  attempt: number | null;
  path: string;
  metrics: Record<string, number> | null;
}

export interface ModelDetail {
  id: string;
  name: string;
  owner: string;
  versions: ModelVersion[];
}

export interface Token {
  id: string;
  name: string;
  created_at?: number;
  expires_at?: number | null;
  used_at?: number | null;
}

export interface Option {
  type: string;
  minimum: number;
  maximum: number;
  title: Bilingual;
}

export interface Meta {
  states: Record<string, Bilingual>;
  priorities: { code: string; title: Bilingual }[];
  frameworks: { kind: string; title: Bilingual; options: Record<string, Option> }[];
  verdicts: Record<string, Bilingual & { fault: string }>;
  /** Rule and remedy of every problem code, as templates for its args. */
  problems?: Record<string, { rule: Bilingual; remedy: Bilingual }>;
  limits: Record<string, number | null>;
  defaults: Record<string, Json>;
}
