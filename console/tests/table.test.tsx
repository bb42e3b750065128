/** A table whose rows are cards where there is no room for columns: each cell knows its heading and its place. */
import { cleanup, render, screen, within } from "@testing-library/react";
import type { TableColumnsType } from "antd";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { DataTable, inCards, wordsOf } from "../src/shared/table";

interface Row {
  name: string;
  size: number;
}

const hidden = (words: string) => <span className="tm-hidden">{words}</span>;
const COLUMNS: TableColumnsType<Row> = [
  { key: "star", title: hidden("Favorite"), render: () => "☆" },
  { key: "name", title: "Name", dataIndex: "name" },
  {
    key: "size",
    title: <b>Size</b>,
    dataIndex: "size",
    className: "tm-num",
    onCell: ({ size }) => ({ "data-size": size }) as object,
  },
  { key: "edit", title: hidden("Actions"), width: 90, render: () => <button type="button">Edit</button> },
  { key: "all", title: hidden("Actions"), width: 300, render: () => <button type="button">Members</button> },
];

const places = (columns: TableColumnsType<Row>) => columns.map(({ className }) => className);

class Still {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

beforeAll(() => {
  const styles = window.getComputedStyle;
  vi.stubGlobal("getComputedStyle", (element: Element) => styles(element));
  vi.stubGlobal("ResizeObserver", Still);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
});
afterEach(cleanup);
afterAll(() => vi.unstubAllGlobals());

describe("rows as cards", () => {
  it("the first column with a heading leads; before it stand stars, beside it small buttons, wide ones below all", () => {
    expect(places(inCards(COLUMNS))).toEqual([
      "tm-row-before",
      "tm-row-lead",
      "tm-num",
      "tm-row-tools",
      "tm-row-below",
    ]);
    expect(places(inCards(COLUMNS, "size"))[2]).toBe("tm-num tm-row-lead");
    expect(places(inCards([{ key: "at", title: "At", className: "tm-row-below" }, ...COLUMNS], "name"))[0]).toBe(
      "tm-row-below",
    );
  });
  it("every other value knows its heading, and keeps what its column told the cell", () => {
    render(
      <DataTable<Row> rowKey="name" columns={COLUMNS} dataSource={[{ name: "one", size: 7 }]} pagination={false} />,
    );
    const size = screen.getByText("7").closest("td");
    expect(size?.getAttribute("data-label")).toBe("Size");
    expect(size?.getAttribute("data-size")).toBe("7");
    expect(screen.getByText("one").closest("td")?.hasAttribute("data-label")).toBe(false);
    expect(within(screen.getByText("Edit").closest("td") as HTMLElement).getByRole("button")).toBeTruthy();
    expect(screen.getByText("Edit").closest("td")?.hasAttribute("data-label")).toBe(false);
  });
  it("a heading is what is seen of it", () => {
    expect(wordsOf(["Used ", <i key="by">by</i>, 2])).toBe("Used by2");
    expect(wordsOf(hidden("Actions"))).toBe("");
    expect(wordsOf(null)).toBe("");
  });
});
