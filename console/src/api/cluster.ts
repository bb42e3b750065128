/** The machines and how they are shared: pools, virtual clusters, workspaces, flavors; and what forms need to know about the platform. */
import { get, patch, post, put, remove } from "./client";
import type {
  CardDemand,
  Cluster,
  ClusterPast,
  ClusterResources,
  ClusterUse,
  Engine,
  Flavor,
  Meta,
  NodeDetail,
  NodeView,
  Privacy,
  ResourcePool,
  VirtualCluster,
  Workspace,
} from "./types";

const at = (...names: string[]): string => names.map(encodeURIComponent).join("/");

export const readCluster = (): Promise<Cluster> => get("/cluster");
export const readMeta = (): Promise<Meta> => get("/meta");

export const readPrivacy = (): Promise<Privacy> => get("/cluster/privacy");
export const savePrivacy = (body: Pick<Privacy, "owners_told">): Promise<Privacy> => put("/cluster/privacy", body);

export interface NodesQuery {
  flavors: string[];
  workspace: string;
  pool?: string;
  model?: string;
  owner?: string;
  q?: string;
  offset?: number;
  limit?: number;
}
export const readResources = (query: NodesQuery): Promise<ClusterResources> => get("/cluster/resources", { ...query });
export const readNode = (name: string): Promise<NodeView> => get(`/cluster/nodes/${at(name)}`);
export const readUse = (pool?: string): Promise<ClusterUse> => get("/cluster/use", { pool });
export type PastWindow = "day" | "week";
export const readPast = (window: PastWindow, pool?: string): Promise<ClusterPast> =>
  get("/cluster/past", { window, pool });

export const listEngines = (): Promise<{ items: Engine[] }> => get("/engines");

export const listPools = (workspace?: string): Promise<{ items: ResourcePool[] }> => get("/pools", { workspace });
export type PoolBody = Pick<ResourcePool, "kind" | "workspaces" | "description" | "price_gpu" | "price_cpu">;
export const savePool = (name: string, body: PoolBody): Promise<ResourcePool> => put(`/pools/${at(name)}`, body);
export const deletePool = (name: string): Promise<void> => remove(`/pools/${at(name)}`);

/** By resource: what one is entitled to, and how much at most (null: as much as others leave unused). */
export type Limits = Record<string, { nominal: number; cap: number | null }>;

export const listVirtualClusters = (): Promise<{ items: VirtualCluster[] }> => get("/virtual-clusters");
export const saveVirtualCluster = (
  name: string,
  body: { pool: string; share: Limits; description: string },
): Promise<VirtualCluster> => put(`/virtual-clusters/${at(name)}`, body);
export const deleteVirtualCluster = (name: string): Promise<void> => remove(`/virtual-clusters/${at(name)}`);

export const listWorkspaces = (): Promise<{ items: Workspace[] }> => get("/workspaces");
/** By resource; null: no limit. */
export type Most = Record<string, number | null>;
/** By pool and resource; null: no limit. */
export type MostByPool = Record<string, Most>;
export interface WorkspaceBody {
  weight: number;
  quotas: Record<string, Limits>;
  urgent_per_user: number | null;
  urgent_total: number | null;
  sharing: Workspace["sharing"];
  require_duration: boolean;
  description: string;
  per_person: MostByPool;
  people: Record<string, MostByPool>;
  storage: Most;
  storage_per_person: Most;
  storage_people: Record<string, Most>;
}
export const saveWorkspace = (name: string, body: WorkspaceBody): Promise<Workspace> =>
  put(`/workspaces/${at(name)}`, body);
export type LimitsBody = Pick<WorkspaceBody, "per_person" | "people" | "storage_per_person" | "storage_people">;
export const saveLimits = (name: string, body: LimitsBody): Promise<Workspace> =>
  put(`/workspaces/${at(name)}/limits`, body);
export const deleteWorkspace = (name: string): Promise<void> => remove(`/workspaces/${at(name)}`);

export const listFlavors = (
  workspace: string,
  pool?: string,
): Promise<{ items: Flavor[]; demand: CardDemand[]; currency: string }> => get("/flavors", { workspace, pool });
export type FlavorBody = Omit<Flavor, "name" | "workspace" | "kind">;
export const saveFlavor = (workspace: string, name: string, body: FlavorBody): Promise<Flavor> =>
  put(`/workspaces/${at(workspace, "flavors", name)}`, body);
export const deleteFlavor = (workspace: string, name: string): Promise<void> =>
  remove(`/workspaces/${at(workspace, "flavors", name)}`);

export const listNodes = (): Promise<{ items: NodeDetail[] }> => get("/nodes");
export const moveNode = (name: string, pool: string): Promise<NodeDetail> => patch(`/nodes/${at(name)}`, { pool });
export const cordonNode = (name: string, note: string): Promise<NodeDetail> =>
  post(`/nodes/${at(name)}/cordon`, { note });
export const uncordonNode = (name: string): Promise<NodeDetail> => post(`/nodes/${at(name)}/uncordon`);
export type Evict = "none" | "preemptible" | "all";
export const drainNode = (name: string, note: string, evict: Evict): Promise<NodeDetail> =>
  post(`/nodes/${at(name)}/drain`, { note, evict });
