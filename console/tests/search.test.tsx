import { act, renderHook, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { LogHits } from "../src/api/types";
import { useLogSearch } from "../src/pages/job/log/search";

const answers = vi.hoisted(() => [] as ((hits: LogHits) => void)[]);
vi.mock("../src/api/watch", () => ({ searchLog: () => new Promise((resolve) => answers.push(resolve)) }));

const address = { job: "t1", attempt: 1, task: "task0-0" };
const goTo = (): void => undefined;
const answer = async (items: LogHits["items"]): Promise<void> => {
  await waitFor(() => expect(answers).toHaveLength(1));
  await act(async () => answers.pop()?.({ items, next_offset: 9, done: true }));
};

it("says that it searches until the newest question is answered, and never that nothing was found before (R207)", async () => {
  const { result } = renderHook(() => useLogSearch(address, "loss", goTo));
  expect(result.current.busy).toBe(true);
  await answer([{ offset: 0, line: 3, text: "loss 1" }]);
  expect([result.current.busy, result.current.hits.length, result.current.at]).toEqual([false, 1, 0]);

  act(() => result.current.setRegex(true));
  expect([result.current.busy, result.current.hits]).toEqual([true, []]);
  await answer([]);
  expect([result.current.busy, result.current.hits]).toEqual([false, []]);

  act(() => result.current.setText(""));
  expect([result.current.busy, result.current.hits]).toEqual([false, []]);
});
