/** What each person in a workspace may hold at most, and what some may hold instead: shown, and edited as rows. */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Form, Input, InputNumber, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { MostByPool } from "../../api/cluster";
import type { ResourcePool, Workspace } from "../../api/types";
import { amount, useResourceName } from "../../shared/shares";
import { modelsOf } from "./pools";

/** `person` empty: each; `limit` null: no limit. */
export interface PersonRow {
  person?: string;
  pool: string;
  resource: string;
  limit: number | null;
}

type Limited = Pick<Workspace, "per_person" | "people">;

const rows = (person: string, by: MostByPool): PersonRow[] =>
  Object.entries(by).flatMap(([pool, most]) =>
    Object.entries(most).map(([resource, limit]) => ({ person, pool, resource, limit })),
  );

/** Those of each first. Pure. */
export const personRows = ({ per_person, people }: Limited): PersonRow[] => [
  ...rows("", per_person),
  ...Object.entries(people).flatMap(([name, by]) => rows(name, by)),
];

/** Rows without a resource are left out, and so is a row of each person without a limit; of two alike the later counts. Pure. */
export function limitedOf(given: readonly (PersonRow | undefined)[] | undefined): Limited {
  const made: Limited = { per_person: {}, people: {} };
  for (const row of given ?? []) {
    const name = row?.person?.trim() ?? "";
    if (!row?.resource || (name === "" && row.limit === null)) continue;
    made.people[name] ??= {};
    const by = name === "" ? made.per_person : made.people[name];
    by[row.pool] = { ...by[row.pool], [row.resource]: row.limit };
  }
  delete made.people[""];
  return made;
}

export function Personal({ one }: { one: Workspace }): ReactNode {
  const { t } = useTranslation();
  const name = useResourceName();
  return personRows(one).map(({ person, pool, resource, limit }) => (
    <div key={`${person}/${pool}/${resource}`} className="tm-line tm-wrap-line" data-testid="personal-limit">
      {person || t("admin.workspaces.eachPerson")} · {pool} · {name(resource)}
      {t("mark.colon")}
      {limit === null ? t("admin.workspaces.unlimited") : amount(resource, limit)}
    </div>
  ));
}

export function PersonalEditor({ pools }: { pools: ResourcePool[] }): ReactNode {
  const { t } = useTranslation();
  const name = useResourceName();
  const resources = ["gpu", ...modelsOf(pools).map((model) => `gpu:${model}`), "cpu", "memory_mib", "jobs"];
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
              <Form.Item name={[at, "pool"]} noStyle rules={[{ required: true }]}>
                <Select
                  aria-label={t("admin.pools.pool")}
                  options={pools.map((pool) => ({ value: pool.name, label: pool.name }))}
                />
              </Form.Item>
              <Form.Item name={[at, "resource"]} noStyle>
                <Select
                  aria-label={t("admin.limits.resource")}
                  options={resources.map((value) => ({ value, label: name(value) }))}
                />
              </Form.Item>
              <Form.Item name={[at, "limit"]} noStyle>
                <InputNumber
                  min={0}
                  style={{ width: "100%" }}
                  placeholder={t("admin.workspaces.unlimited")}
                  aria-label={t("admin.workspaces.personalLimit")}
                  data-testid="personal-most"
                />
              </Form.Item>
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
