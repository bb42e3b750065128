/** The table of a sweep's entries: of a thousand rows those in sight are made. */
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { SweepDetail, SweepEntries, SweepEntry } from "../src/api/types";
import "../src/i18n";
import { EntriesTable } from "../src/pages/sweeps/entries";

vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<object>()),
  useNavigate: () => () => undefined,
}));
class Still {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", Still);
afterEach(cleanup);

it("makes the rows in sight, and says how many there are", () => {
  Object.defineProperty(HTMLElement.prototype, "clientHeight", { configurable: true, value: 600 });
  const items = Array.from(
    { length: 1000 },
    (_, at) =>
      ({
        index: at + 1,
        job: `t${at}`,
        name: `many-${at + 1}`,
        state: "queued",
        own: [],
        parameters: { lr: at },
      }) as unknown as SweepEntry,
  );
  const found = { items, total: 1000, parameters: ["lr"], metrics: [], at: 1 } as SweepEntries;
  const sweep = { metric: null, goal: null, best: null } as SweepDetail;
  render(<EntriesTable sweep={sweep} found={found} order="index" setOrder={() => undefined} stale={false} />);
  const rows = screen.getAllByTestId("entry");
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.length).toBeLessThan(60);
  expect(rows[0]?.textContent).toContain("many-1");
  expect(screen.getByTestId("entries").getAttribute("aria-rowcount")).toBe("1001");
  const below = Number.parseFloat(document.querySelector("tbody")?.style.paddingBottom ?? "0");
  expect(below + rows.length * 40).toBe(1000 * 40);
});
