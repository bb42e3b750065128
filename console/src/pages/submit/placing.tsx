/** Where a job may run: its pool or a share of one, named nodes, a driver; and the flavors a replica is made of (R10-R13, R161, R162). */
import { TableOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Drawer, Form, Segmented, Select, Tag } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listFlavors, listNodes, listPools, listWorkspaces } from "../../api/cluster";
import type { CardDemand, Flavor, JsonObject, NodeDetail, ResourcePool, Workspace } from "../../api/types";
import { useBilingual } from "../../i18n";
import { mib, RESOURCE_TYPES } from "../../shared/format";
import { maySubmit } from "../../shared/people";
import { useFreshSession } from "../../shared/session";
import { type Choice, flavorWords, ResourcesTable } from "../cluster/resources";
import { cards } from "../queue/demand";
import { shownAmount } from "../usage/amounts";
import { emptyRole, getAt } from "./document";
import { FieldFrame, SelectField } from "./fields";
import { useForm, useWorkspace } from "./state";
import { useFits } from "./use-algorithm";

const STILL_MS = 30_000;
const DEFAULT = "default";
/** The pool that the platform chooses: where the job would start first. */
const ANY = "any";

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

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
  options: { value: string; label: ReactNode; title?: string; disabled?: boolean }[];
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
        popupMatchSelectWidth={false}
        data-testid={test}
        onChange={(names: string[]) => form.set(path, names.length > 0 ? names : undefined)}
      />
    </FieldFrame>
  );
}

/** The workspaces in which the reader may submit; where the document names another one, that too, marked as such. */
export function useOwnWorkspaces(): { name: string; description: string; open: boolean }[] {
  const workspace = useWorkspace();
  const user = useFreshSession()?.user;
  const query = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: STILL_MS });
  const known = query.data?.items.map(({ name, description }) => ({ name, description })) ?? [
    { name: workspace, description: "" },
  ];
  const open = (name: string): boolean => user === null || user === undefined || maySubmit(user, name);
  const own = known.filter((one) => open(one.name)).map((one) => ({ ...one, open: true }));
  if (own.some((one) => one.name === workspace)) return own;
  return [...own, { name: workspace, description: "", open: false }];
}

function usePools(): ResourcePool[] {
  const workspace = useWorkspace();
  const query = useQuery({ queryKey: ["pools", workspace], queryFn: () => listPools(workspace), staleTime: STILL_MS });
  return query.data?.items ?? [];
}

/** What the workspace of the document asks of its jobs: how they are shared, whether they name a time limit. */
export function useWorkspaceRules(): Pick<Workspace, "name" | "sharing" | "require_duration"> | undefined {
  const workspace = useWorkspace();
  const query = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: STILL_MS });
  return query.data?.items.find((one) => one.name === workspace);
}

/** The nodes that the job may run on, by the pool that is chosen: all of them where the platform chooses it. */
function useNodesHere(): NodeDetail[] {
  const pool = String(useForm().doc["pool"] ?? DEFAULT);
  const query = useQuery({ queryKey: ["nodes"], queryFn: listNodes, staleTime: STILL_MS });
  return (query.data?.items ?? []).filter((node) => pool === ANY || node.pool === pool);
}

/** The GPU models there are where the job may run. */
export function useModels(): string[] {
  return [...new Set(useNodesHere().flatMap((node) => node.cards.map((card) => card.model)))].sort();
}

/** One that this workspace may not use is shown, and says why (R11). */
export function PoolField(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const form = useForm();
  const pool = String(form.doc["pool"] ?? DEFAULT);
  const known = usePools();
  return (
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
  );
}

