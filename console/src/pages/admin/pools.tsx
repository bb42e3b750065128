/** Resource pools (R10, R11) and virtual clusters, their guaranteed shares (R6). */
import { useQuery } from "@tanstack/react-query";
import { Form, Select, Table, Tag } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  deletePool,
  deleteVirtualCluster,
  listPools,
  listVirtualClusters,
  listWorkspaces,
  type PoolBody,
  savePool,
  saveVirtualCluster,
} from "../../api/cluster";
import type { ResourcePool, VirtualCluster } from "../../api/types";
import { number } from "../../shared/format";
import { Pending } from "../../shared/ui";
import { DescriptionItem, Dialog, NameItem, RowButtons, TableHead } from "./dialog";
import { Engines } from "./engines";
import { type LimitRow, LimitsEditor, limitsOf, rowsOf, Shares, useWarnings } from "./limits";

export function PoolsAdmin(): ReactNode {
  const pools = useQuery({ queryKey: ["pools"], queryFn: () => listPools() });
  if (!pools.data) return <Pending query={pools} />;
  return (
    <div className="tm-stack">
      <Pools pools={pools.data.items} />
      <Shared pools={pools.data.items} />
      <Engines />
    </div>
  );
}

/** Card models of all pools, for those who write limits. */
export const modelsOf = (pools: readonly ResourcePool[]): string[] =>
  [
    ...new Set(
      pools.flatMap((pool) =>
        pool.amounts.flatMap(({ resource }) => (resource.startsWith("gpu:") ? [resource.slice(4)] : [])),
      ),
    ),
  ].sort();

function Pools({ pools }: { pools: ResourcePool[] }): ReactNode {
  const { t } = useTranslation();
  const [editing, setEditing] = useState<ResourcePool | "new" | null>(null);
  return (
    <section className="tm-panel">
      <TableHead
        title={t("admin.pools.pools")}
        hint={t("admin.pools.hint")}
        add={() => setEditing("new")}
        label={t("admin.pools.addPool")}
        test="pool-add"
      />
      <Table<ResourcePool>
        rowKey="name"
        size="middle"
        pagination={false}
        dataSource={pools}
        columns={[
          {
            title: t("admin.name"),
            key: "name",
            render: (_, pool) => (
              <div className="tm-cell">
                <b>{pool.name}</b>
                <span className="tm-line">{pool.description}</span>
              </div>
            ),
          },
          {
            title: t("admin.pools.kind"),
            key: "kind",
            width: 220,
            render: (_, pool) => (
              <span className="tm-labels">
                <Tag className="tm-tag" color={pool.kind === "dedicated" ? "purple" : "default"}>
                  {t(`admin.pools.kinds.${pool.kind}`)}
                </Tag>
                {pool.workspaces.map((name) => (
                  <Tag key={name} className="tm-tag">
                    {name}
                  </Tag>
                ))}
              </span>
            ),
          },
          {
            title: t("admin.pools.nodes"),
            key: "nodes",
            width: 170,
            render: (_, pool) => t("admin.pools.inService", { n: pool.nodes_in_service, total: pool.nodes }),
          },
          { title: t("admin.pools.cards"), key: "cards", width: 110, render: (_, pool) => <PoolCards pool={pool} /> },
          {
            title: t("admin.waitingRunning"),
            key: "jobs",
            width: 140,
            render: (_, pool) => (
              <span className="tm-num">
                {pool.waiting} / {pool.running}
              </span>
            ),
          },
          {
            title: "",
            key: "edit",
            width: 90,
            align: "end",
            render: (_, pool) => (
              <RowButtons
                name={pool.name}
                edit={() => setEditing(pool)}
                remove={() => deletePool(pool.name)}
                removable={pool.name !== "default"}
              />
            ),
          },
        ]}
      />
      {editing && <PoolDialog pool={editing === "new" ? null : editing} close={() => setEditing(null)} />}
    </section>
  );
}

function PoolCards({ pool }: { pool: ResourcePool }): ReactNode {
  const gpu = pool.amounts.find(({ resource }) => resource === "gpu");
  return gpu && gpu.total > 0 ? (
    <span className="tm-num">
      {number(gpu.used)} / {number(gpu.total)}
    </span>
  ) : (
    <span className="tm-faint">–</span>
  );
}

