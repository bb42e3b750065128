/**
 * The table of every list. Where there is no room for columns its rows are cards (styles/rows.css): what the row is and its buttons in the first
 * line, every other value below, beside its heading. So nothing is beyond the edge of a phone, and no page has columns of its own for it.
 *
 * It is one table in any width: roles, headings that sort, boxes to choose by and what tests find stay as they are. Not for what is compared
 * across rows (a matrix): there the first column stays in sight, and the others are moved below it.
 */
import { Table, type TableColumnsType, type TableColumnType, type TableProps } from "antd";
import { isValidElement, type ReactNode, useMemo } from "react";

interface Props<T> extends TableProps<T> {
  columns: TableColumnsType<T>;
  /** The key of the column that says what a row is; the first one with a heading if there is none. */
  lead?: string;
}

export function DataTable<T>({ columns, lead, className, ...more }: Props<T>): ReactNode {
  const shown = useMemo(() => inCards(columns, lead), [columns, lead]);
  return <Table<T> {...more} columns={shown} className={`tm-rows ${className ?? ""}`} />;
}

/** Wider buttons than these, in px, have a line of their own. */
const TOOLS_PX = 140;

/** The columns with what a card needs to know of each cell: its heading, and which place it has unless its column chose one. Pure. */
export function inCards<T>(columns: TableColumnsType<T>, lead?: string): TableColumnsType<T> {
  const named = columns.findIndex((one) => (lead === undefined ? headingOf(one) !== "" : one.key === lead));
  const first = Math.max(0, named);
  return columns.map((column, at) => {
    const heading = headingOf(column);
    const mine = column as TableColumnType<T>;
    const chosen = mine.className?.includes("tm-row-") ? "" : undefined;
    const place = chosen ?? (at === first ? "tm-row-lead" : heading === "" ? toolsOf(column, at < first) : "");
    const told = chosen !== undefined || at === first || heading === "" ? {} : { "data-label": heading };
    return {
      ...mine,
      className: [mine.className, place].filter(Boolean).join(" "),
      onCell: (row, index) => ({ ...mine.onCell?.(row, index), ...told }),
    } satisfies TableColumnType<T>;
  });
}

function toolsOf<T>({ width }: TableColumnType<T>, before: boolean): string {
  if (before) return "tm-row-before";
  return typeof width === "number" && width > TOOLS_PX ? "tm-row-below" : "tm-row-tools";
}

function headingOf<T>({ title }: TableColumnType<T>): string {
  return typeof title === "function" ? "" : wordsOf(title);
}

/** What a heading says to the eye: "" if it is for screen readers alone. Pure. */
export function wordsOf(node: ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(wordsOf).join("");
  if (!isValidElement<{ className?: string; children?: ReactNode }>(node)) return "";
  return node.props.className?.includes("tm-hidden") ? "" : wordsOf(node.props.children);
}
