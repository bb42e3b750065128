import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, get, open, post, url, whenSignedOut } from "../src/api/client";
import { type Ears, type Heard, Parser } from "../src/api/events";
import { Feed, type FeedStatus } from "../src/api/feed";
import { keepKey, sessionKey } from "../src/api/key";
import { signIn, signOut } from "../src/api/session";
import type { AttemptView, Job, JobPage } from "../src/api/types";
import { pieces } from "../src/pages/job/timeline";
import { keyMetric } from "../src/pages/jobs/columns";
import { Inbox, patchPages } from "../src/shared/live";
import { smooth } from "../src/shared/smooth";

class FakeStream {
  static made: FakeStream[] = [];
  constructor(
    readonly address: string,
    readonly ears: Ears,
  ) {
    FakeStream.made.push(this);
  }
  send(event: string, id: string, data: unknown): void {
    this.ears.heard({ event, data: JSON.stringify(data), id });
  }
}

describe("the live feed", () => {
  const seen: unknown[] = [];
  const statuses: FeedStatus[] = [];
  let feed: Feed;
  const newest = (): FakeStream => {
    const source = FakeStream.made[FakeStream.made.length - 1];
    if (!source) throw new Error("nothing was opened");
    return source;
  };
  beforeEach(() => {
    vi.useFakeTimers();
    seen.length = statuses.length = FakeStream.made.length = 0;
    feed = new Feed({
      path: "/feed",
      after: "uSq",
      events: { job: (data) => seen.push(data), reset: () => seen.push("reset") },
      onStatus: (status) => statuses.push(status),
      open: (path, query, ears) => {
        new FakeStream(url(path, query), ears);
        return () => undefined;
      },
    });
  });
  afterEach(() => {
    feed.close();
    vi.useRealTimers();
  });

  it("begins after the list's seq and goes on after the last event it saw", () => {
    expect(newest().address).toBe("/api/v1/feed?after=uSq");
    newest().ears.opened();
    newest().send("job", "Zb-1", { id: "a" });
    newest().ears.ended();
    vi.advanceTimersByTime(1000);
    expect(newest().address).toBe("/api/v1/feed?after=Zb-1");
    expect(seen).toEqual([{ id: "a" }]);
    expect(statuses).toEqual(["connecting", "live", "waiting", "connecting"]);
  });
  it("follows a reset back to where the server is", () => {
    newest().send("job", "Zb-1", { id: "a" });
    newest().send("reset", "A_0", { seq: "A_0" });
    newest().ears.ended();
    vi.advanceTimersByTime(1000);
    expect(newest().address).toBe("/api/v1/feed?after=A_0");
    expect(seen).toEqual([{ id: "a" }, "reset"]);
  });
  it("goes on after the last event, however its mark compares with those before", () => {
    for (const mark of ["9", "10", "zz", "AA"]) newest().send("job", mark, { id: "a" });
    newest().ears.ended();
    vi.advanceTimersByTime(1000);
    expect(newest().address).toBe("/api/v1/feed?after=AA");
  });
  it("begins anew where the server cannot read the mark, and says that there is a gap once it listens again", () => {
    newest().ears.ended(422);
    vi.advanceTimersByTime(1000);
    expect(newest().address).toBe("/api/v1/feed");
    expect(seen).toEqual([]);
    newest().ears.opened();
    expect(seen).toEqual(["reset"]);
    newest().send("job", "Zb-1", { id: "a" });
    newest().ears.ended(503);
    vi.advanceTimersByTime(1000);
    expect(newest().address).toBe("/api/v1/feed?after=Zb-1");
    newest().ears.opened();
    expect(seen).toEqual(["reset", { id: "a" }]);
  });
  it("backs off while the server is away, to a minute at most", () => {
    let waited = 0;
    for (let i = 0; i < 20; i += 1) {
      const before = FakeStream.made.length;
      newest().ears.ended();
      waited = 0;
      while (FakeStream.made.length === before) {
        vi.advanceTimersByTime(500);
        waited += 500;
      }
    }
    expect(waited).toBeGreaterThan(30_000);
    expect(waited).toBeLessThanOrEqual(75_500);
  });
  it("tells the page when what was allowed is so no more", () => {
    const told = vi.fn();
    whenSignedOut(told);
    newest().send("refused", "", { status: 401 });
    expect(told).toHaveBeenCalledTimes(1);
  });
  it("opens nothing once it is closed", () => {
    newest().ears.ended();
    feed.close();
    vi.advanceTimersByTime(120_000);
    expect(FakeStream.made).toHaveLength(1);
  });
});

