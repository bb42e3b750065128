/** The nodes, or those that fit chosen flavors: what they are, how much of them is used and by whom, and what the queue asks for (R164-R169). */
import { SearchOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Button, Grid, Input, Select, Tag } from "antd";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { listFlavors, listPools, readResources } from "../../api/cluster";
import type { ClusterResources, Flavor } from "../../api/types";
import { mib, number } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { DataTable } from "../../shared/table";
import { Empty, Outdated, Pending } from "../../shared/ui";
import { cards, DemandStrip } from "../queue/demand";
import { type Entry, isHeading, useResourceColumns } from "./columns";
import { NodeDetails } from "./node";
import { withHeadings } from "./rows";

export interface Choice {
  flavors?: string[];
  model?: string;
  pool?: string;
  owner?: string;
  q?: string;
}

interface Props {
  choice: Choice;
  choose: (change: Partial<Choice>) => void;
  workspace?: string;
  /** In a drawer beside the form, where there is less room. */
  drawer?: boolean;
}

const PAGE = 50;
const NOTHING_CHOSEN: Choice = {
  flavors: undefined,
  model: undefined,
  pool: undefined,
  owner: undefined,
  q: undefined,
};
const TYPING_MS = 250;

export function ResourcesTable({ choice, choose, workspace = "default", drawer = false }: Props): ReactNode {
  const { t } = useTranslation();
  const small = Grid.useBreakpoint().xl === false;
  const narrow = drawer || small;
  const { flavors = [], model, pool, owner, q } = choice;
  const [page, setPage] = useState(1);
  const asked = JSON.stringify([flavors, model, pool, owner, q, workspace]);
  // biome-ignore lint/correctness/useExhaustiveDependencies(asked): another question begins at its first page.
  useEffect(() => setPage(1), [asked]);
  const query = useKept(
    useQuery({
      queryKey: ["resources", asked, page],
      queryFn: () =>
        readResources({ flavors, workspace, pool, model, owner, q, offset: (page - 1) * PAGE, limit: PAGE }),
      placeholderData: keepPreviousData,
      refetchInterval: 15_000,
    }),
  );
  const columns = useResourceColumns({ chosen: flavors.length > 0, narrow });
  return (
    <div data-testid="resources">
      <Outdated query={query} />
      <Filters choice={choice} choose={choose} workspace={workspace} data={query.data} />
      {!query.data ? (
        <Pending query={query} rows={8} />
      ) : query.data.total === 0 ? (
        <div className="tm-panel">
          <Empty title={t("resources.none")}>
            <p className="tm-faint">{t("resources.noneHint")}</p>
            <Button onClick={() => choose(NOTHING_CHOSEN)}>{t("jobs.clearFilters")}</Button>
          </Empty>
        </div>
      ) : (
        <Nodes data={query.data} columns={columns} page={page} setPage={setPage} width={narrow ? 800 : 1000} />
      )}
    </div>
  );
}

function Nodes({
  data,
  columns,
  page,
  setPage,
  width,
}: {
  data: ClusterResources;
  columns: ReturnType<typeof useResourceColumns>;
  page: number;
  setPage: (page: number) => void;
  width: number;
}): ReactNode {
  const { t } = useTranslation();
  const [open, setOpen] = useState<readonly string[]>([]);
  return (
    <div className="tm-panel tm-table">
      <DataTable<Entry>
        rowKey={(entry) => (isHeading(entry) ? `pool ${entry.pool}` : entry.name)}
        size="small"
        className="tm-dense"
        columns={columns}
        dataSource={withHeadings(data.nodes)}
        pagination={false}
        tableLayout="fixed"
        scroll={{ x: width }}
        rowClassName={(entry) => (isHeading(entry) ? "tm-pool-row" : "")}
        onRow={(entry) =>
          (isHeading(entry)
            ? { "data-testid": `resource-pool-${entry.pool}` }
            : { "data-testid": `resource-${entry.name}`, "data-state": entry.state }) as object
        }
        expandable={{
          expandedRowRender: (entry) => (isHeading(entry) ? null : <NodeDetails name={entry.name} pool={entry.pool} />),
          rowExpandable: (entry) => !isHeading(entry),
          expandedRowKeys: open,
          onExpandedRowsChange: (keys) => setOpen(keys.map(String)),
          columnWidth: 40,
          expandIcon: ({ expanded, onExpand, record }) =>
            isHeading(record) ? null : (
              <button
                type="button"
                className={`tm-expand${expanded ? " tm-on" : ""}`}
                aria-expanded={expanded}
                aria-label={`${t(expanded ? "queue.detail.collapse" : "resources.details")} ${record.name}`}
                onClick={(e) => onExpand(record, e)}
                data-testid={`expand-${record.name}`}
              >
                ›
              </button>
            ),
        }}
      />
      {data.total > PAGE && <Pages total={data.total} page={page} setPage={setPage} />}
    </div>
  );
}

