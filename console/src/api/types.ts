/**
 * The shapes of the API, by the names the console uses. Generated from the server's contract (`scripts/types`);
 * only what the contract leaves open is narrowed here. Times are seconds since the epoch, memory MiB, fractions 0..1.
 */
import type { components } from "./schema";

type S = components["schemas"];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
export type Bilingual = S["Text"];

export const STATES = [
  "queued",
  "initialising",
  "pending",
  "running",
  "saving",
  "retained",
  "stopping",
  "succeeded",
  "failed",
  "stopped",
  "expired",
] as const satisfies readonly S["Job"]["state"][];
export type State = S["Job"]["state"];
export const ENDED: ReadonlySet<string> = new Set<State>(["succeeded", "failed", "stopped", "expired"]);

/** Rule and remedy are in the reader's language. */
export type Problem = Pick<S["ProblemItem"], "path" | "rule" | "remedy"> &
  Partial<Pick<S["ProblemItem"], "code" | "args">>;
export type Sandbox = S["Sandbox"];
export type NewSession = S["NewSession"];
export type Session = S["Session"];
export type Reason = S["Reason"];
export type Verdict = S["Verdict"];
export type Progress = S["Progress"];
export type Job = S["Job"];
export type RoleView = S["Role"];
export type TaskView = S["Task"];
export type AttemptView = S["Attempt"];
export type UploadTarget = S["OutputTarget"];
export type JobDetail = Omit<S["JobDetail"], "spec"> & { spec: JsonObject };
export type JobPage = S["JobPage"];

export interface JobQuery {
  state?: State[];
  q?: string;
  owner?: string;
  tag?: string[];
  favorite?: boolean;
  /** The id of one: its entries. */
  sweep?: string;
  algorithm?: string;
  favorite_algorithm?: boolean;
  flavor?: string;
  output?: string;
  /** Count all that match, however many there are. */
  exact?: boolean;
  mine?: boolean;
  workspace?: string;
  framework?: string;
  pool?: string;
  node?: string;
  since?: number;
  until?: number;
  order?: string;
  limit?: number;
}

/** What a list is cut to, without order and page. */
export type JobFilter = Omit<JobQuery, "order" | "limit">;
export type JobFacets = S["JobFacets"];
export type JobVersions = S["JobVersions"];
export type FacetValue = S["FacetValue"];
export type SavedView = S["SavedView"];
export type Found = S["Search"];
/** Several jobs: by id, or all of a filter, of which there were so many. */
export type Chosen = { ids: string[] } | { filter: JobFilter; expected: number };

