/** What waits, in which order, why, since when and until when; as a list or as a timeline. Live. */
import { BarsOutlined, CheckCircleOutlined, ScheduleOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Segmented, Select, Switch } from "antd";
import { lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listPools, listWorkspaces, readUse } from "../../api/cluster";
import { readQueue } from "../../api/queue";
import type { QueuePage as Page, Waiting } from "../../api/types";
import type { QueueSearch } from "../../shared/address";
import { ChangeJob } from "../../shared/change";
import { useKept } from "../../shared/kept";
import { DataTable } from "../../shared/table";
import { Empty, Outdated, PageHeader, Pending } from "../../shared/ui";
import { PlannedAt, useQueueColumns } from "./columns";
import { DemandStrip } from "./demand";
import { WaitDetail } from "./detail";

const Timeline = lazy(() => import("./timeline").then((m) => ({ default: m.TimelinePage })));
const PAGE = 50;
const MOST = 500;

const ALL = { pool: undefined, model: undefined, workspace: undefined, owner: undefined, mine: undefined };
const filtered = (search: QueueSearch): boolean =>
  Boolean(search.pool || search.model || search.workspace || search.owner || search.mine);

type Update = (change: Partial<QueueSearch>) => void;

export function QueuePage(): ReactNode {
  const { t } = useTranslation();
  const search = useSearch({ from: "/queue" });
  const navigate = useNavigate({ from: "/queue" });
  const [limit, setLimit] = useState(PAGE);
  const update: Update = useCallback(
    (change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true }),
    [navigate],
  );
  const { pool, model, workspace, owner, mine } = search;
  const query = useKept(
    useQuery({
      queryKey: ["queue", pool, model, workspace, owner, mine, limit],
      queryFn: ({ signal }) => readQueue({ pool, model, workspace, owner, mine, limit }, signal),
      placeholderData: keepPreviousData,
      refetchInterval: 15_000,
    }),
  );
  return (
    <div data-testid="queue-page">
      <PageHeader
        title={t("queue.title")}
        sub={
          query.data && (
            <>
              {t(filtered(search) ? "queue.matching" : "queue.waiting", { count: query.data.total })}
              <PlannedAt at={query.data.planned_at} />
            </>
          )
        }
        actions={
          <Segmented<"list" | "timeline">
            value={search.view ?? "list"}
            onChange={(view) => update({ view: view === "list" ? undefined : view })}
            aria-label={t("queue.view")}
            options={[
              { value: "list", icon: <BarsOutlined />, label: t("queue.list") },
              {
                value: "timeline",
                icon: <ScheduleOutlined />,
                label: <span data-testid="view-timeline">{t("queue.timeline")}</span>,
              },
            ]}
          />
        }
      />
      <Outdated query={query} />
      <QueueFilters search={search} page={query.data} update={update} />
      {search.view === "timeline" ? (
        <Suspense fallback={<Pending query={{ error: null, refetch: () => undefined }} />}>
          <Timeline pool={pool} />
        </Suspense>
      ) : !query.data ? (
        <Pending query={query} rows={8} />
      ) : (
        <List
          page={query.data}
          search={search}
          clear={() => update(ALL)}
          more={
            limit < MOST && query.data.total > query.data.items.length
              ? () => setLimit((old) => Math.min(MOST, old * 2))
              : undefined
          }
        />
      )}
    </div>
  );
}

