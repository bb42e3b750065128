/** The list of jobs: live, searched, filtered, sorted, and acted upon one by one or together. */
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Segmented } from "antd";
import {
  type ReactNode,
  type RefCallback,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useTranslation } from "react-i18next";
import { countJobs, listJobs, readFacets } from "../../api/jobs";
import type { Job } from "../../api/types";
import type { JobsSearch } from "../../shared/address";
import { ChangeJob } from "../../shared/change";
import { number } from "../../shared/format";
import { type Kept, useKept } from "../../shared/kept";
import { LoadMore } from "../../shared/more";
import { useSession } from "../../shared/session";
import { SaveTemplate } from "../../shared/template";
import { ErrorPanel, Outdated, PageHeader } from "../../shared/ui";
import { Bulk, type Everything } from "./bulk";
import { ColumnChooser } from "./choose";
import { keepWho, lastWho, useColumnChoice } from "./chosen";
import { type ColumnKey, fitting, isColumn, leastName, metricKeys, widthOf } from "./columns";
import { Filters } from "./filters";
import { type Changing, type MenuAt, RowMenu } from "./menu";
import { FirstJob, NoneMatches } from "./none";
import { filterOf, isFiltered, NEWEST } from "./query";
import { JobTable } from "./table";
import { Views } from "./views";

/** The columns that the address names, in its order; undefined where it names none. */
function ofAddress(text: string | undefined): ColumnKey[] | undefined {
  const found = text?.split(",").filter(isColumn);
  return found && found.length > 0 ? found : undefined;
}

const PAGE = 50;
/** The feed tells what happens to jobs; what is asked again besides is when those that wait are expected to start. */
const AGAIN_MS = 60_000;
const WAITING_ROWS = Array.from({ length: 10 }, (_, at) => at);

