/** Limits by resource: shown with what counts against them, and edited as rows. */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Form, InputNumber, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Limits } from "../../api/cluster";
import type { Share } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useResourceName } from "../../shared/shares";

export interface LimitRow {
  resource: string;
  nominal: number | null;
  cap: number | null;
}

export const rowsOf = (share: readonly Share[]): LimitRow[] =>
  share.map(({ resource, nominal, cap }) => ({ resource, nominal, cap }));

/** Rows without a resource are left out; of two for the same the later one counts. Pure. */
export function limitsOf(rows: readonly (LimitRow | undefined)[] | undefined): Limits {
  return Object.fromEntries(
    (rows ?? []).flatMap((row) =>
      row?.resource ? [[row.resource, { nominal: row.nominal ?? 0, cap: row.cap ?? null }]] : [],
    ),
  );
}

/** What follows from limits that are below what is used, with the pool and the resource. */
export function useWarnings(): (pool: string, share: readonly Share[]) => string[] {
  const { t } = useTranslation();
  const pick = useBilingual();
  const name = useResourceName();
  return (pool, share) =>
    share.flatMap(({ resource, warning }) =>
      warning ? [`${pool} · ${name(resource)}${t("mark.colon")}${pick(warning)}`] : [],
    );
}

interface EditorProps {
  /** Where the rows are in the list that they are part of, and where that list is in the form. */
  path: (string | number)[];
  within?: (string | number)[];
  /** Card models that exist. */
  models: readonly string[];
  /** Whether running jobs are limited, too. */
  jobs?: boolean;
}

/** A row per resource; each resource once, in the unit in which it is counted. */
export function LimitsEditor({ path, within = [], models, jobs = false }: EditorProps): ReactNode {
  const { t } = useTranslation();
  const name = useResourceName();
  const rows = (Form.useWatch([...within, ...path]) as (LimitRow | undefined)[] | undefined) ?? [];
  const taken = rows.flatMap((row) => (row?.resource ? [row.resource] : []));
  const free = ["gpu", ...models.map((model) => `gpu:${model}`), "cpu", "memory_mib", ...(jobs ? ["jobs"] : [])].filter(
    (resource) => !taken.includes(resource),
  );
  const wide = { width: "100%" };
  return (
    <Form.List name={path}>
      {(fields, { add, remove }) => (
        <div className="tm-kv">
          {fields.map(({ key, name: at }) => {
            const own = rows[at]?.resource;
            const unit = own === "memory_mib" ? t("admin.limits.memoryUnit") : undefined;
            return (
              <div key={key} className="tm-limit-row">
                <Form.Item name={[at, "resource"]} noStyle>
                  <Select
                    showSearch
                    options={[...(own ? [own] : []), ...free].map((value) => ({ value, label: name(value) }))}
                    aria-label={t("admin.limits.resource")}
                  />
                </Form.Item>
                <Form.Item name={[at, "nominal"]} noStyle>
                  <InputNumber
                    min={0}
                    placeholder="0"
                    suffix={unit}
                    prefix={<span className="tm-faint">{t("admin.limits.nominal")}</span>}
                    aria-label={t("admin.limits.nominal")}
                    style={wide}
                  />
                </Form.Item>
                <Form.Item
                  name={[at, "cap"]}
                  noStyle
                  dependencies={[[...within, ...path, at, "nominal"]]}
                  rules={[
                    ({ getFieldValue }) => ({
                      validator: (_, cap: number | null) =>
                        cap != null && cap < Number(getFieldValue([...within, ...path, at, "nominal"]) ?? 0)
                          ? Promise.reject(new Error(t("admin.limits.capBelow")))
                          : Promise.resolve(),
                    }),
                  ]}
                >
                  <InputNumber
                    min={0}
                    placeholder="∞"
                    suffix={unit}
                    prefix={<span className="tm-faint">{t("admin.limits.cap")}</span>}
                    aria-label={t("admin.limits.cap")}
                    style={wide}
                  />
                </Form.Item>
                <Button
                  type="text"
                  icon={<DeleteOutlined />}
                  aria-label={t("action.remove")}
                  onClick={() => remove(at)}
                />
              </div>
            );
          })}
          <Button
            size="small"
            type="dashed"
            icon={<PlusOutlined />}
            disabled={free.length === 0}
            onClick={() => add({ resource: free[0], nominal: 0, cap: null })}
          >
            {t("admin.limits.add")}
          </Button>
        </div>
      )}
    </Form.List>
  );
}
