/** Resource pools (R10, R11) and virtual clusters, their guaranteed shares (R6). */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Form, Input, Select, Tag } from "antd";
import type { ReactNode } from "react";
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
import { Shares } from "../../shared/shares";
import { Labels, Nothing } from "../../shared/ui";
import { Engines } from "../cluster/engines";
import { AMOUNT } from "../usage/amounts";
import { type Named, NamedDialog } from "./dialog";
import { type LimitRow, LimitsEditor, limitsOf, rowsOf, useWarnings } from "./limits";
import { NamedTable, useJobsColumn } from "./table";

export function PoolsAdmin(): ReactNode {
  const { t } = useTranslation();
  const pools = useQuery({ queryKey: ["pools"], queryFn: () => listPools() });
  return (
    <div className="tm-stack">
      <Pools query={pools} />
      <Shared pools={pools.data?.items ?? []} />
      <Engines hint={t("engines.hint")} />
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

function Pools({ query }: { query: UseQueryResult<{ items: ResourcePool[] }> }): ReactNode {
  const { t } = useTranslation();
  const jobs = useJobsColumn<ResourcePool>();
  return (
    <NamedTable<ResourcePool>
      title={t("admin.pools.pools")}
      hint={t("admin.pools.hint")}
      add={t("admin.pools.addPool")}
      test="pool-add"
      query={query}
      remove={(pool) => deletePool(pool.name)}
      stays="default"
      dialog={(pool, close) => <PoolDialog pool={pool} close={close} />}
      columns={[
        {
          title: t("admin.pools.kind"),
          key: "kind",
          width: 220,
          render: (_, pool) => (
            <Labels names={pool.workspaces}>
              <Tag className="tm-tag" color={pool.kind === "dedicated" ? "purple" : "default"}>
                {t(`admin.pools.kinds.${pool.kind}`)}
              </Tag>
            </Labels>
          ),
        },
        {
          title: t("admin.pools.nodes"),
          key: "nodes",
          width: 170,
          render: (_, pool) => t("engines.inService", { n: pool.nodes_in_service, total: pool.nodes }),
        },
        { title: t("admin.pools.cards"), key: "cards", width: 110, render: (_, pool) => <PoolCards pool={pool} /> },
        jobs,
      ]}
    />
  );
}

function PoolCards({ pool }: { pool: ResourcePool }): ReactNode {
  const gpu = pool.amounts.find(({ resource }) => resource === "gpu");
  return gpu && gpu.total > 0 ? (
    <span className="tm-num">
      {number(gpu.used)} / {number(gpu.total)}
    </span>
  ) : (
    <Nothing />
  );
}

function PoolDialog({ pool, close }: { pool: ResourcePool | null; close: () => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <NamedDialog<PoolBody & Named, ResourcePool>
      one={pool}
      add={t("admin.pools.addPool")}
      close={close}
      values={{
        kind: pool?.kind ?? "public",
        workspaces: pool?.workspaces ?? [],
        price_gpu: pool?.price_gpu ?? "0.00",
        price_cpu: pool?.price_cpu ?? "0.00",
      }}
      save={({ name, kind, workspaces, description, price_gpu, price_cpu }) =>
        savePool(name, {
          kind,
          workspaces: kind === "dedicated" ? (workspaces ?? []) : [],
          description,
          price_gpu: price_gpu.trim() || "0",
          price_cpu: price_cpu.trim() || "0",
        })
      }
    >
      <Form.Item name="kind" label={t("admin.pools.kind")}>
        <Select
          options={(["public", "dedicated"] as const).map((value) => ({
            value,
            label: t(`admin.pools.kinds.${value}`),
          }))}
        />
      </Form.Item>
      <Dedicated />
      <div className="tm-grid tm-grid-2">
        {(["price_gpu", "price_cpu"] as const).map((name) => (
          <Form.Item
            key={name}
            name={name}
            label={t(name === "price_gpu" ? "admin.pools.priceGpu" : "admin.pools.priceCpu")}
            extra={name === "price_gpu" ? t("admin.pools.priceHint") : undefined}
            rules={[{ pattern: AMOUNT, message: t("usage.amountBad") }]}
          >
            <Input inputMode="decimal" data-testid={`pool-${name}`} />
          </Form.Item>
        ))}
      </div>
    </NamedDialog>
  );
}

/** To whom, where a pool is dedicated. */
function Dedicated(): ReactNode {
  const { t } = useTranslation();
  const dedicated = Form.useWatch("kind") === "dedicated";
  const workspaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces });
  if (!dedicated) return null;
  return (
    <Form.Item name="workspaces" label={t("admin.pools.workspaces")}>
      <Select
        mode="multiple"
        options={(workspaces.data?.items ?? []).map((one) => ({ value: one.name, label: one.name }))}
      />
    </Form.Item>
  );
}

function Shared({ pools }: { pools: ResourcePool[] }): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["virtual-clusters"], queryFn: listVirtualClusters });
  const jobs = useJobsColumn<VirtualCluster>();
  return (
    <NamedTable<VirtualCluster>
      title={t("admin.pools.shares")}
      hint={t("admin.pools.sharesHint")}
      add={t("admin.pools.addShare")}
      test="share-add"
      none={t("admin.noShares")}
      query={query}
      remove={(one) => deleteVirtualCluster(one.name)}
      dialog={(one, close) => <ShareDialog one={one} pools={pools} close={close} />}
      columns={[
        { title: t("admin.pools.pool"), dataIndex: "pool", width: 160 },
        {
          title: t("admin.pools.share"),
          key: "share",
          width: 320,
          render: (_, one) => <Shares share={one.share} />,
        },
        jobs,
      ]}
    />
  );
}

interface ShareForm extends Named {
  pool: string;
  share: LimitRow[];
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
  const warnings = useWarnings();
  return (
    <NamedDialog<ShareForm, VirtualCluster>
      one={one}
      add={t("admin.pools.addShare")}
      close={close}
      width={680}
      values={{
        pool: one?.pool ?? "default",
        share: one ? rowsOf(one.share) : [{ resource: "gpu", nominal: 0, cap: null }],
      }}
      save={({ name, pool, share, description }) =>
        saveVirtualCluster(name, { pool, share: limitsOf(share), description })
      }
      warnings={({ pool, share }) => warnings(pool, share)}
    >
      <Form.Item name="pool" label={t("admin.pools.pool")}>
        <Select options={pools.map((pool) => ({ value: pool.name, label: pool.name }))} />
      </Form.Item>
      <Form.Item label={t("admin.pools.share")} extra={t("admin.limits.capHint")}>
        <LimitsEditor path={["share"]} models={modelsOf(pools)} />
      </Form.Item>
    </NamedDialog>
  );
}