export function JobsPage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/jobs" });
  const navigate = useNavigate({ from: "/jobs" });
  const mine = (search.who ?? lastWho()) === "mine";
  const admin = useSession()?.user.role === "admin";
  const order = search.order ?? NEWEST;
  // Spans of time are counted back from a full minute: asked again within it, the question is the same, and so its key.
  const filter = useMemo(() => filterOf(search, mine, Math.floor(Date.now() / 60_000) * 60), [search, mine]);
  const list = useInfiniteQuery({
    queryKey: ["jobs", filter, order],
    queryFn: ({ pageParam, signal }) => listJobs({ ...filter, order, limit: PAGE }, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const facets = useQuery({
    queryKey: ["job-facets", filter],
    queryFn: ({ signal }) => readFacets(filter, signal),
    placeholderData: keepPreviousData,
    staleTime: AGAIN_MS,
    refetchInterval: AGAIN_MS,
  });
  const kept = useKept(list);
  const items = useMemo(() => unique(kept.data?.pages.flatMap((page) => page.items) ?? []), [kept.data]);
  const first = kept.data?.pages[0];
  const update = (change: Partial<JobsSearch>): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const clear = (): void =>
    void navigate({ search: (old: JobsSearch) => ({ who: old.who, order: old.order }), replace: true });
  const choice = useSelection(items, JSON.stringify(filter), list.isPlaceholderData);
  const { frame, attach, width: room } = useRoom();
  const [own, keep] = useColumnChoice(isColumn);
  const choose = (keys: ColumnKey[] | undefined): void => {
    keep(keys);
    if (search.columns) update({ columns: keys?.join(",") });
  };
  const columns = useMemo(
    () => ofAddress(search.columns) ?? own ?? fitting(room, mine),
    [search.columns, own, room, mine],
  );
  const [menu, setMenu] = useState<MenuAt>();
  const [changing, setChanging] = useState<Changing>();
  const [saving, setSaving] = useState<Job>();
  const openMenu = (job: Job, button: HTMLElement): void => {
    const outer = frame.current?.getBoundingClientRect();
    const at = button.getBoundingClientRect();
    if (outer) setMenu({ job, button, left: at.right - outer.left, top: at.bottom - outer.top });
  };

  if (list.data && !list.isPlaceholderData && items.length === 0 && !isFiltered(search) && !mine)
    return (
      <>
        <PageHeader title={t("jobs.title")} />
        <FirstJob />
      </>
    );
  const total = Math.max(first?.total ?? 0, items.length);
  const matching: Everything | undefined =
    first && !kept.earlier ? { filter, total, counts: first.counts, at: first.at, partial: first.partial } : undefined;
  /** Before something is done to all of them, all are counted. */
  const takeAll = async (all: Everything): Promise<void> => {
    if (!all.partial) return choice.takeEverything(all);
    const { total: every, counts } = await countJobs({
      ...all.filter,
      until: Math.min(all.filter.until ?? all.at, all.at),
    });
    choice.takeEverything({ ...all, total: every, counts, partial: false });
  };
  return (
    <>
      <PageHeader
        title={t("jobs.title")}
        actions={
          <>
            {(admin || mine || isFiltered(search) || (facets.data?.owner.length ?? 0) > 1) && (
              <Whose mine={mine} update={update} />
            )}
            <Views search={search} columns={columns} mine={mine} />
            <ColumnChooser columns={columns} metrics={metricKeys(items)} choose={choose} />
          </>
        }
      />
      <Filters search={search} counts={first?.counts} facets={facets.data} mine={mine} update={update} clear={clear} />
      <Outdated query={kept} />
      <div
        className={`tm-panel tm-table${widthOf(columns, leastName(room)) > room ? " tm-table-wide" : ""}`}
        data-testid="jobs"
        ref={attach}
      >
        <div className="tm-table-scroll">
          <JobTable
            items={items}
            columns={columns}
            order={order}
            setOrder={(by) => update({ order: by })}
            selected={choice.ids}
            select={choice.select}
            selectAll={(on) => {
              choice.select(
                items.map((job) => job.id),
                on,
              );
              if (on && matching && (matching.partial || total > items.length)) void takeAll(matching);
            }}
            openMenu={openMenu}
            stale={list.isPlaceholderData && !kept.error}
            instead={items.length > 0 ? null : <InsteadOfRows query={kept} clear={clear} mine={mine} update={update} />}
          />
        </div>
        {kept.data && (
          <div className="tm-table-foot">
            <span className="tm-faint" data-testid="shown">
              {t(first?.partial ? "jobs.shownOfMore" : "jobs.shown", { n: number(items.length), total: number(total) })}
            </span>
            <LoadMore query={list} testid="load-more">
              {t("jobs.loadMore")}
            </LoadMore>
          </div>
        )}
        <Bulk selected={choice.jobs} everything={choice.everything} onlyShown={choice.onlyShown} clear={choice.clear} />
        {menu && <RowMenu at={menu} close={() => setMenu(undefined)} change={setChanging} save={setSaving} />}
      </div>
      {changing && <ChangeJob {...changing} close={() => setChanging(undefined)} />}
      {saving && <SaveTemplate of={{ job: saving.id }} name={saving.name} close={() => setSaving(undefined)} />}
    </>
  );
}

/** A job that moved between two pages while they were read must not appear twice. */
function unique(jobs: Job[]): Job[] {
  return [...new Map(jobs.map((job) => [job.id, job])).values()];
}

interface Selection {
  ids: ReadonlySet<string>;
  jobs: readonly Job[];
  everything: Everything | undefined;
  select: (ids: readonly string[], on: boolean) => void;
  takeEverything: (all: Everything) => void;
  onlyShown: () => void;
  clear: () => void;
}

/** What is ticked. It is never more than what is on the page: a job that a filter hides is dropped, and so is "all" of another filter. */
function useSelection(items: readonly Job[], filter: string, stale: boolean): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [everything, setEverything] = useState<{ of: string; all: Everything }>();
  const jobs = useMemo(() => items.filter((job) => ids.has(job.id)), [items, ids]);
  useEffect(() => {
    if (!stale) setIds((old) => (old.size > jobs.length ? new Set(jobs.map((job) => job.id)) : old));
  }, [jobs, stale]);
  const select = useCallback((some: readonly string[], on: boolean) => {
    setEverything(undefined);
    setIds((old) => {
      const next = new Set(old);
      for (const id of some) {
        if (on) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  }, []);
  const clear = useCallback(() => {
    setEverything(undefined);
    setIds(new Set());
  }, []);
  const all = everything?.of === filter ? everything.all : undefined;
  return {
    ids,
    jobs,
    everything: all,
    select,
    takeEverything: (of) => setEverything({ of: filter, all: of }),
    onlyShown: () => setEverything(undefined),
    clear,
  };
}

interface Room {
  frame: RefObject<HTMLDivElement | null>;
  attach: RefCallback<HTMLDivElement>;
  width: number;
}

/** How wide the panel is, whenever there is one: what the usual columns have to fit into. */
function useRoom(): Room {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(() => Math.max(320, window.innerWidth - 260)); // without the navigation
  const attach = useCallback((element: HTMLDivElement | null) => {
    frame.current = element;
    if (!element) return undefined;
    const watch = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.floor(entry.contentRect.width));
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return { frame, attach, width };
}

function Whose({ mine, update }: { mine: boolean; update: (change: Partial<JobsSearch>) => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <Segmented
      value={mine ? "mine" : "all"}
      options={[
        { value: "mine", label: t("jobs.who.mine") },
        { value: "all", label: t("jobs.who.all") },
      ]}
      onChange={(value) => {
        const who = value === "mine" ? "mine" : "all";
        keepWho(who);
        update({ who, owner: undefined });
      }}
      aria-label={t("jobs.who.title")}
      data-testid="who"
    />
  );
}

function InsteadOfRows({
  query,
  clear,
  mine,
  update,
}: {
  query: Kept<unknown>;
  clear: () => void;
  mine: boolean;
  update: (change: Partial<JobsSearch>) => void;
}): ReactNode {
  if (query.data !== undefined)
    return <NoneMatches clear={clear} everybody={mine ? () => update({ who: "all" }) : undefined} />;
  if (query.error) return <ErrorPanel error={query.error} retry={() => void query.refetch()} />;
  return WAITING_ROWS.map((at) => <div key={at} className="tm-waiting-row" />);
}
