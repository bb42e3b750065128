/** Flavors: named sets of resources of one replica, by workspace. */
import { useQuery } from "@tanstack/react-query";
import { AutoComplete, Form, Input, InputNumber, Select, Tag } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteFlavor, type FlavorBody, listFlavors, listPools, listWorkspaces, saveFlavor } from "../../api/cluster";
import type { Flavor } from "../../api/types";
import { mib, number } from "../../shared/format";
import { Labels, Nothing, TwoLines } from "../../shared/ui";
import { cards } from "../queue/demand";
import { AMOUNT, shownAmount } from "../usage/amounts";
import { type Named, NamedDialog } from "./dialog";
import { NamedTable } from "./table";

/** Whose cards there are most; another name may be written. */
const VENDORS = ["NVIDIA", "AMD", "Huawei", "Cambricon"] as const;

type FlavorForm = FlavorBody & Named;
const FRESH: Omit<FlavorForm, keyof Named> = {
  cpu: 4,
  memory_mib: 8192,
  gpu: 1,
  gpu_type: null,
  gpu_share: 1,
  shm_mib: 64,
  vendor: "",
  price: null,
  cache_mib: 0,
  pools: [],
};

export function FlavorsAdmin(): ReactNode {
  const { t } = useTranslation();
  const [workspace, setWorkspace] = useState("default");
  const workspaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces });
  const query = useQuery({ queryKey: ["flavors", workspace], queryFn: () => listFlavors(workspace) });
  const models = (query.data?.demand ?? []).flatMap(({ model }) => (model === null ? [] : [model]));
  return (
    <NamedTable<Flavor>
      hint={t("admin.flavors.hint")}
      add={t("admin.flavors.add")}
      test="flavor-add"
      none={t("admin.noFlavors")}
      filter={
        <div className="tm-admin-filter">
          <Select
            value={workspace}
            onChange={setWorkspace}
            className="tm-select"
            prefix={<span className="tm-select-label">{t("admin.flavors.workspace")}</span>}
            aria-label={t("admin.flavors.workspace")}
            options={(workspaces.data?.items ?? [{ name: workspace }]).map((one) => ({
              value: one.name,
              label: one.name,
            }))}
          />
        </div>
      }
      query={query}
      width={1020}
      remove={(one) => deleteFlavor(workspace, one.name)}
      dialog={(one, close) => <FlavorDialog one={one} workspace={workspace} models={models} close={close} />}
      columns={[
        {
          title: t("admin.flavors.kind"),
          key: "kind",
          width: 84,
          render: (_, one) => (
            <Tag className="tm-tag" color={one.kind === "cpu" ? "blue" : "purple"}>
              {one.kind.toUpperCase()}
            </Tag>
          ),
        },
        { title: t("admin.flavors.cpu"), key: "cpu", width: 96, render: (_, one) => number(one.cpu) },
        { title: t("cluster.memory"), key: "memory", width: 96, render: (_, one) => mib(one.memory_mib) },
        {
          title: t("admin.flavors.gpu"),
          key: "gpu",
          width: 150,
          render: (_, one) =>
            one.gpu === 0 ? (
              <Nothing />
            ) : (
              <TwoLines
                first={`${cards(one.gpu_share < 1 ? one.gpu_share : one.gpu)} × ${one.gpu_type ?? t("admin.flavors.any")}`}
                second={one.vendor}
              />
            ),
        },
        {
          title: t("admin.flavors.cache"),
          key: "cache",
          width: 100,
          render: (_, one) => (one.cache_mib > 0 ? mib(one.cache_mib) : <Nothing />),
        },
        {
          title: t("usage.priceIn", { currency: query.data?.currency ?? "" }),
          key: "price",
          width: 168,
          className: "tm-num",
          render: (_, one) =>
            one.price === null ? <span className="tm-faint">{t("admin.flavors.byPool")}</span> : shownAmount(one.price),
        },
        {
          title: t("admin.flavors.pools"),
          key: "pools",
          width: 130,
          render: (_, one) =>
            one.pools.length > 0 ? (
              <Labels names={one.pools} />
            ) : (
              <span className="tm-faint">{t("admin.flavors.allPools")}</span>
            ),
        },
      ]}
    />
  );
}

