/** Where what the job writes goes while it runs: places of object storage (R147, R148). */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Input, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { getAt, isObject } from "./document";
import { ColumnHeads, FieldFrame } from "./fields";
import { Stored } from "./mounts";
import { useRowKeys } from "./rows";
import { useForm } from "./state";

const HOW = ["keep", "overwrite", "refuse"] as const;
type How = (typeof HOW)[number];

export function Outputs(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const given = getAt(form.doc, "outputs");
  const outputs = Array.isArray(given) ? given.filter(isObject) : [];
  const rows = useRowKeys(outputs.length);
  const put = (next: JsonObject[]): void => form.set("outputs", next.length > 0 ? next : undefined);
  const replace = (i: number, next: JsonObject): void => put(outputs.map((one, k) => (k === i ? next : one)));
  return (
    <FieldFrame path="outputs" deep label={t("submit.field.outputs")} help={t("help.outputs")}>
      <div className="tm-kv tm-kv-outputs">
        {outputs.length > 0 && (
          <ColumnHeads
            columns={[
              ["outputs.0.folder", t("submit.output.folder"), t("help.outputFolder")],
              ["outputs.0.s3", t("submit.output.to"), t("help.outputTo")],
              ["outputs.0.if_exists", t("submit.output.ifExists"), t("help.outputIfExists")],
            ]}
          />
        )}
        {outputs.map((output, i) => (
          <div key={rows.keys[i]} className="tm-kv-row">
            <Input
              value={String(output["folder"] ?? "")}
              placeholder="outputs"
              aria-label={t("submit.output.folder")}
              className="tm-mono"
              data-testid={`output-folder-${i}`}
              onBlur={() => form.touch(`outputs.${i}`)}
              onChange={(e) => {
                const { folder: _, ...rest } = output;
                replace(i, e.target.value === "" ? rest : { ...rest, folder: e.target.value });
              }}
            />
            <Stored at={i} input={output} put={(next) => replace(i, next)} of="output" />
            <Select<How>
              value={HOW.find((how) => how === output["if_exists"]) ?? "keep"}
              options={HOW.map((value) => ({ value, label: t(`submit.output.${value}`) }))}
              popupMatchSelectWidth={false}
              aria-label={t("submit.output.ifExists")}
              data-testid={`output-exists-${i}`}
              onChange={(how) => {
                const { if_exists: _, ...rest } = output;
                replace(i, how === "keep" ? rest : { ...rest, if_exists: how });
              }}
            />
            <Button
              type="text"
              icon={<DeleteOutlined />}
              aria-label={t("action.remove")}
              onClick={() => {
                rows.remove(i);
                put(outputs.filter((_, k) => k !== i));
              }}
            />
          </div>
        ))}
        <Button
          size="small"
          type="dashed"
          icon={<PlusOutlined />}
          onClick={() => put([...outputs, { s3: "" }])}
          data-testid="output-add"
        >
          {t("submit.kv.add")}
        </Button>
      </div>
    </FieldFrame>
  );
}
