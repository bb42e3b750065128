/** Rows of the form keep what their fields remember while others come and go. */
import { act, renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { useRowKeys } from "../src/pages/submit/rows";

describe("keys of rows", () => {
  const rows = (count: number) => renderHook((n: number) => useRowKeys(n), { initialProps: count });

  it("stay with their rows when one before them goes", () => {
    const { result, rerender } = rows(3);
    const [, second, third] = result.current.keys;
    act(() => {
      result.current.remove(0);
      rerender(2);
    });
    expect(result.current.keys).toEqual([second, third]);
  });
  it("stay with their rows when one comes between them", () => {
    const { result, rerender } = rows(2);
    const [first, second] = result.current.keys;
    act(() => {
      result.current.insert(1);
      rerender(3);
    });
    const { keys } = result.current;
    expect([keys[0], keys[2]]).toEqual([first, second]);
    expect(new Set(keys).size).toBe(3);
  });
  it("are there for rows that come at the end, or with another document", () => {
    const { result, rerender } = rows(1);
    const before = [...result.current.keys];
    rerender(3);
    expect(result.current.keys.slice(0, 1)).toEqual(before);
    expect(new Set(result.current.keys).size).toBe(3);
    rerender(0);
    expect(result.current.keys).toEqual([]);
  });
});