function FlavorDialog({
  one,
  workspace,
  models,
  close,
}: {
  one: Flavor | null;
  workspace: string;
  models: string[];
  close: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const { cpu, memory_mib, gpu, gpu_type, gpu_share, shm_mib, vendor, price, cache_mib, pools } = one ?? FRESH;
  return (
    <NamedDialog<FlavorForm, Flavor>
      one={one}
      add={t("admin.flavors.add")}
      close={close}
      values={{ cpu, memory_mib, gpu, gpu_type, gpu_share, shm_mib, vendor, price, cache_mib, pools }}
      save={({ name, ...body }) =>
        saveFlavor(workspace, name, {
          ...body,
          gpu_type: body.gpu > 0 && body.gpu_type ? body.gpu_type : null,
          gpu_share: body.gpu === 1 ? (body.gpu_share ?? 1) : 1,
          vendor: body.vendor?.trim() ?? "",
          price: body.price?.trim() || null,
          cache_mib: body.cache_mib ?? 0,
          pools: body.pools ?? [],
        })
      }
    >
      <Amounts models={models} />
    </NamedDialog>
  );
}

function Amounts({ models }: { models: string[] }): ReactNode {
  const { t } = useTranslation();
  const count: unknown = Form.useWatch("gpu");
  const known = useQuery({ queryKey: ["pools"], queryFn: () => listPools() });
  const wide = { width: "100%" };
  return (
    <div className="tm-grid tm-grid-2">
      <Form.Item name="cpu" label={t("admin.flavors.cpu")} rules={[{ required: true }]}>
        <InputNumber min={0.01} max={4096} style={wide} />
      </Form.Item>
      <Form.Item name="memory_mib" label={t("admin.flavors.memory")} rules={[{ required: true }]}>
        <InputNumber min={16} precision={0} style={wide} />
      </Form.Item>
      <Form.Item name="gpu" label={t("admin.flavors.gpu")} rules={[{ required: true }]}>
        <InputNumber min={0} max={1024} precision={0} style={wide} data-testid="flavor-gpu" />
      </Form.Item>
      <Form.Item name="gpu_type" label={t("admin.flavors.gpuType")}>
        <AutoComplete
          disabled={count === 0}
          allowClear
          placeholder={t("admin.flavors.any")}
          options={models.map((value) => ({ value }))}
        />
      </Form.Item>
      <Form.Item name="gpu_share" label={t("admin.flavors.gpuShare")}>
        <InputNumber disabled={count !== 1} min={0.001} max={1} step={0.05} style={wide} />
      </Form.Item>
      <Form.Item name="shm_mib" label={t("admin.flavors.shm")}>
        <InputNumber min={0} precision={0} style={wide} />
      </Form.Item>
      <Form.Item name="vendor" label={t("admin.flavors.vendor")}>
        <AutoComplete disabled={count === 0} allowClear options={VENDORS.map((value) => ({ value }))} />
      </Form.Item>
      <Form.Item name="cache_mib" label={t("admin.flavors.cacheMib")} extra={t("admin.flavors.cacheHint")}>
        <InputNumber min={0} precision={0} style={wide} />
      </Form.Item>
      <Form.Item
        name="price"
        label={`${t("usage.price")}`}
        extra={t("admin.flavors.priceHint")}
        rules={[{ pattern: AMOUNT, message: t("usage.amountBad") }]}
      >
        <Input allowClear inputMode="decimal" placeholder={t("admin.flavors.byPool")} data-testid="flavor-price" />
      </Form.Item>
      <Form.Item name="pools" label={t("admin.flavors.pools")}>
        <Select
          mode="multiple"
          placeholder={t("admin.flavors.allPools")}
          options={(known.data?.items ?? []).map((one) => ({ value: one.name, label: one.name }))}
        />
      </Form.Item>
    </div>
  );
}
