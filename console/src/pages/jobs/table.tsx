/**
 * The table of the list: plain rows of one height, drawn again only when their job changes, under a heading that stays in sight.
 * Ant Design's would cost half a second for 500 rows, and each of its hints a listener per cell.
 */
import { CaretDownFilled, CaretUpFilled, MoreOutlined } from "@ant-design/icons";
import { useNavigate } from "@tanstack/react-router";
import { type CSSProperties, type MouseEvent, memo, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Job } from "../../api/types";
import { type ColumnKey, columnOf, keyOrder, MENU, metricOf, speaks, TICK, useColumnTitle, widthOf } from "./columns";
import { nextOrder } from "./query";

/** What an answer says anew each time without anything having happened: times until now, and the moment of the answer. */
const MOVING: ReadonlySet<string> = new Set(["seq", "run_s", "wait_s"]);

/** Whether a row would look the same. Parts that are equal are the same object: the cache of answers sees to it. */
export function sameJob(before: Job, after: Job): boolean {
  if (before === after) return true;
  const keys = Object.keys(after) as (keyof Job)[];
  return keys.every((key) => MOVING.has(key) || before[key] === after[key]);
}

interface RowProps {
  job: Job;
  columns: readonly ColumnKey[];
  selected: boolean;
  /** Of the words: a row that is not drawn again would keep the old ones. */
  language: string;
}

const Row = memo(
  function Row({ job, columns, selected }: RowProps): ReactNode {
    const { t } = useTranslation();
    return (
      <tr data-testid="job-row" data-id={job.id} data-speaks={speaks(job) ? "" : undefined} aria-selected={selected}>
        <td>
          <input type="checkbox" checked={selected} aria-label={job.name} readOnly />
        </td>
        {columns.map((key) => {
          const { Cell } = columnOf(key);
          return (
            <td key={key} className={classOf(key)}>
              <Cell job={job} />
            </td>
          );
        })}
        <td className="tm-col-menu">
          <button
            type="button"
            className="tm-icon-button"
            aria-label={t("mark.named", { what: t("jobs.col.actions"), name: job.name })}
            aria-haspopup="menu"
            data-testid="row-menu"
          >
            <MoreOutlined />
          </button>
        </td>
      </tr>
    );
  },
  (a, b) => a.selected === b.selected && a.columns === b.columns && a.language === b.language && sameJob(a.job, b.job),
);

const classOf = (key: ColumnKey): string => `tm-col-${metricOf(key) === undefined ? key : "metric-value"}`;

/** The widths of the columns as the style of the table wants them: the name takes what the others leave. */
function tracks(columns: readonly ColumnKey[]): CSSProperties {
  const widths = columns.map(columnOf).map(({ width }) => (width ? `${width}px` : "minmax(var(--name), 1fr)"));
  const style = { "--columns": `${TICK}px ${widths.join(" ")} ${MENU}px`, "--others": `${widthOf(columns, 0)}px` };
  return style as CSSProperties;
}

export interface TableProps {
  items: readonly Job[];
  columns: readonly ColumnKey[];
  order: string;
  setOrder: (order: string | undefined) => void;
  selected: ReadonlySet<string>;
  select: (ids: readonly string[], on: boolean) => void;
  /** Every one on the page, and what else matches. */
  selectAll: (on: boolean) => void;
  openMenu: (job: Job, button: HTMLElement) => void;
  /** What stands in place of rows. */
  instead: ReactNode;
  /** The rows are the answer to an earlier question. */
  stale: boolean;
}

export function JobTable(props: TableProps): ReactNode {
  const { items, columns, selected, select, openMenu, instead } = props;
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const all = items.length > 0 && items.every((job) => selected.has(job.id));
  const some = !all && items.some((job) => selected.has(job.id));
  /** One listener for all rows. */
  const press = (event: MouseEvent<HTMLElement>): void => {
    const target = event.target as Element;
    const id = target.closest<HTMLElement>("tr")?.dataset["id"];
    const job = items.find((one) => one.id === id);
    if (!job) return;
    const box = target.closest("td")?.querySelector<HTMLInputElement>("input[type=checkbox]");
    const button = target.closest("button");
    if (box) select([job.id], !selected.has(job.id));
    else if (button) openMenu(job, button);
    // Whoever marks text wants to read on here; whoever holds one of these keys wants the link itself.
    if (box || button || event.ctrlKey || event.metaKey || event.shiftKey || String(getSelection()) !== "") return;
    event.preventDefault(); // the link of the row would load the whole console anew
    void navigate({ to: "/jobs/$id", params: { id: job.id }, search: {} });
  };
  return (
    <table className="tm-jobs" aria-busy={props.stale} style={tracks(columns)}>
      <thead>
        <tr>
          <th scope="col">
            <input
              type="checkbox"
              aria-label={t("jobs.selectAll")}
              checked={all}
              ref={(box) => {
                if (box) box.indeterminate = some;
              }}
              onChange={() => props.selectAll(!all)}
              data-testid="select-all"
            />
          </th>
          {columns.map((key) => (
            <Heading key={key} column={key} by={orderOf(key, items)} order={props.order} setOrder={props.setOrder} />
          ))}
          <th scope="col">
            <span className="tm-hidden">{t("jobs.col.actions")}</span>
          </th>
        </tr>
      </thead>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: each row has a link, a box and a button for the keyboard. */}
      <tbody onClick={press}>
        {instead ? (
          <tr className="tm-instead">
            <td colSpan={columns.length + 2}>{instead}</td>
          </tr>
        ) : (
          items.map((job) => (
            <Row key={job.id} job={job} columns={columns} selected={selected.has(job.id)} language={i18n.language} />
          ))
        )}
      </tbody>
    </table>
  );
}

/** What a click on the heading of a column sorts by; undefined: it sorts by nothing. */
function orderOf(column: ColumnKey, items: readonly Job[]): { key: string; falling: boolean } | undefined {
  const key = column === "metric" ? keyOrder(items) : columnOf(column).order;
  const of = column === "metric" && key ? columnOf(key as ColumnKey) : columnOf(column);
  return key === undefined ? undefined : { key, falling: of.falling ?? false };
}

function Heading({
  column,
  by,
  order,
  setOrder,
}: {
  column: ColumnKey;
  by: { key: string; falling: boolean } | undefined;
  order: string;
  setOrder: (order: string | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const title = useColumnTitle()(column);
  const place = classOf(column);
  if (!by)
    return (
      <th scope="col" className={place}>
        {title}
      </th>
    );
  const { key, falling } = by;
  const sorted = order === key ? "ascending" : order === `-${key}` ? "descending" : undefined;
  return (
    <th scope="col" className={place} aria-sort={sorted ?? "none"}>
      <button
        type="button"
        onClick={() => setOrder(nextOrder(order, key, falling))}
        title={t("jobs.sortBy", { column: metricOf(key as ColumnKey) ?? title })}
        data-testid={`sort-${column}`}
      >
        {title}
        {sorted === "ascending" && <CaretUpFilled />}
        {sorted === "descending" && <CaretDownFilled />}
      </button>
    </th>
  );
}