/** A share of the pool, named nodes, a driver. */
export function PlaceFields(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const pool = String(form.doc["pool"] ?? DEFAULT);
  const shares = usePools().find((one) => one.name === pool)?.virtual_clusters ?? [];
  const here = useNodesHere();
  const drivers = [...new Set(here.map((node) => node.driver).filter(Boolean))].sort();
  return (
    <>
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
  const pool = String(form.doc["pool"] ?? DEFAULT);
  const query = useQuery({
    queryKey: ["flavors", workspace, pool],
    queryFn: () => listFlavors(workspace, pool === ANY ? undefined : pool),
    staleTime: STILL_MS,
  });
  const known = query.data?.items ?? [];
  const chosen = texts(getAt(form.doc, `${at}.flavors`));
  const [mode, setMode] = useState<"flavors" | "own">(chosen.length > 0 ? "flavors" : "own");
  const fits = useFits();
  const [looking, setLooking] = useState(false);
  const [kind, setKind] = useState<string>();
  const shown = chosen.length > 0 ? "flavors" : mode;
  const choose = (next: "flavors" | "own"): void => {
    setMode(next);
    form.set(
      `${at}.flavors`,
      next === "flavors"
        ? known
            .filter(fits)
            .slice(0, 1)
            .map((one) => one.name)
        : undefined,
    );
    form.set(`${at}.resources`, next === "flavors" ? undefined : (emptyRole([])["resources"] as JsonObject));
  };
  return (
    <>
      <div className="tm-flavor-head">
        <h3>{t(form.several ? "submit.role.resources" : "submit.field.resources")}</h3>
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
        <div className="tm-grid tm-grid-flavors">
          <ManyField
            path={`${at}.flavors`}
            label={t("submit.field.flavors")}
            help={t("help.flavors")}
            test={`field-${at}.flavors`}
            options={known.filter(suits(kind)).map((one) => ({
              value: one.name,
              label: <FlavorLine flavor={one} currency={query.data?.currency ?? ""} />,
              title: flavorWords(one),
              disabled: !fits(one),
            }))}
          />
          <KindFilter known={known} demand={query.data?.demand ?? []} kind={kind} choose={setKind} />
          {chosen.length === 0 && (
            <p className="tm-line tm-flavor-hint" data-testid="no-flavor">
              {t("submit.place.noFlavor")}
            </p>
          )}
          {chosen.length > 1 && (
            <p className="tm-line tm-flavor-hint">{t("submit.place.alternatives", { count: chosen.length })}</p>
          )}
        </div>
      ) : (
        own
      )}
      {looking && <Resources flavors={chosen} workspace={workspace} close={() => setLooking(false)} />}
    </>
  );
}

const CPU_ONLY = "";

/** Before the name of a type of accelerator, to tell it from a model. */
const TYPE = "@";

/** Whether a flavor is of a kind: undefined all, "" without GPUs, "@gpu", "@ascend" or "@mlu" of that type, else of that model. Pure. */
export const suits =
  (kind: string | undefined) =>
  (flavor: Pick<Flavor, "gpu" | "gpu_type" | "kind">): boolean =>
    kind === undefined ||
    (kind === CPU_ONLY
      ? flavor.gpu === 0
      : flavor.gpu > 0 && (kind.startsWith(TYPE) ? flavor.kind === kind.slice(1) : flavor.gpu_type === kind));

/** Which of the flavors to show: those of one type or GPU model, with what is asked of it, or without GPUs (R14, R169). */
function KindFilter({
  known,
  demand,
  kind,
  choose,
}: {
  known: Flavor[];
  demand: CardDemand[];
  kind: string | undefined;
  choose: (kind: string | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const models = [...new Set(known.map((one) => one.gpu_type).filter((model) => model !== null))].sort();
  const types = [...new Set(known.filter((one) => one.gpu > 0).map((one) => one.kind))].sort();
  const kinds = [
    ...(known.some((one) => one.gpu === 0) ? [{ value: CPU_ONLY, label: t("submit.place.cpuOnly") }] : []),
    ...(types.length > 1 ? types.map((one) => ({ value: TYPE + one, label: RESOURCE_TYPES[one] ?? one })) : []),
    ...models.map((model) => {
      const asked = demand.find((one) => one.model === model);
      const words =
        asked &&
        t("submit.place.demand", { used: cards(asked.used), total: cards(asked.total), asked: cards(asked.asked) });
      return { value: model, label: words ? `${model} · ${words}` : model };
    }),
  ];
  if (kinds.length < 2) return null;
  return (
    <Form.Item layout="vertical" label={t("submit.place.filter")}>
      <Select
        value={kind}
        allowClear
        placeholder={t("submit.place.allFlavors")}
        options={kinds}
        popupMatchSelectWidth={false}
        onChange={(next?: string) => choose(next)}
        aria-label={t("submit.place.filter")}
        data-testid="flavor-kind"
      />
    </Form.Item>
  );
}

function FlavorLine({ flavor, currency }: { flavor: Flavor; currency: string }): ReactNode {
  const { t } = useTranslation();
  const more = [
    flavor.price === null ? "" : t("submit.place.price", { price: shownAmount(flavor.price), currency }),
    flavor.cache_mib > 0 ? t("submit.place.cache", { size: mib(flavor.cache_mib) }) : "",
    flavor.vendor,
  ].filter(Boolean);
  return (
    <span className="tm-flavor-line">
      <Tag className="tm-tag" color={flavor.kind === "cpu" ? "blue" : "purple"}>
        {flavor.kind.toUpperCase()}
      </Tag>
      <b>{flavor.name}</b>
      <span className="tm-faint">{[flavorWords(flavor), ...more].join(" · ")}</span>
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
