/** The fields of an algorithm's document: what it runs and on what, its hyperparameters, its channels (R60, R152-R156). */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Button, Checkbox, Form, Input, InputNumber, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listFlavors } from "../../api/cluster";
import type { Json, JsonObject } from "../../api/types";
import { useBilingual } from "../../i18n";
import { RESOURCE_TYPES } from "../../shared/format";
import { useMeta } from "../../shared/meta";
import { entries, KINDS, mayGo, someOf, strings, typedValue } from "./document";

const TYPES = ["float", "int", "str", "bool"] as const;
const GIVEN = ["argument", "variable"] as const;
const TO = ["outputs", "model"] as const;

interface Props {
  doc: JsonObject;
  put: (doc: JsonObject) => void;
}

/** `workspace`: whose flavors there are to choose from. */
export function DocumentFields({ doc, put, workspace }: Props & { workspace: string }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const kinds = useMeta()?.frameworks ?? [];
  const framework = doc["framework"];
  const kind = typeof framework === "object" && framework && !Array.isArray(framework) ? framework["kind"] : framework;
  const set = (key: string, value: Json | undefined): void => {
    const { [key]: _, ...rest } = doc;
    put(value === undefined ? rest : { ...rest, [key]: value });
  };
  return (
    <>
      <Form.Item label={t("algorithms.command")} htmlFor="algorithm-command" required>
        <Input
          id="algorithm-command"
          value={String(doc["command"] ?? "")}
          onChange={(event) => set("command", event.target.value)}
          className="tm-mono"
          data-testid="algorithm-command"
        />
      </Form.Item>
      <div className="tm-grid tm-grid-2">
        <Form.Item label={t("algorithms.description")} htmlFor="algorithm-description">
          <Input
            id="algorithm-description"
            value={String(doc["description"] ?? "")}
            onChange={(event) => set("description", event.target.value || undefined)}
            data-testid="algorithm-description"
          />
        </Form.Item>
        <Form.Item label={t("algorithms.framework")} htmlFor="algorithm-framework">
          <Select<string>
            id="algorithm-framework"
            value={typeof kind === "string" ? kind : "single"}
            onChange={(next) => set("framework", next === "single" ? undefined : next)}
            options={kinds.map((one) => ({ value: one.kind, label: pick(one.title) }))}
          />
        </Form.Item>
        <Form.Item label={t("algorithms.image")} htmlFor="algorithm-image">
          <Input
            id="algorithm-image"
            value={String(doc["image"] ?? "")}
            placeholder="default"
            onChange={(event) => set("image", event.target.value.trim() || undefined)}
            className="tm-mono"
            data-testid="algorithm-image"
          />
        </Form.Item>
        <Form.Item label={t("algorithms.maxReplicas")} htmlFor="algorithm-replicas">
          <InputNumber<number>
            id="algorithm-replicas"
            value={typeof doc["max_replicas"] === "number" ? doc["max_replicas"] : null}
            min={1}
            precision={0}
            placeholder={t("algorithms.noMaximum")}
            onChange={(most) => set("max_replicas", most ?? undefined)}
            style={{ width: "100%" }}
            data-testid="algorithm-replicas"
          />
        </Form.Item>
        <Form.Item label={t("algorithms.runsOn")} htmlFor="algorithm-runs-on">
          <Select<string[]>
            id="algorithm-runs-on"
            mode="multiple"
            value={strings(doc["runs_on"])}
            onChange={(types) => set("runs_on", types.length > 0 ? types : undefined)}
            placeholder={t("algorithms.anything")}
            options={Object.entries(RESOURCE_TYPES).map(([value, label]) => ({ value, label }))}
            data-testid="algorithm-runs-on"
          />
        </Form.Item>
        <Flavors chosen={doc["flavors"]} choose={(names) => set("flavors", names)} workspace={workspace} />
      </div>
      <Parameters doc={doc} put={put} />
      <Channels doc={doc} put={put} field="inputs" />
      <Channels doc={doc} put={put} field="outputs" />
    </>
  );
}

/** The only flavors that jobs may choose; one that is not there yet, or elsewhere, can be typed. */
function Flavors(props: {
  chosen: Json | undefined;
  choose: (names: string[] | undefined) => void;
  workspace: string;
}): ReactNode {
  const { t } = useTranslation();
  const { chosen, choose, workspace } = props;
  const found = useQuery({
    queryKey: ["flavors", workspace],
    queryFn: () => listFlavors(workspace),
    staleTime: 30_000,
  });
  return (
    <Form.Item label={t("algorithms.flavors")} htmlFor="algorithm-flavors">
      <Select<string[]>
        id="algorithm-flavors"
        mode="tags"
        value={strings(chosen)}
        onChange={(names) => choose(names.length > 0 ? names : undefined)}
        placeholder={t("algorithms.anything")}
        tokenSeparators={[","]}
        options={[...new Set((found.data?.items ?? []).map((one) => one.name))].map((value) => ({ value }))}
        data-testid="algorithm-flavors"
      />
    </Form.Item>
  );
}

