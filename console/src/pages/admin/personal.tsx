/** What each person in a workspace may hold at most, and what some may hold instead: shown, and edited as rows. */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Form, Input, InputNumber, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { LimitsBody, Most, MostByPool } from "../../api/cluster";
import type { ResourcePool, Workspace } from "../../api/types";
import { amount, useResourceName } from "../../shared/shares";
import { modelsOf } from "./pools";

/** `person` empty: each; `pool` empty: of no pool, as storage is; `limit` null: no limit, of storage in GiB. */
export interface PersonRow {
  person?: string;
  pool: string;
  resource: string;
  limit: number | null;
}

type Limited = Pick<Workspace, "per_person" | "people">;

/** What storage is called as a resource here, and what the API calls it. */
const KEPT: Record<string, string> = { storage_mib: "mib", files: "files" };
const MIB_A_GIB = 1024;

const rows = (person: string, by: MostByPool): PersonRow[] =>
  Object.entries(by).flatMap(([pool, most]) =>
    Object.entries(most).map(([resource, limit]) => ({ person, pool, resource, limit })),
  );

const keptRows = (person: string, most: Most): PersonRow[] =>
  Object.entries(KEPT).flatMap(([resource, called]) => {
    const limit = most[called];
    if (limit === undefined) return [];
    return [{ person, pool: "", resource, limit: called === "mib" && limit !== null ? limit / MIB_A_GIB : limit }];
  });

/** Those of each first, then those of one person after the other. Pure. */
export const personRows = ({ per_person, people, storage }: Limited & Pick<Workspace, "storage">): PersonRow[] => [
  ...rows("", per_person),
  ...keptRows("", storage.per_person),
  ...[...new Set([...Object.keys(people), ...Object.keys(storage.people)])].flatMap((name) => [
    ...rows(name, people[name] ?? {}),
    ...keptRows(name, storage.people[name] ?? {}),
  ]),
];

/** Rows without a resource are left out, and so is a row of each person without a limit; of two alike the later counts. Pure. */
export function limitsOfPeople(given: readonly (PersonRow | undefined)[] | undefined): LimitsBody {
  const made: LimitsBody = { per_person: {}, people: {}, storage_per_person: {}, storage_people: {} };
  for (const row of given ?? []) {
    const name = row?.person?.trim() ?? "";
    const limit = row?.limit ?? null;
    if (!row?.resource || (name === "" && limit === null)) continue;
    const called = KEPT[row.resource];
    if (called !== undefined) {
      made.storage_people[name] ??= {};
      const most = name === "" ? made.storage_per_person : made.storage_people[name];
      most[called] = called === "mib" && limit !== null ? Math.round(limit * MIB_A_GIB) : limit;
    } else {
      made.people[name] ??= {};
      const by = name === "" ? made.per_person : made.people[name];
      by[row.pool] = { ...by[row.pool], [row.resource]: limit };
    }
  }
  delete made.people[""];
  delete made.storage_people[""];
  return made;
}

export function Personal({ one }: { one: Workspace }): ReactNode {
  const { t } = useTranslation();
  const name = useResourceName();
  const shown = personRows(one);
  if (shown.length === 0) return null;
  const lines = shown.map(({ person, pool, resource, limit }) => (
    <div key={`${person}/${pool}/${resource}`} className="tm-line tm-wrap-line" data-testid="personal-limit">
      {[person || t("admin.workspaces.eachPerson"), ...(pool ? [pool] : []), name(resource)].join(" · ")}
      {t("mark.colon")}
      {limit === null
        ? t("admin.workspaces.unlimited")
        : amount(resource, resource === "storage_mib" ? limit * MIB_A_GIB : limit)}
    </div>
  ));
  return <div className="tm-personal">{lines}</div>;
}

export function PersonalEditor({ pools }: { pools: ResourcePool[] }): ReactNode {
  const { t } = useTranslation();
  const name = useResourceName();
  const resources = [
    "gpu",
    ...modelsOf(pools).map((model) => `gpu:${model}`),
    "cpu",
    "memory_mib",
    "jobs",
    ...Object.keys(KEPT),
  ];
  return (
    <Form.List name="personal">
      {(fields, { add, remove }) => (
        <div className="tm-kv">
          {fields.map(({ key, name: at }) => (
            <div key={key} className="tm-personal-row">
              <Form.Item name={[at, "person"]} noStyle>
                <Input
                  placeholder={t("admin.workspaces.eachPerson")}
                  aria-label={t("admin.workspaces.person")}
                  maxLength={63}
                  data-testid="personal-person"
                />
              </Form.Item>
              <PoolField at={at} pools={pools} />
              <Form.Item name={[at, "resource"]} noStyle>
                <Select
                  aria-label={t("admin.limits.resource")}
                  data-testid={`personal-resource-${at}`}
                  options={resources.map((value) => ({ value, label: name(value) }))}
                />
              </Form.Item>
              <LimitField at={at} />
              <Button
                type="text"
                icon={<DeleteOutlined />}
                aria-label={t("action.remove")}
                onClick={() => remove(at)}
              />
            </div>
          ))}
          <Button
            size="small"
            type="dashed"
            icon={<PlusOutlined />}
            onClick={() => add({ person: "", pool: pools[0]?.name ?? "default", resource: "gpu", limit: 1 })}
            data-testid="personal-add"
          >
            {t("admin.workspaces.addPersonal")}
          </Button>
        </div>
      )}
    </Form.List>
  );
}

const UNITS: Record<string, string> = { memory_mib: "MiB", storage_mib: "GiB" };
const useResource = (at: number): string | undefined => Form.useWatch(["personal", at, "resource"]);

/** Storage is of no pool. */
function PoolField({ at, pools }: { at: number; pools: ResourcePool[] }): ReactNode {
  const { t } = useTranslation();
  const kept = KEPT[useResource(at) ?? ""] !== undefined;
  const options = pools.map((pool) => ({ value: pool.name, label: pool.name }));
  if (kept) return <Select disabled aria-label={t("admin.pools.pool")} placeholder={t("admin.workspaces.noPool")} />;
  return (
    <Form.Item name={[at, "pool"]} noStyle rules={[{ required: true }]}>
      <Select aria-label={t("admin.pools.pool")} options={options} />
    </Form.Item>
  );
}

function LimitField({ at }: { at: number }): ReactNode {
  const { t } = useTranslation();
  const unit = UNITS[useResource(at) ?? ""];
  return (
    <Form.Item name={[at, "limit"]} noStyle>
      <InputNumber
        min={0}
        max={1e12}
        style={{ width: "100%" }}
        {...(unit === undefined ? {} : { suffix: unit })}
        placeholder={t("admin.workspaces.unlimited")}
        aria-label={t("admin.workspaces.personalLimit")}
        data-testid="personal-most"
      />
    </Form.Item>
  );
}
