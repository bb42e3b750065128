/** The switch between one replica and several (R29); and how those find each other: a launcher, written as its name, or as an object as soon as it has options. */
import { App, InputNumber, Select, Switch } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Json, JsonObject } from "../../api/types";
import { useBilingual } from "../../i18n";
import { distributed, frameworkOf, getAt, isObject, rolesOf } from "./document";
import { FieldFrame } from "./fields";
import { useForm } from "./state";

/** The launcher, where there is something to launch. */
export function FrameworkField(): ReactNode {
  const { several } = useForm();
  return (
    <>
      <Distributed />
      {several && <Launcher />}
    </>
  );
}

function Launcher(): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const form = useForm();
  const kinds = form.meta?.frameworks ?? [];
  const given = getAt(form.doc, "framework");
  const options: JsonObject = isObject(given) ? given : {};
  const kind = frameworkOf(form.doc);
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
            <InputNumber
              min={option.minimum}
              max={option.maximum}
              placeholder={t("submit.option.auto")}
              value={typeof options[name] === "number" ? options[name] : null}
              onChange={(value) => setOption(name, value ?? undefined)}
              className="tm-full"
              aria-label={name}
            />
          </FieldFrame>
        ))}
    </>
  );
}

function Distributed(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const { modal } = App.useApp();
  const launcher = (form.meta?.frameworks ?? []).find((one) => one.kind !== "single");
  if (!launcher) return null;
  const turn = (on: boolean): void => {
    form.replace(distributed(form.doc, on ? launcher.kind : null));
    form.showSeveral(on);
  };
  const [first, ...others] = rolesOf(form.doc).map((role) => String(role["name"] ?? ""));
  const ask = (): void =>
    void modal.confirm({
      title: t("submit.role.less"),
      icon: null,
      content: t("submit.role.lessText", { name: first ?? "", others: others.join(t("mark.comma")) }),
      okText: t("submit.role.lessOk"),
      okButtonProps: { danger: true, ...{ "data-testid": "less-ok" } },
      cancelText: t("action.cancel"),
      onOk: () => turn(false),
    });
  return (
    <FieldFrame path="distributed" label={t("submit.field.distributed")} help={t("help.distributed")}>
      <span className="tm-switch-line">
        <Switch
          checked={form.several}
          onChange={(on) => (on || others.length === 0 ? turn(on) : ask())}
          aria-label={t("submit.field.distributed")}
          data-testid="distributed"
        />
        <span className="tm-faint">{t("submit.role.distributedHint")}</span>
      </span>
    </FieldFrame>
  );
}