function QueueFilters({
  search,
  page,
  update,
}: {
  search: QueueSearch;
  page: Page | undefined;
  update: Update;
}): ReactNode {
  const { t } = useTranslation();
  const pools = useQuery({ queryKey: ["pools"], queryFn: () => listPools(), staleTime: 60_000 });
  const workspaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 60_000 });
  const named = (names: string[]): { value: string; label: string }[] =>
    names.map((name) => ({ value: name, label: name }));
  const models = (page?.demand ?? []).flatMap(({ model }) => (model === null ? [] : [model]));
  const list = search.view !== "timeline";
  const use = useQuery({ queryKey: ["use", search.pool], queryFn: () => readUse(search.pool), enabled: list });
  const queued = (use.data?.people ?? []).flatMap((one) => (one.owner !== null && one.waiting > 0 ? [one.owner] : []));
  const owners = [...new Set([...(search.owner ? [search.owner] : []), ...queued])].sort();
  return (
    <div className="tm-filters">
      <div className="tm-filter-line tm-center">
        <Select
          allowClear
          className="tm-select"
          placeholder={t("queue.filter.pool")}
          aria-label={t("queue.filter.pool")}
          value={search.pool}
          options={named((pools.data?.items ?? []).map((one) => one.name))}
          onChange={(pool?: string) => update({ pool })}
          data-testid="filter-pool"
        />
        {list && (
          <Select
            allowClear
            className="tm-select"
            placeholder={t("queue.filter.model")}
            aria-label={t("queue.filter.model")}
            value={search.model}
            options={named(models)}
            onChange={(model?: string) => update({ model })}
            data-testid="filter-model"
          />
        )}
        {list && (
          <Select
            allowClear
            className="tm-select"
            placeholder={t("queue.filter.workspace")}
            aria-label={t("queue.filter.workspace")}
            value={search.workspace}
            options={named((workspaces.data?.items ?? []).map((one) => one.name))}
            onChange={(workspace?: string) => update({ workspace })}
            data-testid="filter-workspace"
          />
        )}
        {list && (
          <Select
            allowClear
            showSearch
            className="tm-select"
            placeholder={t("queue.filter.owner")}
            aria-label={t("queue.filter.owner")}
            value={search.owner}
            options={named(owners)}
            onChange={(owner?: string) => update({ owner })}
            data-testid="filter-owner"
          />
        )}
        {list && (
          <label className="tm-switch">
            <Switch
              size="small"
              checked={search.mine === true}
              onChange={(mine) => update({ mine: mine || undefined })}
            />
            {t("queue.filter.mine")}
          </label>
        )}
      </div>
      {page && <DemandStrip demand={page.demand} chosen={search.model} choose={(model) => update({ model })} />}
    </div>
  );
}

function List({
  page,
  search,
  clear,
  more,
}: {
  page: Page;
  search: QueueSearch;
  clear: () => void;
  more: (() => void) | undefined;
}): ReactNode {
  const { t } = useTranslation();
  const [changing, setChanging] = useState<Waiting | null>(null);
  const [open, setOpen] = useState<readonly string[]>([]);
  const many = useMemo(() => new Set(page.items.map((job) => job.pool)).size > 1, [page]);
  const columns = useQueueColumns(many, setChanging);
  if (page.items.length === 0) {
    return (
      <div className="tm-panel">
        {filtered(search) ? (
          <Empty title={t("queue.noneMatches")}>
            <p className="tm-faint">{t("queue.noneMatchesHint")}</p>
            <Button onClick={clear}>{t("jobs.clearFilters")}</Button>
          </Empty>
        ) : (
          <Empty title={t("queue.nothing")} icon={<CheckCircleOutlined className="tm-empty-icon" />}>
            <p className="tm-faint">{t("queue.nothingHint")}</p>
          </Empty>
        )}
      </div>
    );
  }
  return (
    <div className="tm-panel tm-table" data-testid="queue">
      <DataTable<Waiting>
        rowKey={(job) => job.job ?? `${job.pool}/${job.position}`}
        size="middle"
        columns={columns}
        lead="job"
        dataSource={page.items}
        pagination={false}
        tableLayout="fixed"
        className="tm-queue"
        scroll={{ x: 860 }}
        onRow={(job) => ({ "data-testid": "queue-row", "data-id": job.job ?? "" }) as object}
        expandable={{
          expandedRowRender: (job) => <WaitDetail job={job} />,
          expandedRowKeys: open,
          onExpandedRowsChange: (keys) => setOpen(keys.map(String)),
          columnWidth: 40,
          expandIcon: ({ expanded, onExpand, record }) => (
            <button
              type="button"
              className={`tm-expand${expanded ? " tm-on" : ""}`}
              aria-expanded={expanded}
              aria-label={t(expanded ? "queue.detail.collapse" : "queue.detail.expand")}
              onClick={(e) => onExpand(record, e)}
              data-testid="queue-expand"
            >
              ›
            </button>
          ),
        }}
      />
      {(more || page.total > page.items.length) && (
        <div className="tm-table-foot">
          <span className="tm-faint">
            {t("jobs.loaded", { n: page.items.length })} / {page.total}
          </span>
          {more && (
            <Button size="small" onClick={more}>
              {t("queue.more")}
            </Button>
          )}
        </div>
      )}
      {changing?.job && (
        <ChangeJob
          job={{ id: changing.job, duration_s: changing.duration_s, priority: changing.priority }}
          what="priority"
          close={() => setChanging(null)}
        />
      )}
    </div>
  );
}
