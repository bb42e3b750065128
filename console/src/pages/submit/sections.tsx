/** Everything of the form that is not a sub-task. Expert mode adds to the basic fields, it never changes them (R65). */
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Checkbox, Input, Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Json, JsonObject } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useAllowedPriority } from "../../shared/session";
import { CodeField } from "./code";
import { freshName, getAt, isObject } from "./document";
import { DurationField, FieldFrame, NumberField, SelectField, TextField } from "./fields";
import { KeyValueField } from "./keyvalue";
import { MetricPatterns } from "./patterns";
import { PlaceFields } from "./placing";
import { useRowKeys } from "./rows";
import { useForm } from "./state";

export function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className="tm-panel tm-form-section">
      <h2>{title}</h2>
      <div className="tm-panel-body">{children}</div>
    </section>
  );
}

export function JobSection(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const form = useForm();
  const { expert, meta } = form;
  const allowed = useAllowedPriority();
  const priorities = (meta?.priorities ?? []).map((one) => ({
    value: one.code,
    disabled: !allowed(one.code),
    label: allowed(one.code) ? pick(one.title) : `${pick(one.title)} · ${t("priority.adminsOnly")}`,
  }));
  return (
    <Section title={t("submit.section.job")}>
      <div className="tm-grid tm-grid-2">
        <TextField
          path="name"
          label={t("submit.field.name")}
          help={t("help.name")}
          required
          keepEmpty
          placeholder="digits-ddp"
        />
        <TextField path="description" label={t("submit.field.description")} help={t("help.description")} />
        <FrameworkField />
        <DurationField
          path="duration"
          label={t("submit.field.duration")}
          help={t("help.duration")}
          placeholder={t("time.noLimit")}
        />
        <TextField path="image" label={t("submit.field.image")} help={t("help.image")} placeholder="default" />
        {expert && (
          <SelectField
            path="priority"
            label={t("submit.field.priority")}
            help={t("help.priority")}
            fallback="normal"
            options={priorities}
          />
        )}
        {expert && <PlaceFields />}
        {expert && (
          <FieldFrame path="preemptible" label={t("submit.field.preemptible")} help={t("help.preemptible")}>
            <Checkbox
              checked={getAt(form.doc, "preemptible") === true}
              onChange={(e) => form.set("preemptible", e.target.checked || undefined)}
              data-testid="field-preemptible"
            >
              {t("submit.place.preemptible")}
            </Checkbox>
          </FieldFrame>
        )}
      </div>
      <CodeField />
    </Section>
  );
}

/** The framework is written as its name, or as an object as soon as it has options. */
function FrameworkField(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const form = useForm();
  const kinds = form.meta?.frameworks ?? [];
  const given = getAt(form.doc, "framework");
  const options: JsonObject = isObject(given) ? given : {};
  const kind = typeof given === "string" ? given : typeof options["kind"] === "string" ? options["kind"] : "single";
  const known = kinds.find((one) => one.kind === kind)?.options ?? {};
  const setOption = (name: string, value: number | undefined): void => {
    const rest: Record<string, Json> = Object.fromEntries(
      Object.entries(options).filter(([key]) => key !== name && key !== "kind"),
    );
    if (value !== undefined) rest[name] = value;
    form.set("framework", Object.keys(rest).length > 0 ? { kind, ...rest } : kind);
  };
  return (
    <>
      <FieldFrame path="framework" deep label={t("submit.field.framework")} help={t("help.framework")}>
        <Select
          value={kind}
          onChange={(next: string) => form.set("framework", next === "single" ? undefined : next)}
          data-testid="field-framework"
          aria-label={t("submit.field.framework")}
          options={kinds.map((one) => ({ value: one.kind, label: pick(one.title) }))}
        />
      </FieldFrame>
      {form.expert &&
        Object.entries(known).map(([name, option]) => (
          <FieldFrame
            key={name}
            path={`framework.${name}`}
            label={name === "processes_per_node" ? t("submit.option.processes_per_node") : name}
            help={name === "processes_per_node" ? t("help.processes_per_node") : pick(option.title)}
          >
            <Input
              type="number"
              min={option.minimum}
              max={option.maximum}
              placeholder={t("submit.option.auto")}
              value={typeof options[name] === "number" ? String(options[name]) : ""}
              onChange={(e) => setOption(name, e.target.value === "" ? undefined : Number(e.target.value))}
            />
          </FieldFrame>
        ))}
    </>
  );
}

