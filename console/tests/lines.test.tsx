import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { LogLines } from "../src/pages/job/log/lines";
import type { LogSession, LogView } from "../src/pages/job/log/session";

beforeAll(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
  );
});

afterEach(cleanup);

const session = { more: () => Promise.resolve() } as unknown as LogSession;
const view: LogView = {
  lines: [{ text: "epoch=1" }] as LogView["lines"],
  first: 0,
  size: 8,
  total: 1,
  atStart: true,
  atEnd: true,
  ended: false,
  loading: false,
  error: null,
  epoch: 0,
  aim: null,
  shift: 0,
};

function shown(): { log: HTMLElement; pinned: boolean[]; at: (below: number) => void } {
  const pinned: boolean[] = [];
  render(
    <LogLines
      session={session}
      view={view}
      wrap={false}
      pinned
      setPinned={(on) => pinned.push(on)}
      mark={null}
      current={null}
    />,
  );
  const log = screen.getByTestId("log");
  const at = (below: number): void => {
    for (const [name, value] of [
      ["scrollHeight", 1000 + below],
      ["clientHeight", 1000],
    ] as const) {
      Object.defineProperty(log, name, { value, configurable: true });
    }
    fireEvent.scroll(log);
  };
  return { log, pinned, at };
}

it("is not followed any more by who scrolls up, whenever our own scroll to the end before is told (R206)", () => {
  const { log, pinned, at } = shown();
  fireEvent.wheel(log, { deltaY: -400 });
  at(0);
  expect(pinned).toEqual([false]);
  at(400);
  at(0);
  expect(pinned).toEqual([false, true]);
});

it("is followed again by who changes their mind at the end", () => {
  const { log, pinned, at } = shown();
  fireEvent.keyDown(log, { key: "ArrowUp" });
  fireEvent.keyDown(log, { key: "End" });
  at(0);
  expect(pinned).toEqual([false, true]);
});
