/** The ports of a sub-task, with a heading that helps above its columns (R66). */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Input, InputNumber } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { boundsAt } from "./bounds";
import { freshName, getAt, isObject } from "./document";
import { ColumnHeads, FieldFrame } from "./fields";
import { useRowKeys } from "./rows";
import { useForm } from "./state";

export function Ports({ at }: { at: string }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const path = `${at}.ports`;
  const given = getAt(form.doc, path);
  const ports = Array.isArray(given) ? given.filter(isObject) : [];
  const rows = useRowKeys(ports.length);
  const count = boundsAt(form.schema, `${path}.0.count`);
  const first = boundsAt(form.schema, `${path}.0.begin_at`);
  const put = (next: JsonObject[]): void => form.set(path, next.length > 0 ? next : undefined);
  const edit = (i: number, part: JsonObject): void =>
    put(ports.map((port, k) => (k === i ? { ...port, ...part } : port)));
  const add = (): void => {
    const label = freshName(
      "port",
      ports.map((port) => String(port["label"])),
    );
    put([...ports, { label, count: 1 }]);
  };
  return (
    <FieldFrame path={path} deep label={t("submit.field.ports")} help={t("help.ports")}>
      <div className="tm-kv tm-kv-ports">
        {ports.length > 0 && (
          <ColumnHeads
            columns={[
              [`${path}.0.label`, t("submit.field.portLabel"), t("help.portLabel")],
              [`${path}.0.count`, t("submit.field.portCount"), t("help.portCount")],
              [`${path}.0.begin_at`, t("submit.field.portBegin"), t("help.portBegin")],
            ]}
          />
        )}
        {ports.map((port, i) => (
          <div key={rows.keys[i]} className="tm-kv-row">
            <Input
              value={String(port["label"] ?? "")}
              aria-label={t("submit.field.portLabel")}
              onChange={(e) => edit(i, { label: e.target.value })}
              data-testid={`port-label-${i}`}
            />
            <InputNumber
              min={count.min}
              max={count.max}
              value={typeof port["count"] === "number" ? port["count"] : 1}
              aria-label={t("submit.field.portCount")}
              onChange={(next) => edit(i, { count: next ?? 1 })}
            />
            <InputNumber
              min={first.min}
              max={first.max}
              value={typeof port["begin_at"] === "number" ? port["begin_at"] : 0}
              aria-label={t("submit.field.portBegin")}
              onChange={(next) => edit(i, { begin_at: next ?? 0 })}
            />
            <Button
              type="text"
              icon={<DeleteOutlined />}
              aria-label={t("action.remove")}
              onClick={() => {
                rows.remove(i);
                put(ports.filter((_, k) => k !== i));
              }}
            />
          </div>
        ))}
        <Button size="small" type="dashed" icon={<PlusOutlined />} onClick={add} data-testid="port-add">
          {t("submit.kv.add")}
        </Button>
      </div>
    </FieldFrame>
  );
}
