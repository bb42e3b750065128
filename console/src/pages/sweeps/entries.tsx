/** The entries of a sweep: a row of one height each, made only where it is in sight, ordered by the server by any column. */
import { CaretDownFilled, CaretUpFilled, TrophyOutlined } from "@ant-design/icons";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type MouseEvent, type ReactNode, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { SweepDetail, SweepEntries, SweepEntry } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration, number } from "../../shared/format";
import { StateTag } from "../../shared/state";
import { Nothing } from "../../shared/ui";
import { nextOrder, shownValue } from "./order";

interface Column {
  /** The server's order. */
  key: string;
  title: string;
  width: string;
  end?: boolean;
  /** The first click sorts from the highest. */
  falling?: boolean;
  cell: (entry: SweepEntry) => ReactNode;
}

const LINK = 120;
const WIDTH = 108;
/** As the style sheet has it. */
const ROW_PX = 40;
/** Made above and below what is in sight, so that neither a key nor a wheel comes to where nothing is. */
const BEYOND = 12;
const SCREEN = { width: 1200, height: 900 };

export function EntriesTable(props: {
  sweep: SweepDetail;
  found: SweepEntries;
  order: string;
  setOrder: (order: string) => void;
  stale: boolean;
}): ReactNode {
  const { sweep, found, order, setOrder, stale } = props;
  const { t } = useTranslation();
  const columns = useColumns(sweep, found);
  const navigate = useNavigate();
  /** One listener for all rows: a link of the router in each would cost more than the rest of the table. */
  const press = (event: MouseEvent<HTMLElement>): void => {
    const target = event.target as Element;
    const job = target.closest("a") && target.closest<HTMLElement>("tr")?.dataset["job"];
    if (!job || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault(); // it would load the whole console anew
    void navigate({ to: "/jobs/$id", params: { id: job }, search: {} });
  };
  const box = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: found.items.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => found.items[at]?.index ?? at,
    overscan: BEYOND,
    initialRect: SCREEN, // what is made before anything was measured
    paddingStart: ROW_PX, // the head
  });
  const seen = rows.getVirtualItems();
  const best = sweep.best?.job;
  const style = {
    "--columns": columns.map((one) => one.width).join(" "),
    "--least": `${LINK + WIDTH * (columns.length - 1)}px`,
  } as CSSProperties;
  return (
    <section ref={box} className="tm-panel tm-sweep-scroll tm-moves" aria-label={t("sweeps.all")}>
      <table
        className="tm-entries"
        style={style}
        aria-busy={stale}
        aria-rowcount={found.items.length + 1}
        data-testid="entries"
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ key, title, end, falling }) => {
              const way = order === key ? "ascending" : order === `-${key}` ? "descending" : undefined;
              return (
                <th key={key} scope="col" className={end ? "tm-end" : undefined} aria-sort={way ?? "none"}>
                  <button
                    type="button"
                    onClick={() => setOrder(nextOrder(order, key, falling === true))}
                    title={t("sweeps.sortBy", { column: title })}
                    data-testid={`sort-${key}`}
                  >
                    <span className="tm-ellipsis">{title}</span>
                    {way === "ascending" && <CaretUpFilled />}
                    {way === "descending" && <CaretDownFilled />}
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: each row has a link for the keyboard. */}
        <tbody
          onClick={press}
          style={{
            paddingTop: (seen[0]?.start ?? ROW_PX) - ROW_PX,
            paddingBottom: rows.getTotalSize() - (seen.at(-1)?.end ?? rows.getTotalSize()),
          }}
        >
          {seen.map(({ index }) => {
            const entry = found.items[index];
            return (
              entry && <Row key={entry.index} at={index} entry={entry} columns={columns} top={entry.job === best} />
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Row(props: { at: number; entry: SweepEntry; columns: readonly Column[]; top: boolean }): ReactNode {
  const { at, entry, columns, top } = props;
  return (
    <tr
      aria-rowindex={at + 2}
      data-testid="entry"
      data-index={entry.index}
      data-job={entry.job}
      className={top ? "tm-sweep-top" : undefined}
    >
      {columns.map(({ key, end, cell }) => (
        <td key={key} className={end ? "tm-end tm-num" : undefined}>
          {cell(entry)}
        </td>
      ))}
    </tr>
  );
}

function useColumns(sweep: SweepDetail, found: SweepEntries): Column[] {
  const { t } = useTranslation();
  const pick = useBilingual();
  const share = `minmax(${WIDTH}px, 1fr)`;
  const value = (of: number | null | undefined): ReactNode => (of == null ? <Nothing /> : number(of));
  const columns: Column[] = [
    {
      key: "index",
      title: t("sweeps.entry"),
      width: `minmax(${LINK}px, 1.4fr)`,
      cell: (one) => (
        <a
          href={`/jobs/${one.job}`}
          className="tm-name"
          title={one.own.length > 0 ? t("sweeps.own", { what: one.own.join(", ") }) : one.name}
          data-testid="entry-link"
        >
          {one.name}
        </a>
      ),
    },
    {
      key: "state",
      title: t("sweeps.state"),
      width: "128px",
      cell: (one) => (
        <span title={one.verdict ? [one.verdict.title, one.verdict.message].map(pick).join(" · ") : undefined}>
          <StateTag state={one.state} />
        </span>
      ),
    },
    ...(found.items.some((one) => one.algorithm)
      ? [
          {
            key: "algorithm",
            title: t("sweeps.algorithm"),
            width: share,
            cell: (one: SweepEntry) =>
              one.algorithm ? <span title={one.algorithm}>{one.algorithm}</span> : <Nothing />,
          },
        ]
      : []),
    ...found.parameters.map((name) => ({
      key: `parameter:${name}`,
      title: name,
      width: share,
      end: true,
      cell: (one: SweepEntry) => {
        const shown = shownValue(one.parameters[name]);
        return shown === "" ? <Nothing /> : <span title={shown}>{shown}</span>;
      },
    })),
  ];
  if (sweep.metric !== null)
    columns.push({
      key: "best",
      title: t("sweeps.bestOf", { metric: sweep.metric }),
      width: share,
      end: true,
      falling: sweep.goal === "max",
      cell: (one) =>
        one.job === sweep.best?.job ? (
          <strong className="tm-compare-best">
            <TrophyOutlined aria-label={t("sweeps.best")} /> {value(one.best)}
          </strong>
        ) : (
          value(one.best)
        ),
    });
  columns.push(
    ...found.metrics.map((name) => ({
      key: `metric:${name}`,
      title: name,
      width: share,
      end: true,
      cell: (one: SweepEntry) => value(one.metrics[name]),
    })),
    {
      key: "run_s",
      title: t("sweeps.run"),
      width: share,
      end: true,
      falling: true,
      cell: (one) => (one.run_s === null ? <Nothing /> : duration(one.run_s, true)),
    },
  );
  return columns;
}
