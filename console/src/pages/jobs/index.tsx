/** The list of jobs: live, searched, filtered, sorted, and acted upon one by one or together. */
import { DeleteOutlined, StopOutlined } from "@ant-design/icons";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Table } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listJobs } from "../../api/jobs";
import { ENDED, type Job, type JobQuery, STATES, type State } from "../../api/types";
import { useJobActions } from "../../shared/actions";
import type { JobsSearch } from "../../shared/address";
import { useKept } from "../../shared/kept";
import { Outdated, PageHeader, Pending } from "../../shared/ui";
import { useColumns } from "./columns";
import { Filters } from "./filters";
import { FirstJob, NoneMatches } from "./none";

const PAGE = 50;

function queryOf(search: JobsSearch): JobQuery {
  const state = (search.state ?? []).filter((s): s is State => (STATES as readonly string[]).includes(s));
  return {
    q: search.q,
    state,
    owner: search.owner,
    framework: search.framework,
    node: search.node,
    order: search.order ?? "-submitted_at",
    limit: PAGE,
  };
}

export function JobsPage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const [selected, setSelected] = useState<ReadonlyMap<string, Job>>(new Map());
  const query = queryOf(search);
  const list = useInfiniteQuery({
    queryKey: ["jobs", query],
    queryFn: ({ pageParam, signal }) => listJobs(query, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const kept = useKept(list);
  const items = useMemo(() => unique(kept.data?.pages.flatMap((page) => page.items) ?? []), [kept.data]);
  const counts = kept.data?.pages[0]?.counts;
  const filtered = Boolean(search.q || search.state || search.owner || search.framework || search.node);
  const update = (change: Partial<JobsSearch>): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const columns = useColumns();

  if (list.data && items.length === 0 && !filtered)
    return (
      <>
        <PageHeader title={t("jobs.title")} />
        <FirstJob />
      </>
    );
  return (
    <>
      <PageHeader
        title={t("jobs.title")}
        actions={
          <Bulk
            selected={items.filter((job) => selected.has(job.id)).concat(gone(selected, items))}
            clear={() => setSelected(new Map())}
          />
        }
      />
      <Filters search={search} counts={counts} items={items} update={update} />
      <Outdated query={kept} />
      {!kept.data ? (
        <Pending query={kept} rows={10} />
      ) : (
        <div className="tm-panel tm-table" data-testid="jobs">
          <Table<Job>
            rowKey="id"
            size="middle"
            dataSource={items}
            columns={columns}
            pagination={false}
            loading={list.isPlaceholderData && !kept.error}
            scroll={{ x: 1022 }}
            rowSelection={{
              selectedRowKeys: [...selected.keys()],
              preserveSelectedRowKeys: true,
              onChange: (_, rows) => setSelected(new Map(rows.filter(Boolean).map((job) => [job.id, job]))),
              getCheckboxProps: (job) => ({ "aria-label": job.name }) as object,
            }}
            onRow={(job) => ({ "data-testid": "job-row", "data-id": job.id }) as object}
            locale={{ emptyText: <NoneMatches clear={() => void navigate({ search: {}, replace: true })} /> }}
          />
          <div className="tm-table-foot">
            <span className="tm-faint">{t("jobs.loaded", { n: items.length })}</span>
            {list.hasNextPage && (
              <Button
                onClick={() => void list.fetchNextPage()}
                loading={list.isFetchingNextPage}
                data-testid="load-more"
              >
                {t("jobs.loadMore")}
              </Button>
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** A job that moved between two pages while they were read must not appear twice. */
function unique(jobs: Job[]): Job[] {
  return [...new Map(jobs.map((job) => [job.id, job])).values()];
}

function gone(selected: ReadonlyMap<string, Job>, items: Job[]): Job[] {
  const shown = new Set(items.map((job) => job.id));
  return [...selected.values()].filter((job) => !shown.has(job.id));
}

function Bulk({ selected, clear }: { selected: Job[]; clear: () => void }): ReactNode {
  const { t } = useTranslation();
  const act = useJobActions();
  if (selected.length === 0) return null;
  const ended = selected.filter((job) => ENDED.has(job.state)).length;
  return (
    <div className="tm-bulk" role="toolbar">
      <span>{t("jobs.selected", { count: selected.length })}</span>
      <Button
        icon={<StopOutlined />}
        disabled={ended === selected.length}
        onClick={() => act("stop", selected, clear)}
        data-testid="bulk-stop"
      >
        {t("action.stop")}
      </Button>
      <Button
        danger
        icon={<DeleteOutlined />}
        disabled={ended === 0}
        onClick={() => act("delete", selected, clear)}
        data-testid="bulk-delete"
      >
        {t("action.delete")}
      </Button>
      <Button type="text" onClick={clear}>
        {t("action.clear")}
      </Button>
    </div>
  );
}
