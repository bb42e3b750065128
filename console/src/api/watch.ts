/** Watching a job: logs, usage, metrics, output files. */
import { bytes, get, type Part, url } from "./client";
import type { FilePage, LogChunk, LogHits, Metrics, Usage } from "./types";

export interface TaskAddress {
  job: string;
  attempt: number;
  task: string;
}

const at = (a: TaskAddress): string =>
  `/jobs/${encodeURIComponent(a.job)}/attempts/${a.attempt}/tasks/${encodeURIComponent(a.task)}/log`;

export const readLog = (a: TaskAddress, offset: number, limit: number, signal?: AbortSignal): Promise<LogChunk> =>
  get(at(a), { offset, limit, times: true }, signal);

export const readLogLine = (a: TaskAddress, line: number, count: number, signal?: AbortSignal): Promise<LogChunk> =>
  get(at(a), { line, count, times: true }, signal);

/** The last lines, for a glance. */
export const readLogTail = (a: TaskAddress, lines: number, signal?: AbortSignal): Promise<LogChunk> =>
  get(at(a), { tail: lines }, signal);

export const searchLog = (
  a: TaskAddress,
  q: string,
  regex: boolean,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<LogHits> => get(`${at(a)}/search`, { q, regex, offset, limit }, signal);

export const logDownloadUrl = (a: TaskAddress): string => url(`${at(a)}/download`);
export const allLogsUrl = (job: string): string => url(`/jobs/${encodeURIComponent(job)}/logs.zip`);

export const readUsage = (job: string, attempt: number | "last", points: number): Promise<Usage> =>
  get(`/jobs/${encodeURIComponent(job)}/usage`, { attempt, points });

export const readMetrics = (job: string, points: number): Promise<Metrics> =>
  get(`/jobs/${encodeURIComponent(job)}/metrics`, { points });

export const listFiles = (job: string, path: string): Promise<FilePage> =>
  get(`/jobs/${encodeURIComponent(job)}/files`, { path });

export const folderUrl = (job: string, path: string): string =>
  url(`/jobs/${encodeURIComponent(job)}/files/download`, { path });

/** A file to look at, or a part of it. */
export const readFile = (job: string, path: string, signal?: AbortSignal, part?: Part): Promise<Blob> =>
  bytes(`/jobs/${encodeURIComponent(job)}/files/content`, { path }, signal, part);

export const fileUrl = (job: string, path: string): string =>
  url(`/jobs/${encodeURIComponent(job)}/files/content`, { path });
