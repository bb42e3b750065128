/** Folders of the nodes that replicas see. */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Checkbox, Input } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { freshName, getAt, isObject } from "./document";
import { ColumnHeads, FieldFrame } from "./fields";
import { useRowKeys } from "./rows";
import { useForm } from "./state";

export function Mounts(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const given = getAt(form.doc, "inputs");
  const inputs = Array.isArray(given) ? given.filter(isObject) : [];
  const rows = useRowKeys(inputs.length);
  const put = (next: JsonObject[]): void => form.set("inputs", next.length > 0 ? next : undefined);
  const edit = (i: number, part: JsonObject): void =>
    put(inputs.map((input, k) => (k === i ? { ...input, ...part } : input)));
  const add = (): void => {
    const name = freshName(
      "data",
      inputs.map((one) => String(one["name"])),
    );
    put([...inputs, { name, path: "", mount: "/dataset" }]);
  };
  return (
    <FieldFrame path="inputs" deep label={t("submit.field.mounts")} help={t("help.mounts")}>
      <div className="tm-kv tm-kv-mounts">
        {inputs.length > 0 && (
          <ColumnHeads
            columns={[
              ["inputs.0.path", t("submit.field.source"), t("help.source")],
              ["inputs.0.mount", t("submit.field.target"), t("help.target")],
              ["inputs.0.read_only", t("submit.field.readOnly"), t("help.readOnly")],
            ]}
          />
        )}
        {inputs.map((input, i) => (
          <div key={rows.keys[i]} className="tm-kv-row">
            <Input
              value={String(input["path"] ?? "")}
              placeholder="/data/imagenet"
              aria-label={t("submit.field.source")}
              className="tm-mono"
              data-testid={`mount-path-${i}`}
              onBlur={() => form.touch(`inputs.${i}`)}
              onChange={(e) => edit(i, { path: e.target.value })}
            />
            <Input
              value={String(input["mount"] ?? "")}
              placeholder="/dataset"
              aria-label={t("submit.field.target")}
              className="tm-mono"
              onChange={(e) => edit(i, { mount: e.target.value })}
            />
            <Checkbox
              checked={input["read_only"] !== false}
              onChange={(e) => edit(i, { read_only: e.target.checked })}
              aria-label={t("submit.field.readOnly")}
            />
            <Button
              type="text"
              icon={<DeleteOutlined />}
              aria-label={t("action.remove")}
              onClick={() => {
                rows.remove(i);
                put(inputs.filter((_, k) => k !== i));
              }}
            />
          </div>
        ))}
        <Button size="small" type="dashed" icon={<PlusOutlined />} onClick={add} data-testid="mount-add">
          {t("submit.kv.add")}
        </Button>
      </div>
    </FieldFrame>
  );
}
