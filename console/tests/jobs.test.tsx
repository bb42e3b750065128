/** The list of jobs: what the address means to the server, what is drawn again and when. */
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job } from "../src/api/types";
import "../src/i18n";
import {
  columnOf,
  fitting,
  isColumn,
  keyOrder,
  leastName,
  metricKeys,
  USUAL,
  widthOf,
} from "../src/pages/jobs/columns";
import {
  concerned,
  filterOf,
  isFiltered,
  nextOrder,
  searchOf,
  sinceOf,
  statesOf,
  untilOf,
  viewOf,
} from "../src/pages/jobs/query";
import { sameJob } from "../src/pages/jobs/table";
import { isLike } from "../src/pages/shell/palette";
import { Ago, Elapsed, since } from "../src/shared/time";

describe("the address", () => {
  it("names states in one word, and leaves out what is none", () =>
    expect(statesOf({ state: "stopped,failed,nonsense" })).toEqual(["failed", "stopped"]));
  it("asks the server for what is chosen, and for nothing else", () => {
    expect(filterOf({ order: "name", who: "all" }, false, 0)).toEqual({});
    expect(filterOf({ q: "a", owner: "ann", pool: "p", state: "failed", since: "1h" }, false, 7200)).toEqual({
      q: "a",
      owner: "ann",
      pool: "p",
      state: ["failed"],
      since: 3600,
    });
    expect(filterOf({ owner: "ann" }, true, 0)).toEqual({ mine: true });
  });
  it("counts spans back and takes days whole", () => {
    const day = new Date(2026, 10, 2).getTime() / 1000;
    expect(sinceOf("7d", 8 * 86400)).toBe(86400);
    expect(sinceOf("2026-11-02", 0)).toBe(day);
    expect(untilOf("2026-11-02")).toBe(new Date(2026, 10, 3).getTime() / 1000);
    expect([sinceOf("x", 0), untilOf("7d"), sinceOf(undefined, 0)]).toEqual([undefined, undefined, undefined]);
  });
  it("does not count whose jobs and their order as a filter", () => {
    expect(isFiltered({ who: "mine", order: "name", q: undefined })).toBe(false);
    expect(isFiltered({ node: "n1" })).toBe(true);
  });
});

describe("headings", () => {
  it("sort one way, then the other, then by the newest again", () => {
    expect(nextOrder("-submitted_at", "name", false)).toBe("name");
    expect(nextOrder("name", "name", false)).toBe("-name");
    expect(nextOrder("-name", "name", false)).toBeUndefined();
    expect(nextOrder("name", "run_s", true)).toBe("-run_s");
    expect(nextOrder("-submitted_at", "submitted_at", true)).toBe("submitted_at");
    expect(nextOrder("submitted_at", "submitted_at", true)).toBeUndefined();
  });
  it("leave out what does not fit, first what is missed least", () => {
    for (const room of [340, 640, 1024, 1184, 1700]) {
      const keys = fitting(room, false);
      expect(keys.slice(0, 2)).toEqual(["name", "state"]);
      expect(widthOf(keys, leastName(room))).toBeLessThanOrEqual(Math.max(room, 84 + 140 + columnOf("state").width));
    }
    expect(fitting(2000, false)).toEqual(USUAL);
    expect(fitting(2000, true)).not.toContain("owner");
  });
});

describe("columns of metrics", () => {
  const jobs = [{ loss: 1, acc: 0.5 }, { loss: 2, "a,b": 1 }, { loss: null }].map(
    (metrics) => ({ metrics }) as unknown as Job,
  );
  it("are those that the jobs have, but for names that an address cannot hold", () =>
    expect(metricKeys(jobs)).toEqual(["metric:acc", "metric:loss"]));
  it("sort from the better end", () => {
    expect(columnOf("metric:loss")).toMatchObject({ order: "metric:loss", falling: false });
    expect(columnOf("metric:acc")).toMatchObject({ order: "metric:acc", falling: true });
    expect(columnOf("metric:acc").Cell).toBe(columnOf("metric:acc").Cell);
  });
  it("are known by their names", () =>
    expect(["state", "metric:x", "metric:", "metric:a,b", "nonsense", 3].filter(isColumn)).toEqual([
      "state",
      "metric:x",
    ]));
  it("lead the one of the key metric by what most jobs show there", () => {
    expect(keyOrder([...jobs, { metrics: { loss: 3 } } as unknown as Job])).toBe("metric:loss");
    expect(keyOrder([])).toBeUndefined();
  });
});

