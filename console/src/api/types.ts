/**
 * The shapes of docs/design/api.md, by the names the console uses. Generated from the server's contract (`scripts/types`);
 * only what the contract leaves open is narrowed here. Times are seconds since the epoch, memory MiB, fractions 0..1.
 */
import type { components } from "./schema";

/** The contract lets every answer grow; code may only use what it names. Pure maps (metrics, labels) stay maps. */
type Names<T> = { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] };
type Known<T> = T extends (infer U)[] ? Known<U>[]
  : T extends object ? (keyof Names<T> extends never ? { [K in keyof T]: Known<T[K]> } : { [K in keyof Names<T>]: Known<Names<T>[K]> })
    : T;

type S = { [K in keyof components["schemas"]]: Known<components["schemas"][K]> };

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
export type Bilingual = S["Text"];

export const STATES = [
  "queued", "initialising", "pending", "running", "saving", "retained", "stopping", "succeeded", "failed", "stopped", "expired",
] as const satisfies readonly S["Job"]["state"][];
export type State = S["Job"]["state"];
export const ENDED: ReadonlySet<string> = new Set<State>(["succeeded", "failed", "stopped", "expired"]);

/** Rule and remedy are in the reader's language. */
export type Problem = Pick<S["ProblemItem"], "path" | "rule" | "remedy"> & { code?: string };
export type Sandbox = { kind: string; detail?: string };
export type NewSession = Session & { key: string; browser: string };
export type Session = Omit<S["Session"], "server"> & { server: Omit<S["Server"], "sandbox"> & { sandbox: Sandbox | string } };
export type Reason = S["Reason"];
export type Verdict = S["Verdict"];
export type Progress = S["Progress"];
export type Job = S["Job"];
export type RoleView = Omit<S["Role"], "command"> & { command: string | string[] };
export type TaskView = S["Task"];
export type AttemptView = S["Attempt"] & { retained_until?: number | null };
export type JobDetail = Omit<S["JobDetail"], "spec" | "roles" | "attempt_list"> & { spec: JsonObject; roles: RoleView[]; attempt_list: AttemptView[] };
export type JobPage = Omit<S["JobPage"], "counts"> & { counts: Partial<Record<State, number>> };

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

export type JobEvent = Omit<S["Event"], "data"> & { data: Record<string, Json> };
export type Explanation = S["Explanation"];
export type Bulk = S["Outcome"];
export type Preview = Omit<S["Preview"], "problems" | "warnings" | "spec"> & { problems: Problem[]; warnings: Problem[]; spec: JsonObject | null };
export type Submission = { spec: Json; dialect?: S["Submission"]["dialect"] };
/** `instead_of`: a waiting job that would wait no longer; `suggest`: say what would start it sooner. */
export type Question = Submission & Partial<Pick<S["Question"], "instead_of" | "suggest">>;
export type Suggestion = S["Suggestion"];
export type LogChunk = S["LogWindow"];
export type LogHits = S["LogHits"];
export type UsageSeries = { t: number[]; [column: string]: (number | null)[] };
export type Usage = { tasks: Record<string, UsageSeries>; limits: S["Usage"]["limits"] };
export type MetricSeries = Omit<S["Series"], "t"> & { t: number[] };
export type Metrics = { series: MetricSeries[]; last: S["Metrics"]["last"] };
export type FileItem = S["File"];
export type FilePage = S["Files"];
export type Gpu = S["Card"];
export type NodeTask = S["NodeTask"];
export type NodeView = Omit<S["Node"], "facts"> & { facts: Record<string, string> };
export type Cluster = Omit<S["Cluster"], "nodes" | "sandbox"> & { nodes: NodeView[]; sandbox: Sandbox };
export type ModelItem = S["Model"] & { versions: number; latest: number | null };
export type ModelVersion = Omit<S["ModelVersion"], "metrics"> & { metrics: Record<string, number> | null };
export type ModelDetail = Omit<S["ModelDetail"], "versions"> & { versions: ModelVersion[] };
export type QueuePage = S["QueuePage"];
export type Waiting = S["Waiting"];
export type Forecast = S["Forecast"];
export type CardDemand = S["CardDemand"];
export type Timeline = S["Timeline"];
export type TimelineBar = S["Bar"];
export type TimelineNode = S["TimelineNode"];
export type WouldStart = S["WouldStart"];
export type KnobValue = number | boolean | string;
export type Knob = Omit<S["Knob"], "value" | "default"> & { value: KnobValue; default: KnobValue };
export type PolicyView = Omit<S["PolicyView"], "knobs"> & { knobs: Knob[] };
export type PolicyEffect = S["PolicyEffect"];
export type WaitFigures = S["WaitFigures"];
export type Engine = S["Engine"];
export type ResourcePool = S["ResourcePool"];
export type VirtualCluster = S["VirtualCluster"];
export type Share = S["Share"];
export type Workspace = S["Workspace"];
export type Flavor = S["Flavor"];
export type NodeDetail = S["NodeDetail"];
export type NodeRow = S["NodeRow"];
export type ClusterResources = S["ClusterResources"];
export type Token = S["Token"];
export type Uploaded = S["Upload"];

export interface Option {
  type: string;
  minimum: number;
  maximum: number;
  title: Bilingual;
}

export type Meta = Omit<S["Meta"], "priorities" | "frameworks" | "limits"> & {
  priorities: { code: string; title: Bilingual }[];
  frameworks: { kind: string; title: Bilingual; options: Record<string, Option> }[];
  limits: Record<string, number | null>;
};