export type JobEvent = Omit<S["Event"], "data"> & { data: Record<string, Json> };
export type Explanation = S["Explanation"];
export type Bulk = S["Outcome"];
export type Preview = Omit<S["Preview"], "problems" | "warnings" | "spec"> & {
  problems: Problem[];
  warnings: Problem[];
  spec: JsonObject | null;
};
/** `instead_of`: a queued job that is stopped as this one is taken in. `version_of`: a job whose next version it is. */
export type Submission = { spec: Json } & Partial<Pick<S["Submission"], "dialect" | "instead_of" | "version_of">>;
/** `suggest`: say what would start it sooner. */
export type Question = Submission & Partial<Pick<S["Question"], "suggest">>;
export type Suggestion = S["Suggestion"];
export type LogChunk = S["LogWindow"];
export type LogHits = S["LogHits"];
export type UsageSeries = { t: number[]; [column: string]: (number | null)[] };
export type Usage = { tasks: Record<string, UsageSeries>; limits: S["Usage"]["limits"] };
export type MetricSeries = Omit<S["Series"], "t"> & { t: number[] };
export type Metrics = { series: MetricSeries[]; last: S["Metrics"]["last"] };
export type Comparison = S["Comparison"];
export type ComparedRow = S["ComparedRow"];
export type ComparedMetric = S["ComparedMetric"];
export type Scalar = ComparedRow["values"][number];
export type Overlay = { jobs: { id: string; roles: string[]; series: MetricSeries[] }[] };
export type CodeDiff = S["CodeDiff"];
export type FileDiff = S["FileDiff"];
export type FileItem = S["File"];
export type FilePage = S["Files"];
export type Gpu = S["Card"];
export type NodeTask = S["NodeTask"];
export type NodeView = S["Node"];
export type Privacy = S["Privacy"];
export type Cluster = S["Cluster"];
export type Template = S["Template"];
export type TemplatePage = S["TemplatePage"];
export type TemplateDetail = Omit<S["TemplateDetail"], "spec"> & { spec: JsonObject };
export type Dataset = S["Dataset"];
export type DatasetPage = S["DatasetPage"];
export type DatasetDetail = S["DatasetDetail"];
export type DatasetVersion = S["DatasetVersion"];
export type Published = S["Published"];
export type PublishedPage = S["PublishedPage"];
export type Subscription = S["Subscription"];
export type Subscriptions = S["Subscriptions"];
export type TakenName = S["TakenName"];
export type Volume = S["Volume"];
export type VolumePage = S["VolumePage"];
export type VolumeDetail = S["VolumeDetail"];
export type DatasetUpload = S["DatasetUpload"];
export type MadeVersion = S["MadeVersion"];
export type Received = S["Received"];
export type Algorithm = S["Algorithm"];
export type AlgorithmPage = S["AlgorithmPage"];
export type AlgorithmDetail = Omit<S["AlgorithmDetail"], "spec"> & { spec: JsonObject };
/** A value that a job may set (trainmaster/spec/algorithms). */
export interface Hyperparameter {
  name: string;
  type: "int" | "float" | "str" | "bool";
  default: string | number | boolean | null;
  min: number | null;
  max: number | null;
  choices: (string | number | boolean)[];
  required: boolean;
  editable: boolean;
  deletable: boolean;
  description: string;
}
export interface Channel {
  name: string;
  given: "argument" | "variable";
  description: string;
}
export interface InputChannel extends Channel {
  required: boolean;
  kinds: ("dataset" | "model" | "path" | "volume" | "s3")[];
}
export interface OutputChannel extends Channel {
  to: "outputs" | "model";
  folder: string | null;
}
export interface AlgorithmSpec {
  command: string;
  code: { upload: string | null } | null;
  origin?: { git: string; commit: string; folder: string | null } | null;
  framework: { kind: string; [option: string]: Json };
  image: string;
  parameters: Hyperparameter[];
  custom_parameters: boolean;
  inputs: InputChannel[];
  outputs: OutputChannel[];
  flavors: string[];
  runs_on: string[];
  max_replicas: number | null;
}
export type Image = S["Image"];
export type ImagePage = S["ImagePage"];
export type ImageDetail = S["ImageDetail"];
export type ImagePackage = S["ImagePackage"];
export type ImageBuild = S["ImageBuild"];
export type ImageBuilds = S["ImageBuilds"];
export type Sweep = S["Sweep"];
export type SweepPage = S["SweepPage"];
export type SweepDetail = Omit<S["SweepDetail"], "spec"> & { spec: JsonObject };
export type SweepEntry = Omit<S["SweepEntry"], "parameters"> & { parameters: JsonObject };
export type SweepEntries = Omit<S["SweepEntryPage"], "items"> & { items: SweepEntry[] };
export type SweepPreview = Omit<S["SweepPreview"], "problems" | "job"> & { problems: Problem[]; job: Preview | null };
export type Binned = S["BinEntry"];
export type BinPage = S["BinPage"];
export type Restored = S["Restored"];
export type Lineage = S["Lineage"];
export type LineageNode = S["LineageNode"];
export type LineageAsked = Exclude<LineageNode["kind"], "storage">;
export type ModelItem = S["Model"];
export type ModelPage = S["ModelPage"];
export type ModelVersion = S["ModelVersion"];
export type ModelDetail = S["ModelDetail"];
export type QueuePage = S["QueuePage"];
export type Waiting = S["Waiting"];
export type Forecast = S["Forecast"];
export type CardDemand = S["CardDemand"];
export type Timeline = S["Timeline"];
export type TimelineBar = S["Bar"];
export type TimelineNode = S["TimelineNode"];
export type WouldStart = S["WouldStart"];
export type Knob = S["Knob"];
export type KnobValue = Knob["value"];
export type PolicyView = S["Policy"];
export type PolicyEffect = S["PolicyEffect"];
export type WaitFigures = S["WaitFigures"];
export type Engine = S["Engine"];
export type ResourcePool = S["ResourcePool"];
export type VirtualCluster = S["VirtualCluster"];
export type Share = S["Share"];
export type Workspace = S["Workspace"];
export type StorageUse = S["Storage"];
export type Flavor = S["Flavor"];
export type NodeDetail = S["NodeDetail"];
export type NodeRow = S["NodeRow"];
export type ClusterResources = S["ClusterResources"];
export type ClusterUse = S["ClusterUse"];
export type ClusterPast = S["ClusterPast"];
export type UseRow = S["UseRow"];
export type Token = S["Token"];
export type BrowserSession = S["BrowserSession"];
export type JobShare = S["JobShare"];
export type Uploaded = S["Upload"];
export type Account = S["Account"];
export type Membership = S["Membership"];
export type NewAccount = S["NewAccount"];
export type OneTimePassword = S["OneTimePassword"];
export type Member = S["Member"];
export type Invitation = S["Invitation"];
export type NewInvitation = S["NewInvitation"];
export type InvitationPage = S["InvitationPage"];
export type SignInWays = S["SignInWays"];
export type Secret = S["Secret"];
export type Connection = S["Connection"];
export type ConnectionBody = S["ConnectionBody"];
export type ConnectionCheck = S["ConnectionCheck"];
export type SshKey = S["SshKey"];
export type SshKeys = S["SshKeys"];
export type AuditEvent = S["AuditEvent"];
export type AuditPage = S["AuditPage"];

export type Notice = S["Notice"];
export type NoticePage = S["NoticePage"];
export type NoticeSettings = S["NoticeSettings"];
export type Webhook = S["Webhook"];
export type NewWebhook = S["NewWebhook"];
export type Delivery = S["Delivery"];

export type UsageReport = S["UsageReport"];
export type ReportLine = S["ReportLine"];
export type ReportDay = S["ReportDay"];
export type Balance = S["Balance"];
export type Entry = S["Entry"];
export type EntryPage = S["EntryPage"];

export type Option = S["FrameworkOption"];
export type Meta = S["Meta"];

export type Home = S["Home"];
export type FreePool = S["FreePool"];
export type HomeWorkspace = S["HomeWorkspace"];
export type MonthUse = S["MonthUse"];
export type PersonalLimit = S["PersonalLimit"];