function Pages({ total, page, setPage }: { total: number; page: number; setPage: (page: number) => void }): ReactNode {
  const { t } = useTranslation();
  const last = Math.ceil(total / PAGE);
  return (
    <div className="tm-table-foot" data-testid="node-pages">
      <span className="tm-faint tm-num">
        {t("resources.range", { from: (page - 1) * PAGE + 1, to: Math.min(total, page * PAGE), total })}
      </span>
      <span className="tm-labels">
        <Button size="small" disabled={page === 1} onClick={() => setPage(page - 1)}>
          {t("resources.previous")}
        </Button>
        <Button size="small" disabled={page >= last} onClick={() => setPage(page + 1)} data-testid="node-pages-next">
          {t("resources.next")}
        </Button>
      </span>
    </div>
  );
}

export function flavorWords(flavor: Flavor): string {
  const count = flavor.gpu_share < 1 ? flavor.gpu_share : flavor.gpu;
  return [
    flavor.gpu > 0 ? `${cards(count)} × ${flavor.gpu_type ?? "GPU"}` : "",
    `${number(flavor.cpu)} CPU`,
    mib(flavor.memory_mib),
  ]
    .filter(Boolean)
    .join(" · ");
}

function Filters({
  choice,
  choose,
  workspace,
  data,
}: Pick<Props, "choice" | "choose"> & { workspace: string; data: ClusterResources | undefined }): ReactNode {
  const { t } = useTranslation();
  const pools = useQuery({ queryKey: ["pools"], queryFn: () => listPools(), staleTime: 60_000 });
  const flavors = useQuery({
    queryKey: ["flavors", workspace],
    queryFn: () => listFlavors(workspace),
    staleTime: 60_000,
  });
  const models = (data?.demand ?? []).flatMap(({ model }) => (model === null ? [] : [{ value: model, label: model }]));
  return (
    <div className="tm-filters">
      <div className="tm-filter-line tm-center">
        <Search q={choice.q} choose={choose} />
        <Select
          mode="multiple"
          allowClear
          maxTagCount="responsive"
          className="tm-select-wide"
          placeholder={t("resources.flavors")}
          aria-label={t("resources.flavors")}
          value={choice.flavors ?? []}
          onChange={(names: string[]) => choose({ flavors: names.length > 0 ? names : undefined })}
          data-testid="resource-flavors"
          notFoundContent={t("resources.noFlavors")}
          options={(flavors.data?.items ?? []).map((one) => ({
            value: one.name,
            label: one.name,
            title: flavorWords(one),
          }))}
        />
        <Select
          allowClear
          className="tm-select"
          placeholder={t("resources.model")}
          aria-label={t("resources.model")}
          value={choice.model}
          onChange={(model?: string) => choose({ model })}
          options={models}
          data-testid="resource-model"
        />
        <Select
          allowClear
          className="tm-select"
          placeholder={t("resources.pool")}
          aria-label={t("resources.pool")}
          value={choice.pool}
          onChange={(pool?: string) => choose({ pool })}
          options={(pools.data?.items ?? []).map((one) => ({ value: one.name, label: one.name }))}
          data-testid="resource-pool"
        />
        {choice.owner && (
          <Tag closable onClose={() => choose({ owner: undefined })} data-testid="resource-owner">
            {t("resources.usedBy", { name: choice.owner })}
          </Tag>
        )}
      </div>
      {data && <DemandStrip demand={data.demand} chosen={choice.model} choose={(model) => choose({ model })} />}
    </div>
  );
}

/** What is typed is asked once it rests for a moment. */
function Search({ q, choose }: Pick<Props, "choose"> & { q: string | undefined }): ReactNode {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(q ?? "");
  useEffect(() => setTyped(q ?? ""), [q]);
  useEffect(() => {
    if (typed === (q ?? "")) return undefined;
    const timer = setTimeout(() => choose({ q: typed || undefined }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, q, choose]);
  return (
    <Input
      allowClear
      prefix={<SearchOutlined />}
      value={typed}
      onChange={(e) => setTyped(e.target.value)}
      placeholder={t("resources.search")}
      aria-label={t("resources.search")}
      className="tm-node-search"
      data-testid="node-search"
    />
  );
}