describe("all of a filter", () => {
  const counts = { queued: 2, running: 3, stopping: 1, succeeded: 5, failed: 7 };
  it("says for how many a verb is", () => {
    expect(concerned("stop", counts, [])).toBe(5);
    expect(concerned("change", counts, [])).toBe(6);
    expect(concerned("delete", counts, [])).toBe(12);
    expect(concerned("delete", counts, ["failed", "running"])).toBe(7);
    expect(concerned("stop", counts, ["failed", "running"])).toBe(3);
  });
});

describe("a row", () => {
  const job = { id: "a", version: 3, seq: "a", run_s: 1, wait_s: 1, metrics: {}, progress: null } as unknown as Job;
  it("is the same while only the moment of the answer is another", () => {
    expect(sameJob(job, { ...job, seq: "b", run_s: 2, wait_s: 3 })).toBe(true);
    expect(sameJob(job, { ...job, version: 4 })).toBe(false);
    expect(sameJob(job, { ...job, progress: { fraction: 0.1, step: 1, of: 10, eta_s: null } as Job["progress"] })).toBe(
      false,
    );
  });
});

describe("clocks", () => {
  beforeEach(() => vi.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => {
    cleanup();
    vi.useRealTimers();
  });
  const at = 1_800_000_000;
  const pass = (ms: number): void => act(() => void vi.advanceTimersByTime(ms));

  it("tick for what runs and stand for what has ended", () => {
    const { container } = render(
      <>
        <Elapsed from={at - 10} to={null} />
        <i />
        <Elapsed from={at - 10} to={at - 4} />
        <i />
        <Elapsed from={null} to={null} />
      </>,
    );
    expect(container.textContent).toBe("10s6s–");
    pass(2000);
    expect(container.textContent).toBe("12s6s–");
  });
  it("grow by five seconds in a list once the first minute is over, all rows together, and never shrink", () => {
    expect([59, 60, 61, 64, 65, 66].map((now) => since(0, now, true))).toEqual([59, 60, 60, 60, 65, 65]);
    expect([1063, 1064, 1065].map((now) => since(1003, now, true))).toEqual([60, 60, 62]);
    expect(since(0, 66, false)).toBe(66);
    expect(since(10, 5, true)).toBe(0);
  });
  it("run only while something ticks", () => {
    render(<Elapsed from={at - 10} to={at} />);
    expect(vi.getTimerCount()).toBe(0);
    const { unmount } = render(<Elapsed from={at} to={null} />);
    expect(vi.getTimerCount()).toBe(1);
    unmount();
    expect(vi.getTimerCount()).toBe(0);
  });
  it("say how long ago by the minute", () => {
    render(<Ago at={at - 119} />);
    expect(screen.getByText("1 min ago")).toBeTruthy();
    pass(1000);
    expect(screen.getByText("1 min ago")).toBeTruthy();
    pass(30_000);
    expect(screen.getByText("2 min ago")).toBeTruthy();
  });
});

describe("saved views (R200)", () => {
  it("give back the address that they were made of", () => {
    const search = {
      q: 'label:team="speech lab" 训练&?',
      state: "failed,running",
      who: "mine",
      tag: "paper & pen",
      favorite: true,
      since: "7d",
      order: "-gpus",
      columns: "name,tags,metric",
    } as const;
    expect(searchOf(viewOf(search))).toEqual(search);
    expect(viewOf({ q: undefined, tag: "" })).toBe("");
  });
  it("pass over what is no part of an address", () => {
    expect(searchOf("who=nobody&favorite=1&token=x&tag=a")).toEqual({ tag: "a" });
  });
  it("are no filter by their columns", () => {
    expect(isFiltered({ columns: "name", order: "name", who: "all" })).toBe(false);
    expect(isFiltered({ tag: "a" })).toBe(true);
    expect(filterOf({ tag: "a", favorite: true, columns: "name" }, false, 0)).toEqual({ tag: ["a"], favorite: true });
  });
});

describe("what is typed into the search from anywhere (R198)", () => {
  it("is found in its order, with anything between", () => {
    expect(isLike("new job", "nwjb")).toBe(true);
    expect(isLike("提交任务", "提任")).toBe(true);
    expect(isLike("new job", "bn")).toBe(false);
    expect(isLike("queue", "")).toBe(true);
  });
});