describe("a stream of events", () => {
  it("is read the same wherever it is cut", () => {
    const text =
      ': stream\n\nid: 7\nevent: job\ndata: {"name":"训练: a"}\n\nevent: ping\ndata: {}\n\nevent: half\ndata: 1\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const heard: Heard[] = [];
      const parser = new Parser((event) => heard.push(event));
      parser.take(text.slice(0, cut));
      parser.take(text.slice(cut));
      expect(heard).toEqual([
        { event: "job", data: '{"name":"训练: a"}', id: "7" },
        { event: "ping", data: "{}", id: "7" },
      ]);
    }
  });
});

describe("changes flow into pages that are shown", () => {
  const page = (...jobs: Partial<Job>[]): JobPage => ({
    items: jobs as Job[],
    next_cursor: null,
    counts: {},
    total: jobs.length,
    partial: false,
    at: 0,
    seq: "here",
  });
  const data = {
    pages: [page({ id: "a", version: 2, state: "queued" }, { id: "b", version: 1, state: "queued" })],
    pageParams: [null],
  };

  it("replaces a job in place and leaves the others as they are", () => {
    const patched = patchPages(data, new Map([["a", { id: "a", version: 3, state: "running" } as Job]]));
    expect(patched?.pages[0]?.items.map((job) => job.state)).toEqual(["running", "queued"]);
    expect(patched?.pages[0]?.items[1]).toBe(data.pages[0]?.items[1]);
  });
  it("never goes back to an older version", () => {
    const patched = patchPages(data, new Map([["a", { id: "a", version: 1, state: "stopped" } as Job]]));
    expect(patched?.pages[0]?.items[0]?.state).toBe("queued");
  });
  it("keeps the star that is shown: what is heard may have been read before it was set", () => {
    const starred = { ...data, pages: [{ items: [{ id: "a", version: 2, favorite: true } as Job] } as JobPage] };
    const patched = patchPages(starred, new Map([["a", { id: "a", version: 2, favorite: false } as Job]]));
    expect(patched?.pages[0]?.items[0]?.favorite).toBe(true);
  });
  it("changes nothing when the job is not on the page", () =>
    expect(patchPages(data, new Map([["z", { id: "z" } as Job]]))).toBe(data));
});

describe("the client", () => {
  const answer = (status: number, body: unknown): void => {
    vi.stubGlobal(
      "fetch",
      vi.fn(async () => new Response(JSON.stringify(body), { status })),
    );
  };
  afterEach(() => vi.unstubAllGlobals());

  it("sends the session's key with everything, as it is now: another tab may have signed in", async () => {
    answer(200, {});
    keepKey("first");
    await get("/jobs");
    keepKey("second");
    await post("/jobs", { a: 1 });
    await open("/feed", {}, new AbortController().signal);
    const calls = vi.mocked(fetch).mock.calls.map(([, init]) => new Headers(init?.headers).get("x-session-key"));
    expect(calls).toEqual(["first", "second", "second"]);
  });
  it("says in which browser somebody signs in again", async () => {
    answer(200, { user: { name: "ann" }, key: "k", browser: "mark of ann" });
    await signIn("ann", "one");
    await signIn("bob", "two");
    await signIn("ann", "three");
    const sent = vi
      .mocked(fetch)
      .mock.calls.map(([, init]) => (JSON.parse(String(init?.body)) as { browser?: string }).browser);
    expect(sent).toEqual([undefined, undefined, "mark of ann"]);
  });
  it("forgets the key when signing out, even from a session that has ended already", async () => {
    keepKey("secret");
    answer(503, {});
    await signOut().catch(() => undefined);
    expect(sessionKey()).toBe("secret");
    answer(401, {});
    await signOut();
    expect(sessionKey()).toBe("");
  });
  it("turns a problem document into an error with remedy and problems", async () => {
    answer(422, {
      title: "The job is not valid: 1 problem",
      status: 422,
      kind: "invalid_spec",
      code: "job_not_valid",
      args: { count: 1 },
      remedy: "Mend it.",
      problems: [{ path: "name", rule: "r", remedy: "m", code: "missing" }],
    });
    const error = await get("/jobs").catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 422,
      code: "job_not_valid",
      remedy: "Mend it.",
      message: "The job is not valid: 1 problem",
      problems: [{ path: "name", code: "missing" }],
    });
  });
  it("survives an answer that is no JSON", async () => {
    vi.stubGlobal(
      "fetch",
      vi.fn(async () => new Response("<html>", { status: 502 })),
    );
    await expect(get("/jobs")).rejects.toMatchObject({ status: 502 });
  });
  it("tells once signed out, but not for the sign-in itself", async () => {
    const told = vi.fn();
    whenSignedOut(told);
    answer(401, {});
    await get("/jobs").catch(() => undefined);
    await get("/session").catch(() => undefined);
    expect(told).toHaveBeenCalledTimes(1);
  });
  it("repeats list parameters and leaves empty ones out", () =>
    expect(url("/jobs", { state: ["a", "b"], q: "", owner: undefined })).toBe("/api/v1/jobs?state=a&state=b"));
});

