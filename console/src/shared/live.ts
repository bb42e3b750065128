/**
 * One feed for the whole console: changes of jobs flow into the query cache, so every page that shows a job is live.
 *
 * Jobs already on a page are replaced in place (no flicker); what a change means for filters, counts and order is asked
 * of the server again, at most once a second.
 */
import { type InfiniteData, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Feed, type FeedStatus } from "../api/feed";
import { listJobs } from "../api/jobs";
import type { Job, JobDetail, JobPage } from "../api/types";

const FLUSH_MS = 120;
const REFETCH_MS = 1000;
const PATIENCE_MS = 15_000;

/** What follows from jobs besides the list, and what from machines: answers of the server, asked again. */
const BY_JOBS = ["home", "queue", "timeline", "resources", "use", "node"] as const;
const BY_MACHINES = ["cluster", "nodes", "pools", ...BY_JOBS] as const;

/** Jobs that are being deleted: nothing is asked about them any more, for the page leaves them a moment later than the server. */
const leaving = new Set<string>();

/** Begin to delete jobs; call what is returned when they were not. */
export function leave(client: QueryClient, ids: string[]): () => void {
  for (const id of ids) {
    leaving.add(id);
    for (const key of ["job", "events"]) void client.cancelQueries({ queryKey: [key, id] });
  }
  return () => {
    for (const id of ids) leaving.delete(id);
  };
}

/** Replace jobs by newer versions of themselves; the same object comes back when nothing changed. */
export function patchPages(
  data: InfiniteData<JobPage> | undefined,
  fresh: ReadonlyMap<string, Job>,
): InfiniteData<JobPage> | undefined {
  if (!data) return data;
  let touched = false;
  const pages = data.pages.map((page) => {
    if (!page.items.some((job) => fresh.has(job.id))) return page;
    touched = true;
    return { ...page, items: page.items.map((job) => newer(job, fresh.get(job.id))) };
  });
  return touched ? { ...data, pages } : data;
}

/** What was heard in place of what is shown. A star is no event: what was heard may have been read before it was set. */
function newer<T extends Job>(old: T, fresh: Job | undefined): T {
  return fresh && fresh.version >= old.version ? { ...old, ...fresh, favorite: old.favorite } : old;
}

/** What the feed says, brought to what is shown. */
export class Inbox {
  private readonly jobs = new Map<string, Job>();
  private flushTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly refetchTimers = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly refetchedAt = new Map<string, number>();
  private readonly client: QueryClient;
  /** By job: up to which event it was seen. What changes without one, how far it is, moves no list. */
  private readonly versions = new Map<string, number>();
  private readonly reading = new Set<string>();
  private readonly again = new Set<string>();
  private closed = false;

  constructor(client: QueryClient) {
    this.client = client;
  }

  job(job: Job): void {
    this.jobs.set(job.id, job);
    this.flushTimer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  deleted(id: string): void {
    for (const key of ["jobs", ...BY_JOBS]) this.refetchSoon([key]);
    this.client.removeQueries({ queryKey: ["job", id] });
    this.versions.delete(id);
  }

  /** The feed has a gap: everything on screen is read again. */
  reset(): void {
    for (const key of ["jobs", "job", "events", ...BY_MACHINES]) this.refetchSoon([key]);
  }

  notices(): void {
    this.refetchSoon(["notices"]);
  }

  cluster(): void {
    for (const key of BY_MACHINES) this.refetchSoon([key]);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.flushTimer);
    for (const timer of this.refetchTimers.values()) clearTimeout(timer);
  }

  private flush(): void {
    this.flushTimer = undefined;
    const fresh = new Map(this.jobs);
    this.jobs.clear();
    this.client.setQueriesData<InfiniteData<JobPage>>({ queryKey: ["jobs"] }, (data) => patchPages(data, fresh));
    let moved = false;
    for (const job of fresh.values()) {
      moved ||= this.versions.get(job.id) !== job.version;
      this.versions.set(job.id, job.version);
      const before = this.client.getQueryData<JobDetail>(["job", job.id]);
      if (!before) continue;
      this.client.setQueryData<JobDetail>(["job", job.id], newer(before, job));
      if (before.version !== job.version) {
        this.refetchSoon(["job", job.id]);
        this.refetchSoon(["events", job.id]);
      }
    }
    if (moved) for (const key of ["jobs", ...BY_JOBS]) this.refetchSoon([key]);
  }

  /**
   * At once, then at most once a second per key, the last change always included. What is read already is waited for,
   * or a slow server would be asked again and again and never heard. What is not on screen is only marked stale.
   */
  private refetchSoon(queryKey: string[]): void {
    const key = queryKey.join("/");
    if (this.refetchTimers.has(key)) {
      if (this.reading.has(key)) this.again.add(key);
      return;
    }
    const wait = Math.max(0, (this.refetchedAt.get(key) ?? 0) + REFETCH_MS - Date.now());
    this.refetchTimers.set(
      key,
      setTimeout(() => void this.refetch(key, queryKey), wait),
    );
  }

  private async refetch(key: string, queryKey: string[]): Promise<void> {
    this.refetchedAt.set(key, Date.now());
    if (!queryKey.some((part) => leaving.has(part))) {
      this.reading.add(key);
      const patience = new Promise((done) => setTimeout(done, PATIENCE_MS)); // an answer may never come
      await Promise.race([this.client.invalidateQueries({ queryKey }), patience]);
      this.reading.delete(key);
    }
    this.refetchTimers.delete(key);
    if (this.again.delete(key) && !this.closed) this.refetchSoon(queryKey);
  }
}

/** Keep the feed open while mounted; returns its status for the header. */
export function useLiveFeed(): FeedStatus {
  const client = useQueryClient();
  const [status, setStatus] = useState<FeedStatus>("connecting");
  useEffect(() => {
    const inbox = new Inbox(client);
    let feed: Feed | null = null;
    let gone = false;
    const start = (after: string): void => {
      if (gone) return;
      feed = new Feed({
        path: "/feed",
        after,
        onStatus: (now) => {
          setStatus(now);
          if (now === "live") inbox.notices(); // what was told meanwhile
        },
        events: {
          job: (data) => inbox.job(data as Job),
          deleted: (data) => inbox.deleted((data as { id: string }).id),
          cluster: () => inbox.cluster(),
          notices: () => inbox.notices(),
          reset: () => inbox.reset(),
        },
      });
    };
    const begin = async (): Promise<void> => {
      try {
        // The feed begins where an answer was made.
        start((await listJobs({ limit: 1 }, null)).seq);
      } catch {
        setStatus("waiting");
        if (!gone) setTimeout(() => void begin(), 3000);
      }
    };
    void begin();
    return () => {
      gone = true;
      feed?.close();
      inbox.close();
    };
  }, [client]);
  return status;
}
