/** The values of an algorithm's hyperparameters in a sub-task: typed, within their bounds; what may not be changed is shown and cannot be (R155-R157). */
import { DeleteOutlined, UndoOutlined } from "@ant-design/icons";
import { Button, Input, InputNumber, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { AlgorithmSpec, Hyperparameter, Json, JsonObject } from "../../api/types";
import { rulesOf, valuesOf } from "../algorithms/tables";
import { getAt, isObject, setAt } from "./document";
import { FieldFrame } from "./fields";
import { KeyValueField } from "./keyvalue";
import { FormContext, useForm } from "./state";

export function Hyperparameters({ at, spec }: { at: string; spec: AlgorithmSpec }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const path = `${at}.parameters`;
  const found = getAt(form.doc, path);
  const given: JsonObject = isObject(found) ? found : {};
  const known = new Set([...spec.parameters, ...spec.inputs, ...spec.outputs].map((one) => one.name));
  const put = (next: JsonObject): void => form.set(path, Object.keys(next).length > 0 ? next : undefined);
  const set = (name: string, value: Json | undefined): void => {
    const { [name]: _, ...rest } = given;
    put(value === undefined ? rest : { ...rest, [name]: value });
  };
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => !known.has(name)));
  const others = {
    ...form,
    doc: setAt(form.doc, path, own),
    set: (_: string, value: Json | undefined) => {
      const kept = Object.entries(given).filter(([name]) => known.has(name));
      put({ ...Object.fromEntries(kept), ...(isObject(value) ? value : {}) });
    },
  };
  return (
    <div data-testid={`hyperparameters-${at}`}>
      <div className="tm-algorithm-command">
        <span className="tm-faint">
          {t("algorithms.command")}
          {t("mark.colon")}
        </span>
        <code className="tm-mono">{spec.command}</code>
      </div>
      {spec.parameters.length === 0 ? (
        <p className="tm-line">{t("algorithms.parameters.none")}</p>
      ) : (
        <div className="tm-grid tm-grid-3">
          {spec.parameters.map((what) => (
            <OneValue
              key={what.name}
              what={what}
              path={`${path}.${what.name}`}
              value={given[what.name]}
              set={(value) => set(what.name, value)}
            />
          ))}
        </div>
      )}
      {spec.custom_parameters || Object.keys(own).length > 0 ? (
        <FormContext value={others}>
          <KeyValueField path={path} label={t("algorithms.parameters.others")} numbers />
        </FormContext>
      ) : (
        <p className="tm-line tm-faint">{t("algorithms.parameters.noCustom")}</p>
      )}
    </div>
  );
}

interface OneProps {
  what: Hyperparameter;
  path: string;
  /** undefined: as the algorithm says; null: left out. */
  value: Json | undefined;
  set: (value: Json | undefined) => void;
}

function OneValue({ what, path, value, set }: OneProps): ReactNode {
  const { t } = useTranslation();
  const gone = value === null;
  const removable =
    what.deletable && what.editable && !what.required && (what.default !== null || (value !== undefined && !gone));
  const said = [t(`algorithms.parameters.types.${what.type}`), valuesOf(what), ...rulesOf(what, t), what.description];
  return (
    <FieldFrame path={path} label={what.name} required={what.required} hint={said.filter(Boolean).join(" · ")}>
      <div className="tm-algorithm-value">
        {gone ? (
          <span className="tm-faint tm-grow">{t("algorithms.parameters.removed")}</span>
        ) : (
          <ValueInput what={what} path={path} value={value} set={set} />
        )}
        {removable && (
          <Button
            type="text"
            icon={<DeleteOutlined />}
            aria-label={t("algorithms.parameters.remove", { name: what.name })}
            title={t("algorithms.parameters.remove", { name: what.name })}
            onClick={() => set(what.default === null ? undefined : null)}
          />
        )}
        {gone && (
          <Button
            type="text"
            icon={<UndoOutlined />}
            aria-label={t("algorithms.parameters.restore", { name: what.name })}
            title={t("algorithms.parameters.restore", { name: what.name })}
            onClick={() => set(undefined)}
          />
        )}
      </div>
    </FieldFrame>
  );
}

function ValueInput({ what, path, value, set }: OneProps): ReactNode {
  const form = useForm();
  const now = value === undefined ? what.default : value;
  const common = {
    disabled: !what.editable,
    onBlur: () => form.touch(path),
    "aria-label": what.name,
    "data-testid": `parameter-${what.name}`,
  };
  const choices = what.type === "bool" ? [true, false] : what.choices;
  if (choices.length > 0)
    return (
      <Select<string>
        {...common}
        value={now === null ? undefined : String(now)}
        popupMatchSelectWidth={false}
        className="tm-grow"
        options={choices.map((one) => ({ value: String(one), label: String(one) }))}
        onChange={(next) => set(choices.find((one) => String(one) === next))}
      />
    );
  if (what.type === "int" || what.type === "float")
    return (
      <InputNumber
        {...common}
        value={typeof now === "number" ? now : null}
        min={what.min ?? undefined}
        max={what.max ?? undefined}
        precision={what.type === "int" ? 0 : undefined}
        className="tm-grow"
        style={{ width: "100%" }}
        onChange={(next) => set(typeof next === "number" ? next : undefined)}
      />
    );
  return (
    <Input
      {...common}
      value={now === null ? "" : String(now)}
      className="tm-mono tm-grow"
      onChange={(event) => set(event.target.value === "" ? undefined : event.target.value)}
    />
  );
}