/** The only values that a hyperparameter may have, typed one after the other. */
function Choices({ of, put }: { of: JsonObject; put: (part: JsonObject) => void }): ReactNode {
  const { t } = useTranslation();
  const chosen = of["choices"];
  return (
    <Select<string[]>
      mode="tags"
      value={strings(chosen)}
      onChange={(typed) => put({ choices: typed.map((one) => typedValue(one.trim(), of["type"])) })}
      placeholder={t("algorithms.parameters.choices")}
      aria-label={t("algorithms.parameters.choices")}
      title={t("algorithms.create.choicesHint")}
      tokenSeparators={[","]}
      open={false}
      suffixIcon={null}
      className="tm-algorithm-choices"
      data-testid="algorithm-choices"
    />
  );
}

/** A list of the document, each entry with what changes it and what removes it. */
function useList({ doc, put }: Props, field: string) {
  const list = entries(doc, field);
  const write = (next: JsonObject[]): void => put({ ...doc, [field]: next });
  return {
    list,
    add: (entry: JsonObject) => write([...list, entry]),
    edit: (at: number, part: JsonObject) => write(list.map((one, i) => (i === at ? { ...one, ...part } : one))),
    remove: (at: number) => write(list.filter((_, i) => i !== at)),
  };
}

function Parameters(props: Props): ReactNode {
  const { t } = useTranslation();
  const { list, add, edit, remove } = useList(props, "parameters");
  return (
    <Form.Item label={t("algorithms.parameters.title")}>
      <div className="tm-kv">
        {list.map((one, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no other name while its name is typed.
          <div key={i} className="tm-algorithm-parameter" data-testid={`algorithm-parameter-${i}`}>
            <div className="tm-kv-row tm-algorithm-row">
              <Input
                value={String(one["name"] ?? "")}
                placeholder={t("algorithms.name")}
                aria-label={t("mark.named", {
                  what: `${t("algorithms.parameters.title")} ${i + 1}`,
                  name: t("algorithms.name"),
                })}
                className="tm-mono"
                onChange={(event) => edit(i, { name: event.target.value.trim() })}
              />
              <Select<string>
                value={String(one["type"] ?? "float")}
                aria-label={t("algorithms.parameters.type")}
                popupMatchSelectWidth={false}
                options={TYPES.map((value) => ({ value, label: t(`algorithms.parameters.types.${value}`) }))}
                onChange={(type) => edit(i, { type, min: null, max: null, default: null, choices: [] })}
              />
              <Typed
                label={t("algorithms.parameters.default")}
                of={one}
                field="default"
                put={(part) => edit(i, part)}
              />
              {one["type"] !== "bool" && <Choices of={one} put={(part) => edit(i, part)} />}
              {(one["type"] === "int" || one["type"] === "float") && (
                <>
                  <Typed label={t("algorithms.parameters.min")} of={one} field="min" put={(part) => edit(i, part)} />
                  <Typed label={t("algorithms.parameters.max")} of={one} field="max" put={(part) => edit(i, part)} />
                </>
              )}
              <Button type="text" icon={<DeleteOutlined />} aria-label={t("action.remove")} onClick={() => remove(i)} />
            </div>
            <Rules of={one} put={(part) => edit(i, part)} />
          </div>
        ))}
        <Button
          size="small"
          type="dashed"
          icon={<PlusOutlined />}
          onClick={() => add({ name: "", type: "float" })}
          data-testid="algorithm-add-parameter"
        >
          {t("algorithms.create.addParameter")}
        </Button>
        <Checkbox
          checked={props.doc["custom_parameters"] !== false}
          onChange={(event) => props.put({ ...props.doc, custom_parameters: event.target.checked })}
        >
          {t("algorithms.create.allowCustom")}
        </Checkbox>
      </div>
    </Form.Item>
  );
}