describe("pictures", () => {
  const attempt = {
    number: 1,
    created_at: 10,
    accepted_at: null,
    started_at: 12,
    draining_at: 30,
    ended_at: 31,
  } as AttemptView;
  it("shows an attempt as queued, initialising, running, saving without gaps", () => {
    expect(pieces(attempt, 5, 99)).toEqual([
      { kind: "queued", from: 5, to: 10 },
      { kind: "initialising", from: 10, to: 12 },
      { kind: "running", from: 12, to: 30 },
      { kind: "saving", from: 30, to: 31 },
    ]);
  });
  it("lets a live attempt grow to now", () =>
    expect(pieces({ ...attempt, draining_at: null, ended_at: null }, 5, 99).at(-1)).toEqual({
      kind: "running",
      from: 12,
      to: 99,
    }));
  it("smooths without pulling the beginning to zero", () => {
    expect(smooth([2, 2, 2], 0.9).map((v) => Math.round((v ?? 0) * 1e6) / 1e6)).toEqual([2, 2, 2]);
    expect(smooth([1, null, 3], 0)).toEqual([1, null, 3]);
  });
  it("chooses the metric people ask for first", () => {
    expect(keyMetric({ loss: 1, accuracy: 0.9 })).toEqual(["accuracy", 0.9]);
    expect(keyMetric({ step: 3, perplexity: 12 })).toEqual(["perplexity", 12]);
    expect(keyMetric({})).toBeNull();
  });
});

describe("what the feed says has changed", () => {
  const asked: (() => void)[] = [];
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, gcTime: 0 } } });
  let inbox: Inbox;
  let leave: () => void;
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  beforeEach(async () => {
    vi.useFakeTimers();
    asked.length = 0;
    inbox = new Inbox(client);
    const queryFn = () => new Promise<number>((answer) => asked.push(() => answer(asked.length)));
    leave = new QueryObserver(client, { queryKey: ["notices"], queryFn }).subscribe(() => {});
    asked[0]?.();
    await pass(0);
  });
  afterEach(() => {
    inbox.close();
    leave();
    client.clear();
    vi.useRealTimers();
  });

  it("is read once a second at most, and the last change always", async () => {
    for (let n = 0; n < 5; n++) inbox.notices();
    await pass(0);
    expect(asked).toHaveLength(2);
    asked[1]?.();
    await pass(10);
    inbox.notices();
    await pass(500);
    expect(asked).toHaveLength(2);
    await pass(600);
    expect(asked).toHaveLength(3);
  });

  it("is not asked for again while a slow server is asked, but once after it", async () => {
    inbox.notices();
    await pass(2000);
    const before = asked.length;
    for (let n = 0; n < 5; n++) {
      inbox.notices();
      await pass(2000);
    }
    expect(asked).toHaveLength(before);
    asked[before - 1]?.();
    await pass(2000);
    expect(client.getQueryData(["notices"])).toBe(before);
    expect(asked).toHaveLength(before + 1);
  });

  it("is asked for again where an answer never comes", async () => {
    inbox.notices();
    await pass(2000);
    const before = asked.length;
    inbox.notices();
    await pass(20_000);
    expect(asked).toHaveLength(before + 1);
  });
});
