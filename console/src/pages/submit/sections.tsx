/** Everything of the form that is not a sub-task. Expert mode adds to the basic fields, it never changes them (R65). */
import { Button, Checkbox } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useBilingual } from "../../i18n";
import { duration } from "../../shared/format";
import { SHARES } from "../../shared/people";
import { useAllowedPriority } from "../../shared/session";
import { AlgorithmChannels, AlgorithmField } from "./algorithm";
import { CodeField } from "./code";
import { getAt, nextName } from "./document";
import { DurationField, FieldFrame, NumberField, SelectField, TextField, useBounds } from "./fields";
import { FrameworkField } from "./framework";
import { ImageField } from "./image";
import { KeyValueField } from "./keyvalue";
import { Mounts } from "./mounts";
import { Outputs } from "./outputs";
import { MetricPatterns } from "./patterns";
import { PlaceFields, PoolField, useOwnWorkspaces, useWorkspaceRules } from "./placing";
import { SecretsField } from "./secrets";
import { useForm } from "./state";
import { useAlgorithm } from "./use-algorithm";

export function Section({ id, title, children }: { id: string; title: string; children: ReactNode }): ReactNode {
  return (
    <section className="tm-panel tm-form-section" id={`section-${id}`}>
      <h2>{title}</h2>
      <div className="tm-panel-body">{children}</div>
    </section>
  );
}

export function JobSection(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  return (
    <Section id="job" title={t("submit.section.job")}>
      <div className="tm-grid tm-grid-2">
        <NameField />
        <TextField path="description" label={t("submit.field.description")} help={t("help.description")} />
        <WorkspaceField />
        <PoolField />
        <ShareField />
        <FrameworkField />
        <TimeLimitField />
        <PriorityField />
        <ImageField />
        {form.expert && <PlaceFields />}
        {form.expert && (
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
      <AlgorithmField />
      {form.doc["algorithm"] === undefined && <CodeField />}
    </Section>
  );
}

/** R56: a workspace may ask for one. */
function TimeLimitField(): ReactNode {
  const { t } = useTranslation();
  const { meta } = useForm();
  const rules = useWorkspaceRules();
  const limit = meta?.limits.max_duration_s ?? undefined;
  const asked = rules?.require_duration === true;
  const unlimited = limit === undefined ? t("time.noLimit") : duration(limit);
  return (
    <DurationField
      path="duration"
      label={t("submit.field.duration")}
      help={[t("help.duration"), asked ? t("help.durationAsked", { workspace: rules.name }) : ""].join(" ").trim()}
      placeholder={asked ? t("submit.place.someTime") : unlimited}
      required={asked}
      most={limit}
    />
  );
}

/** A clone keeps the name; where it is still the same, another one is offered. */
function NameField(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const name = String(form.doc["name"] ?? "");
  const { longest } = useBounds("name");
  const same = form.original !== null && name !== "" && form.original["name"] === name;
  const other = same ? nextName(name, longest) : null;
  return (
    <TextField
      path="name"
      label={t("submit.field.name")}
      help={t("help.name")}
      required
      keepEmpty
      placeholder="digits-ddp"
      hint={
        other === null ? undefined : (
          <span data-testid="same-name">
            {t("mark.gap", { text: t("submit.sameName") })}
            <Button type="link" size="small" className="tm-inline" onClick={() => form.set("name", other)}>
              {t("submit.useName", { name: other })}
            </Button>
          </span>
        )
      }
    />
  );
}

function WorkspaceField(): ReactNode {
  const { t } = useTranslation();
  const known = useOwnWorkspaces();
  return (
    <SelectField
      path="workspace"
      label={t("submit.field.workspace")}
      help={t("help.workspace")}
      fallback="default"
      options={known.map((one) => ({
        value: one.name,
        disabled: !one.open,
        label: [one.name, one.open ? one.description : t("people.notHere")].filter(Boolean).join(" · "),
      }))}
    />
  );
}

/** R57, R223, R225: what others in the workspace may do; without a default where the workspace asks for a choice. */
function ShareField(): ReactNode {
  const { t } = useTranslation();
  const sharing = useWorkspaceRules()?.sharing ?? "open";
  return (
    <SelectField
      path="share"
      label={t("submit.field.share")}
      help={t("help.share")}
      required={sharing === "required"}
      fallback={sharing === "required" ? undefined : "none"}
      placeholder={sharing === "required" ? t("job.share.choose") : undefined}
      options={SHARES.map((value) => ({
        value,
        disabled: sharing === "off" && value !== "none",
        label: [t(`job.share.${value}`), sharing === "off" && value !== "none" ? t("job.share.off") : ""]
          .filter(Boolean)
          .join(" · "),
      }))}
    />
  );
}

function PriorityField(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const { meta } = useForm();
  const allowed = useAllowedPriority();
  return (
    <SelectField
      path="priority"
      label={t("submit.field.priority")}
      help={t("help.priority")}
      fallback="normal"
      options={(meta?.priorities ?? []).map((one) => ({
        value: one.code,
        disabled: !allowed(one.code),
        label: allowed(one.code) ? pick(one.title) : `${pick(one.title)} · ${t("priority.adminsOnly")}`,
      }))}
    />
  );
}

export function EnvironmentSection(): ReactNode {
  const { t } = useTranslation();
  const { expert } = useForm();
  const { spec } = useAlgorithm();
  return (
    <Section id="environment" title={t("submit.section.environment")}>
      <AlgorithmChannels />
      <Mounts channels={spec?.inputs.map((one) => one.name) ?? []} />
      {expert && <Outputs />}
      <KeyValueField path="env" label={t("submit.field.env")} help={t("help.env")} />
      {expert && <SecretsField />}
    </Section>
  );
}

export function RunningSection(): ReactNode {
  const { t } = useTranslation();
  const { expert, meta } = useForm();
  if (!expert) return null;
  return (
    <Section id="running" title={t("submit.section.running")}>
      <div className="tm-grid tm-grid-4">
        <NumberField path="retries" label={t("submit.field.retries")} help={t("help.retries")} />
        <NumberField path="fault_restarts" label={t("submit.field.fault_restarts")} help={t("help.fault_restarts")} />
        <DurationField
          path="grace"
          label={t("submit.field.grace")}
          help={t("help.grace")}
          lengths={["0s", "10s", "30s", "2m", "10m"]}
        />
        <DurationField
          path="debug_hold"
          label={t("submit.field.debug_hold")}
          help={t("help.debug_hold")}
          lengths={["10m", "30m", "1h", "4h"]}
          most={meta?.limits.max_debug_hold_s}
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
    <Section id="watching" title={t("submit.section.watching")}>
      <MetricPatterns />
      <div className="tm-grid tm-grid-2">
        <TextField
          path="model.name"
          label={t("submit.field.model")}
          help={t("help.model")}
          placeholder={String(form.doc["name"] ?? "")}
        />
        {form.expert && (
          <FieldFrame path="model.save" label={t("submit.field.saveModel")} help={t("help.saveModel")}>
            <Checkbox checked={saves} onChange={(e) => form.set("model.save", e.target.checked ? undefined : false)}>
              {t("submit.field.saveModelOn")}
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