export function EnvironmentSection(): ReactNode {
  const { t } = useTranslation();
  const { expert } = useForm();
  if (!expert) return null;
  return (
    <Section title={t("submit.section.environment")}>
      <KeyValueField path="env" label={t("submit.field.env")} help={t("help.env")} />
      <Mounts />
    </Section>
  );
}

function Mounts(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const given = getAt(form.doc, "inputs");
  const inputs = Array.isArray(given) ? given.filter(isObject) : [];
  const rows = useRowKeys(inputs.length);
  const put = (next: JsonObject[]): void => form.set("inputs", next.length > 0 ? next : undefined);
  const edit = (i: number, part: JsonObject): void =>
    put(inputs.map((input, k) => (k === i ? { ...input, ...part } : input)));
  return (
    <FieldFrame path="inputs" deep label={t("submit.field.mounts")} help={t("help.mounts")}>
      <div className="tm-kv">
        {inputs.map((input, i) => (
          <div key={rows.keys[i]} className="tm-kv-row">
            <Input
              value={String(input["path"] ?? "")}
              placeholder={`${t("submit.field.source")}: /data/imagenet`}
              aria-label={t("submit.field.source")}
              className="tm-mono"
              onChange={(e) => edit(i, { path: e.target.value })}
            />
            <span className="tm-faint">→</span>
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
              className="tm-nowrap"
            >
              {t("submit.field.readOnly")}
            </Checkbox>
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
        <Button
          size="small"
          type="dashed"
          icon={<PlusOutlined />}
          onClick={() =>
            put([
              ...inputs,
              {
                name: freshName(
                  "data",
                  inputs.map((one) => String(one["name"])),
                ),
                path: "",
                mount: "/dataset",
              },
            ])
          }
        >
          {t("submit.kv.add")}
        </Button>
      </div>
    </FieldFrame>
  );
}

export function RunningSection(): ReactNode {
  const { t } = useTranslation();
  const { expert } = useForm();
  if (!expert) return null;
  return (
    <Section title={t("submit.section.running")}>
      <div className="tm-grid tm-grid-4">
        <NumberField
          path="retries"
          label={t("submit.field.retries")}
          help={t("help.retries")}
          min={0}
          max={1000}
          placeholder="0"
        />
        <NumberField
          path="fault_restarts"
          label={t("submit.field.fault_restarts")}
          help={t("help.fault_restarts")}
          min={0}
          max={1000}
          placeholder="0"
        />
        <DurationField
          path="grace"
          label={t("submit.field.grace")}
          help={t("help.grace")}
          placeholder="10s"
          lengths={["0s", "10s", "30s", "2m", "10m"]}
        />
        <DurationField
          path="debug_hold"
          label={t("submit.field.debug_hold")}
          help={t("help.debug_hold")}
          placeholder="0s"
          lengths={["10m", "30m", "1h", "4h"]}
        />
      </div>
    </Section>
  );
}

export function WatchingSection(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const saves = getAt(form.doc, "model.save") !== false;
  return (
    <Section title={t("submit.section.watching")}>
      <MetricPatterns />
      <div className="tm-grid tm-grid-2">
        <TextField
          path="model.name"
          label={t("submit.field.model")}
          help={t("help.model")}
          placeholder={String(form.doc["name"] ?? "")}
        />
        {form.expert && (
          <FieldFrame path="model.save" label={t("submit.field.saveModel")}>
            <Checkbox checked={saves} onChange={(e) => form.set("model.save", e.target.checked ? undefined : false)}>
              {t("submit.field.saveModel")}
            </Checkbox>
          </FieldFrame>
        )}
      </div>
      {form.expert && (
        <KeyValueField path="labels" label={t("submit.field.labels")} help={t("help.labels")} separator=":" />
      )}
    </Section>
  );
}
