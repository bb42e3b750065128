/** The machines, and what forms need to know about the platform. */
import { get } from "./client";
import type { Cluster, Meta } from "./types";

export const readCluster = (): Promise<Cluster> => get("/cluster");
export const readMeta = (): Promise<Meta> => get("/meta");