/** What a job may do with a hyperparameter (R155). */
function Rules({ of, put }: { of: JsonObject; put: (part: JsonObject) => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-algorithm-rules">
      <Checkbox checked={of["required"] === true} onChange={(event) => put({ required: event.target.checked })}>
        {t("algorithms.create.required")}
      </Checkbox>
      <Checkbox checked={of["editable"] !== false} onChange={(event) => put({ editable: event.target.checked })}>
        {t("algorithms.create.editable")}
      </Checkbox>
      <Checkbox
        checked={mayGo(of)}
        disabled={of["required"] === true || of["editable"] === false}
        onChange={(event) => put({ deletable: event.target.checked })}
      >
        {t("algorithms.create.deletable")}
      </Checkbox>
    </div>
  );
}

/** A value of the parameter's type, as it is typed: half a number stays here until it is one. */
function Typed({
  label,
  of,
  field,
  put,
}: {
  label: string;
  of: JsonObject;
  field: "default" | "min" | "max";
  put: (part: JsonObject) => void;
}): ReactNode {
  const now = of[field];
  const [text, setText] = useState(now === null || now === undefined ? "" : String(now));
  const same = typedValue(text, of["type"]) === (now ?? null);
  return (
    <Input
      value={same ? text : now === null || now === undefined ? "" : String(now)}
      placeholder={label}
      aria-label={label}
      title={label}
      className="tm-mono"
      onChange={(event) => {
        setText(event.target.value);
        put({ [field]: typedValue(event.target.value, of["type"]) });
      }}
    />
  );
}

function Channels({ field, ...props }: Props & { field: "inputs" | "outputs" }): ReactNode {
  const { t } = useTranslation();
  const { list, add, edit, remove } = useList(props, field);
  const title = t(`algorithms.channels.${field}`);
  return (
    <Form.Item label={title}>
      <div className="tm-kv">
        {list.map((one, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no other name while its name is typed.
          <div key={i} className="tm-kv-row tm-algorithm-row">
            <Input
              value={String(one["name"] ?? "")}
              placeholder={field === "inputs" ? "data_url" : "train_url"}
              aria-label={`${title} ${i + 1}`}
              className="tm-mono"
              onChange={(event) => edit(i, { name: event.target.value.trim() })}
              data-testid={`algorithm-${field}-${i}`}
            />
            <Select<string>
              value={String(one["given"] ?? "argument")}
              aria-label={t("algorithms.channels.told")}
              popupMatchSelectWidth={false}
              options={GIVEN.map((value) => ({ value, label: t(`algorithms.channels.given.${value}`) }))}
              onChange={(given) => edit(i, { given })}
            />
            {field === "inputs" ? (
              <>
                <Select<string[]>
                  mode="multiple"
                  value={someOf(one)}
                  onChange={(kinds) => edit(i, { kinds: kinds.length > 0 ? kinds : [...KINDS] })}
                  placeholder={t("algorithms.channels.anyKind")}
                  maxTagCount="responsive"
                  aria-label={t("algorithms.channels.takes")}
                  title={t("algorithms.channels.takes")}
                  options={KINDS.map((value) => ({ value, label: t(`submit.mount.${value}`) }))}
                  className="tm-algorithm-choices"
                  data-testid={`algorithm-kinds-${i}`}
                />
                <Checkbox
                  checked={one["required"] !== false}
                  onChange={(event) => edit(i, { required: event.target.checked })}
                >
                  {t("algorithms.create.required")}
                </Checkbox>
              </>
            ) : (
              <>
                <Select<string>
                  value={String(one["to"] ?? "outputs")}
                  aria-label={t("algorithms.channels.writes")}
                  popupMatchSelectWidth={false}
                  options={TO.map((value) => ({ value, label: t(`algorithms.channels.to.${value}`) }))}
                  onChange={(to) => edit(i, { to })}
                  className="tm-algorithm-choices"
                />
                <Input
                  value={String(one["folder"] ?? "")}
                  placeholder={t("algorithms.channels.folder")}
                  aria-label={t("algorithms.channels.folder")}
                  title={t("algorithms.channels.folder")}
                  className="tm-mono"
                  onChange={(event) => edit(i, { folder: event.target.value.trim() || null })}
                  data-testid={`algorithm-output-folder-${i}`}
                />
              </>
            )}
            <Button type="text" icon={<DeleteOutlined />} aria-label={t("action.remove")} onClick={() => remove(i)} />
          </div>
        ))}
        <Button
          size="small"
          type="dashed"
          icon={<PlusOutlined />}
          onClick={() => add({ name: "" })}
          data-testid={`algorithm-add-${field}`}
        >
          {t(field === "inputs" ? "algorithms.create.addInput" : "algorithms.create.addOutput")}
        </Button>
      </div>
    </Form.Item>
  );
}
