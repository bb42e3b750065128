/** Where a job may run: its pool or a share of one, named nodes, a driver; and the flavors a replica is made of (R10-R13, R161, R162). */
import { TableOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Drawer, Segmented, Select, Tag } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listFlavors, listNodes, listPools } from "../../api/cluster";
import type { Flavor, JsonObject } from "../../api/types";
import { useBilingual } from "../../i18n";
import { type Choice, flavorWords, ResourcesTable } from "../cluster/resources";
import { emptyRole, getAt } from "./document";
import { FieldFrame, SelectField } from "./fields";
import { useForm } from "./state";

const DEFAULT = "default";
/** The pool that the platform chooses: where the job would start first. */
const ANY = "any";

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export function useWorkspace(): string {
  return String(useForm().doc["workspace"] ?? DEFAULT);
}

function ManyField({
  path,
  label,
  help,
  options,
  placeholder,
  test,
}: {
  path: string;
  label: string;
  help: string;
  options: { value: string; label: ReactNode; title?: string }[];
  placeholder?: string;
  test: string;
}): ReactNode {
  const form = useForm();
  return (
    <FieldFrame path={path} deep label={label} help={help}>
      <Select
        mode="multiple"
        allowClear
        value={texts(getAt(form.doc, path))}
        options={options}
        placeholder={placeholder}
        aria-label={label}
        onBlur={() => form.touch(path)}
        optionFilterProp="value"
        data-testid={test}
        onChange={(names: string[]) => form.set(path, names.length > 0 ? names : undefined)}
      />
    </FieldFrame>
  );
}

/** Pools first, each followed by the shares of it; one that this workspace may not use is shown, and says why. */
export function PlaceFields(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const form = useForm();
  const workspace = useWorkspace();
  const pools = useQuery({ queryKey: ["pools", workspace], queryFn: () => listPools(workspace), staleTime: 30_000 });
  const nodes = useQuery({ queryKey: ["nodes"], queryFn: listNodes, staleTime: 30_000 });
  const pool = String(form.doc["pool"] ?? DEFAULT);
  const known = pools.data?.items ?? [];
  const shares = known.find((one) => one.name === pool)?.virtual_clusters ?? [];
  const here = (nodes.data?.items ?? []).filter((node) => node.pool === pool);
  const drivers = [...new Set(here.map((node) => node.driver).filter(Boolean))].sort();
  return (
    <>
      <FieldFrame path="pool" label={t("submit.field.pool")} help={t("help.pool")}>
        <Select
          value={pool}
          aria-label={t("submit.field.pool")}
          data-testid="field-pool"
          onBlur={() => form.touch("pool")}
          options={[
            ...known.map((one) => ({
              value: one.name,
              label: one.why ? `${one.name} · ${pick(one.why)}` : one.name,
              disabled: !one.selectable,
            })),
            ...(known.length === 0 && pool !== ANY ? [{ value: pool, label: pool }] : []),
            ...(known.length > 1 || pool === ANY ? [{ value: ANY, label: t("submit.place.anyPool") }] : []),
          ]}
          onChange={(next: string) => {
            form.set("pool", next === DEFAULT ? undefined : next);
            for (const path of ["virtual_cluster", "nodes", "driver"]) form.set(path, undefined);
          }}
        />
      </FieldFrame>
      {(shares.length > 0 || form.doc["virtual_cluster"] !== undefined) && (
        <SelectField
          path="virtual_cluster"
          label={t("submit.field.virtual_cluster")}
          help={t("help.virtual_cluster")}
          placeholder={t("submit.place.noShare")}
          options={shares.map((one) => ({ value: one.name, label: one.name }))}
        />
      )}
      <ManyField
        path="nodes"
        label={t("submit.field.nodes")}
        help={t("help.nodes")}
        placeholder={t("submit.place.anyNode")}
        options={here.map((node) => ({ value: node.name, label: node.name }))}
        test="field-nodes"
      />
      <SelectField
        path="driver"
        label={t("submit.field.driver")}
        help={t("help.driver")}
        placeholder={t("submit.place.anyDriver")}
        options={drivers.map((name) => ({ value: name, label: name }))}
      />
    </>
  );
}

/** Named sets of resources or amounts of one's own; several flavors are alternatives, of which one is used. */
export function FlavorChoice({ at, own }: { at: string; own: ReactNode }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const workspace = useWorkspace();
  const query = useQuery({
    queryKey: ["flavors", workspace],
    queryFn: () => listFlavors(workspace),
    staleTime: 30_000,
  });
  const known = query.data?.items ?? [];
  const chosen = texts(getAt(form.doc, `${at}.flavors`));
  const [mode, setMode] = useState<"flavors" | "own">(chosen.length > 0 ? "flavors" : "own");
  const [looking, setLooking] = useState(false);
  const shown = chosen.length > 0 ? "flavors" : mode;
  const choose = (next: "flavors" | "own"): void => {
    setMode(next);
    form.set(`${at}.flavors`, next === "flavors" ? known.slice(0, 1).map((one) => one.name) : undefined);
    form.set(`${at}.resources`, next === "flavors" ? undefined : (emptyRole([])["resources"] as JsonObject));
  };
  return (
    <>
      <div className="tm-flavor-head">
        <h3>{t("submit.role.resources")}</h3>
        <span className="tm-grow" />
        {(known.length > 0 || chosen.length > 0) && (
          <Segmented<"flavors" | "own">
            size="small"
            value={shown}
            onChange={choose}
            aria-label={t("submit.place.how")}
            options={[
              { value: "flavors", label: <span data-testid="use-flavors">{t("submit.place.flavors")}</span> },
              { value: "own", label: t("submit.place.own") },
            ]}
          />
        )}
        <Button size="small" icon={<TableOutlined />} onClick={() => setLooking(true)} data-testid="cluster-resources">
          {t("resources.open")}
        </Button>
      </div>
      {shown === "flavors" ? (
        <>
          <ManyField
            path={`${at}.flavors`}
            label={t("submit.field.flavors")}
            help={t("help.flavors")}
            test={`field-${at}.flavors`}
            options={known.map((one) => ({
              value: one.name,
              label: <FlavorLine flavor={one} />,
              title: flavorWords(one),
            }))}
          />
          {chosen.length > 1 && (
            <p className="tm-line tm-flavor-hint">{t("submit.place.alternatives", { count: chosen.length })}</p>
          )}
        </>
      ) : (
        own
      )}
      {looking && <Resources flavors={chosen} workspace={workspace} close={() => setLooking(false)} />}
    </>
  );
}

function FlavorLine({ flavor }: { flavor: Flavor }): ReactNode {
  return (
    <span className="tm-flavor-line">
      <Tag className="tm-tag" color={flavor.kind === "cpu" ? "blue" : "purple"}>
        {flavor.kind.toUpperCase()}
      </Tag>
      <b>{flavor.name}</b>
      <span className="tm-faint">{flavorWords(flavor)}</span>
    </span>
  );
}

function Resources({
  flavors,
  workspace,
  close,
}: {
  flavors: string[];
  workspace: string;
  close: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const [choice, setChoice] = useState<Choice>({ flavors: flavors.length > 0 ? flavors : undefined });
  return (
    <Drawer open title={t("resources.title")} size={1040} onClose={close}>
      <ResourcesTable
        drawer
        choice={choice}
        choose={(change) => setChoice((old) => ({ ...old, ...change }))}
        workspace={workspace}
      />
    </Drawer>
  );
}