function PoolDialog({ pool, close }: { pool: ResourcePool | null; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const [form] = Form.useForm<PoolBody & { name: string }>();
  const kind = Form.useWatch("kind", form) ?? pool?.kind ?? "public";
  const workspaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces });
  return (
    <Dialog
      title={pool ? `${t("admin.edit")} ${pool.name}` : t("admin.pools.addPool")}
      form={form}
      close={close}
      initial={{
        name: pool?.name ?? "",
        kind: pool?.kind ?? "public",
        workspaces: pool?.workspaces ?? [],
        description: pool?.description ?? "",
      }}
      save={({ name, kind: chosen, workspaces: named, description }) =>
        savePool(name, {
          kind: chosen,
          workspaces: chosen === "dedicated" ? (named ?? []) : [],
          description: description ?? "",
        })
      }
    >
      <NameItem fixed={pool !== null} />
      <Form.Item name="kind" label={t("admin.pools.kind")}>
        <Select
          options={(["public", "dedicated"] as const).map((value) => ({
            value,
            label: t(`admin.pools.kinds.${value}`),
          }))}
        />
      </Form.Item>
      {kind === "dedicated" && (
        <Form.Item name="workspaces" label={t("admin.pools.workspaces")}>
          <Select
            mode="multiple"
            options={(workspaces.data?.items ?? []).map((one) => ({ value: one.name, label: one.name }))}
          />
        </Form.Item>
      )}
      <DescriptionItem />
    </Dialog>
  );
}

function Shared({ pools }: { pools: ResourcePool[] }): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["virtual-clusters"], queryFn: listVirtualClusters });
  const [editing, setEditing] = useState<VirtualCluster | "new" | null>(null);
  return (
    <section className="tm-panel">
      <TableHead
        title={t("admin.pools.shares")}
        hint={t("admin.pools.sharesHint")}
        add={() => setEditing("new")}
        label={t("admin.pools.addShare")}
        test="share-add"
      />
      {!query.data ? (
        <div className="tm-panel-body">
          <Pending query={query} rows={2} />
        </div>
      ) : (
        <Table<VirtualCluster>
          rowKey="name"
          size="middle"
          pagination={false}
          dataSource={query.data.items}
          locale={{ emptyText: t("admin.none") }}
          columns={[
            {
              title: t("admin.name"),
              key: "name",
              render: (_, one) => (
                <div className="tm-cell">
                  <b>{one.name}</b>
                  <span className="tm-line">{one.description}</span>
                </div>
              ),
            },
            { title: t("admin.pools.pool"), dataIndex: "pool", width: 160 },
            {
              title: t("admin.pools.share"),
              key: "share",
              width: 320,
              render: (_, one) => <Shares share={one.share} />,
            },
            {
              title: t("admin.waitingRunning"),
              key: "jobs",
              width: 140,
              render: (_, one) => (
                <span className="tm-num">
                  {one.waiting} / {one.running}
                </span>
              ),
            },
            {
              title: "",
              key: "edit",
              width: 90,
              align: "end",
              render: (_, one) => (
                <RowButtons
                  name={one.name}
                  edit={() => setEditing(one)}
                  remove={() => deleteVirtualCluster(one.name)}
                />
              ),
            },
          ]}
        />
      )}
      {editing && <ShareDialog one={editing === "new" ? null : editing} pools={pools} close={() => setEditing(null)} />}
    </section>
  );
}

interface ShareForm {
  name: string;
  pool: string;
  share: LimitRow[];
  description: string;
}

function ShareDialog({
  one,
  pools,
  close,
}: {
  one: VirtualCluster | null;
  pools: ResourcePool[];
  close: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const [form] = Form.useForm<ShareForm>();
  const warnings = useWarnings();
  return (
    <Dialog
      title={one ? `${t("admin.edit")} ${one.name}` : t("admin.pools.addShare")}
      form={form}
      close={close}
      width={680}
      initial={{
        name: one?.name ?? "",
        pool: one?.pool ?? "default",
        share: one ? rowsOf(one.share) : [{ resource: "gpu", nominal: 0, cap: null }],
        description: one?.description ?? "",
      }}
      save={({ name, pool, share, description }) =>
        saveVirtualCluster(name, { pool, share: limitsOf(share), description: description ?? "" })
      }
      warnings={({ pool, share }) => warnings(pool, share)}
    >
      <NameItem fixed={one !== null} />
      <Form.Item name="pool" label={t("admin.pools.pool")}>
        <Select options={pools.map((pool) => ({ value: pool.name, label: pool.name }))} />
      </Form.Item>
      <Form.Item label={t("admin.pools.share")} extra={t("admin.limits.capHint")}>
        <LimitsEditor path={["share"]} models={modelsOf(pools)} />
      </Form.Item>
      <DescriptionItem />
    </Dialog>
  );
}
