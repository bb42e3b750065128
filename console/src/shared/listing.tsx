/**
 * A page that lists what has names: searched, narrowed to one's own, to what others share or to favorites, a page of the answer at a time, and with a way on where there is
 * nothing yet. What is listed brings its words, its columns and how it is read; the frame is the same for all of them.
 */
import { SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Input, Segmented, type TableProps } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ASSETS, type AssetWords } from "../api/assets";
import type { en } from "../i18n/en";
import { AssetStar } from "./favorite";
import { useKept } from "./kept";
import { LoadMore } from "./more";
import { DataTable } from "./table";
import { Empty, Outdated, PageHeader, Pending } from "./ui";

/** What is asked of the server. */
export interface Asked {
  q: string;
  mine?: true;
  shared?: true;
  favorite?: true;
  limit: number;
  cursor: string | null;
}

/** One page. */
export interface Answer<T> {
  items: T[];
  next_cursor: string | null;
}

/** Of whose things a list is; of what has no favorites, or is never shared, it is never of those. */
const WHOSE = ["all", "mine", "shared", "favorite"] as const;
type Whose = (typeof WHOSE)[number] | "published";

function whoseOf(words: Words): Whose[] {
  const kept: readonly string[] = ASSETS;
  if (!kept.includes(words)) return ["all", "mine"];
  return WHOSE.filter((one) => one !== "shared" || words !== "models");
}

/** What the texts of a listing have to say. */
interface Said {
  title: string;
  what: string;
  search: string;
  none: string;
  noneHint: string;
  noMatch: string;
}

/** The parts of the texts that say it. */
type Words = { [K in keyof typeof en]: (typeof en)[K] extends Said ? K : never }[keyof typeof en];

/** What a row has; `favorite`: where it can be one. */
interface Listed {
  id: string;
  name?: string;
  favorite?: boolean;
}

type Column<T> = NonNullable<TableProps<T>["columns"]>[number];

interface ListingProps<T> {
  /** Which part of the texts; also what queries are kept under, so that `[words]` has it read again. */
  words: Words;
  read: (asked: Asked, signal: AbortSignal) => Promise<Answer<T>>;
  /** Rows of one page. */
  limit?: number;
  againMs?: number;
  icon: ReactNode;
  columns: NonNullable<TableProps<T>["columns"]>;
  /** The least width of the table, in px: below it, it scrolls. */
  width: number;
  actions?: ReactNode;
  rowSelection?: TableProps<T>["rowSelection"];
  /** What stands between the title and the table. */
  above?: ReactNode;
  /** What other workspaces offer, as a part of the list; with what is searched for. */
  published?: (q: string) => ReactNode;
  /** What stands below the table, for the rows that are shown. */
  children?: (items: T[]) => ReactNode;
}

const STAR_PX = 44;

/** The stars of what can be a favorite, in front of its names. */
function starColumn<T extends Listed>(kind: AssetWords, fixed: Column<T>["fixed"] | undefined): Column<T> {
  return {
    title: <StarHead />,
    key: "favorite",
    width: STAR_PX,
    className: "tm-star-cell",
    ...(fixed === undefined ? {} : { fixed }),
    render: (_, { id, name, favorite }) => (
      <AssetStar kind={kind} of={{ id, name: name ?? id, favorite: favorite === true }} inRow />
    ),
  };
}

function StarHead(): ReactNode {
  const { t } = useTranslation();
  return <span className="tm-hidden">{t("listing.favorite")}</span>;
}

export function Listing<T extends Listed>(props: ListingProps<T>): ReactNode {
  const { words, limit = 100 } = props;
  const { t } = useTranslation();
  const [q, setQ] = useState("");
  const [whose, setWhose] = useState<Whose>("all");
  const published = whose === "published" ? props.published?.(q) : undefined;
  const narrowed = whose === "all" || whose === "published" ? {} : { [whose]: true };
  const query = useInfiniteQuery({
    queryKey: [words, "list", q, whose],
    queryFn: ({ pageParam, signal }) => props.read({ q, ...narrowed, limit, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: props.againMs ?? 30_000,
    enabled: published === undefined,
  });
  const kept = useKept(query);
  const starred = ASSETS.find((one) => one === words);
  const columns = starred ? [starColumn<T>(starred, props.columns[0]?.fixed), ...props.columns] : props.columns;
  const items = kept.data?.pages.flatMap((page) => page.items) ?? [];
  const nothing = kept.data !== undefined && items.length === 0 && q === "" && whose === "all";
  const line = (
    <div className="tm-filters tm-filter-line">
      <Input
        allowClear
        prefix={<SearchOutlined />}
        value={q}
        onChange={(event) => setQ(event.target.value)}
        placeholder={t(`${words}.search`)}
        aria-label={t(`${words}.search`)}
        className="tm-search"
        data-testid={`${words}-search`}
      />
      <Segmented<Whose>
        value={whose}
        onChange={setWhose}
        aria-label={t("listing.whose")}
        options={[...whoseOf(words), ...(props.published ? ["published" as const] : [])].map((value) => ({
          value,
          label: <span data-testid={`${words}-${value}`}>{t(`listing.${value}`)}</span>,
        }))}
      />
    </div>
  );
  if (published !== undefined)
    return (
      <>
        <PageHeader title={t(`${words}.title`)} sub={t(`${words}.what`)} actions={props.actions} />
        {line}
        {published}
      </>
    );
  return (
    <>
      <PageHeader title={t(`${words}.title`)} sub={t(`${words}.what`)} actions={props.actions} />
      {props.above}
      <Outdated query={kept} />
      {!kept.data ? (
        <Pending query={kept} />
      ) : nothing ? (
        <>
          {props.published && line}
          <div className="tm-panel" data-testid={words}>
            <Empty title={t(`${words}.none`)} icon={props.icon}>
              <p className="tm-faint">{t(`${words}.noneHint`)}</p>
            </Empty>
          </div>
        </>
      ) : (
        <>
          {line}
          <div className="tm-panel tm-table" data-testid={words}>
            <DataTable<T>
              rowKey="id"
              size="middle"
              columns={columns}
              dataSource={items}
              tableLayout="fixed"
              scroll={{ x: props.width + (starred ? STAR_PX : 0) }}
              pagination={false}
              locale={{ emptyText: <span className="tm-faint">{t(`${words}.noMatch`)}</span> }}
              rowSelection={props.rowSelection}
            />
          </div>
          {props.children?.(items)}
          <LoadMore query={query} className="tm-gap" testid={`${words}-more`}>
            {t("listing.more")}
          </LoadMore>
        </>
      )}
    </>
  );
}
