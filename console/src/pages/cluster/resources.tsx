/** Machines that fit the chosen flavors: what they are, how much of them is used and by whom, and what the queue asks for (R164-R169). */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Grid, Select, Table } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listFlavors, listPools, readResources } from "../../api/cluster";
import type { ClusterResources, Flavor, NodeRow } from "../../api/types";
import { mib, number } from "../../shared/format";
import { useKept } from "../../shared/kept";
import { Empty, Outdated, Pending } from "../../shared/ui";
import { cards, DemandStrip } from "../queue/demand";
import { useResourceColumns } from "./columns";

export interface Choice {
  flavors?: string[];
  model?: string;
  pool?: string;
}

interface Props {
  choice: Choice;
  choose: (change: Partial<Choice>) => void;
  workspace?: string;
  /** In a drawer beside the form, where there is less room. */
  drawer?: boolean;
}

export function ResourcesTable({ choice, choose, workspace = "default", drawer = false }: Props): ReactNode {
  const { t } = useTranslation();
  const small = Grid.useBreakpoint().xl === false;
  const narrow = drawer || small;
  const chosen = choice.flavors ?? [];
  const query = useKept(
    useQuery({
      queryKey: ["resources", chosen, workspace, choice.pool],
      queryFn: () => readResources(chosen, workspace, choice.pool),
      placeholderData: keepPreviousData,
      refetchInterval: 15_000,
    }),
  );
  const columns = useResourceColumns(chosen.length > 0, narrow);
  const rows = (query.data?.nodes ?? []).filter(
    (node) => !choice.model || node.cards.some((card) => card.model === choice.model),
  );
  return (
    <div data-testid="resources">
      <Outdated query={query} />
      <Filters choice={choice} choose={choose} workspace={workspace} data={query.data} />
      {!query.data ? (
        <Pending query={query} rows={8} />
      ) : rows.length === 0 ? (
        <div className="tm-panel">
          <Empty title={t("resources.none")}>
            <p className="tm-faint">{t("resources.noneHint")}</p>
          </Empty>
        </div>
      ) : (
        <div className="tm-panel tm-table">
          <Table<NodeRow>
            rowKey="name"
            size="middle"
            columns={columns}
            dataSource={rows}
            pagination={rows.length > 50 ? { pageSize: 50, showSizeChanger: false } : false}
            tableLayout="fixed"
            scroll={{ x: narrow ? 820 : 1000 }}
            onRow={(node) => ({ "data-testid": `resource-${node.name}`, "data-state": node.state }) as object}
          />
        </div>
      )}
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
      <div className="tm-filter-line">
        <Select
          mode="multiple"
          allowClear
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
        />
      </div>
      {data && <DemandStrip demand={data.demand} chosen={choice.model} choose={(model) => choose({ model })} />}
    </div>
  );
}
