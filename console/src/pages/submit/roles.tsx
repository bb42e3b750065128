/** The sub-tasks: added, duplicated, removed; each with its command, parameters, resources, ports and completion rules. */
import { CopyOutlined, DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Checkbox, Flex, Input, InputNumber, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { emptyRole, freshName, getAt, isObject, rolesOf } from "./document";
import { FieldFrame, MemoryField, NumberField, TextField } from "./fields";
import { KeyValueField } from "./keyvalue";
import { FlavorChoice } from "./placing";
import { useRowKeys } from "./rows";
import { useForm } from "./state";

export function Roles(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const roles = rolesOf(form.doc);
  const names = roles.map((role) => String(role["name"] ?? ""));
  const rows = useRowKeys(roles.length);
  const put = (next: JsonObject[]): void => form.set("roles", next);
  return (
    <>
      {roles.map((_, i) => (
        <section key={rows.keys[i]} className="tm-panel tm-form-section" data-testid={`role-${i}`}>
          <h2>
            <span className="tm-grow">{t("submit.role.n", { n: i + 1 })}</span>
            <Tooltip title={t("submit.role.duplicate")}>
              <Button
                type="text"
                size="small"
                icon={<CopyOutlined />}
                aria-label={t("submit.role.duplicate")}
                data-testid="role-duplicate"
                onClick={() => {
                  rows.insert(i + 1);
                  put([
                    ...roles.slice(0, i + 1),
                    { ...roles[i], main: false, name: freshName(names[i] || "worker", names) },
                    ...roles.slice(i + 1),
                  ]);
                }}
              />
            </Tooltip>
            <Tooltip title={roles.length === 1 ? t("submit.role.needOne") : t("submit.role.remove")}>
              <Button
                type="text"
                size="small"
                icon={<DeleteOutlined />}
                disabled={roles.length === 1}
                aria-label={t("submit.role.remove")}
                data-testid="role-remove"
                onClick={() => {
                  rows.remove(i);
                  put(roles.filter((__, k) => k !== i));
                }}
              />
            </Tooltip>
          </h2>
          <div className="tm-panel-body">
            <RoleFields index={i} />
          </div>
        </section>
      ))}
      <Button
        type="dashed"
        block
        icon={<PlusOutlined />}
        onClick={() => put([...roles, emptyRole(names)])}
        className="tm-gap"
        data-testid="role-add"
      >
        {t("submit.role.add")}
      </Button>
    </>
  );
}

function RoleFields({ index }: { index: number }): ReactNode {
  const { t } = useTranslation();
  const { expert } = useForm();
  const at = `roles.${index}`;
  return (
    <>
      <div className={`tm-grid tm-grid-role${expert ? " tm-grid-role-wide" : ""}`}>
        <TextField
          path={`${at}.name`}
          label={t("submit.field.roleName")}
          help={t("help.roleName")}
          required
          keepEmpty
        />
        <NumberField
          path={`${at}.replicas`}
          label={t("submit.field.replicas")}
          help={t("help.replicas")}
          min={1}
          max={4096}
          placeholder="1"
        />
        {expert && (
          <NumberField
            path={`${at}.min_replicas`}
            label={t("submit.field.min_replicas")}
            help={t("help.min_replicas")}
            min={1}
            max={4096}
            placeholder={t("submit.role.allReplicas")}
          />
        )}
      </div>
      <TextField
        path={`${at}.command`}
        label={t("submit.field.command")}
        help={t("help.command")}
        required
        rows={1}
        mono
        keepEmpty
        placeholder="python train.py"
      />
      <KeyValueField
        path={`${at}.parameters`}
        label={t("submit.field.parameters")}
        help={t("help.parameters")}
        numbers
      />
      <FlavorChoice at={at} own={<OwnResources at={at} />} />
      <Ports at={at} />
      {expert && (
        <>
          <h3 className="tm-form-h3">{t("submit.role.completion")}</h3>
          <Completion at={at} />
          <KeyValueField path={`${at}.env`} label={t("submit.field.roleEnv")} help={t("help.env")} />
        </>
      )}
    </>
  );
}

function OwnResources({ at }: { at: string }): ReactNode {
  const { t } = useTranslation();
  const { expert } = useForm();
  return (
    <div className="tm-grid tm-grid-4">
      <NumberField
        path={`${at}.resources.cpu`}
        label={t("submit.field.cpu")}
        help={t("help.cpu")}
        min={0.01}
        unit={t("submit.unit.cores")}
        placeholder="1"
      />
      <MemoryField
        path={`${at}.resources.memory`}
        label={t("submit.field.memory")}
        help={t("help.memory")}
        placeholder={1024}
      />
      <NumberField
        path={`${at}.resources.gpu`}
        label={t("submit.field.gpu")}
        help={t("help.gpu")}
        min={0}
        max={1024}
        unit={t("submit.unit.cards")}
        placeholder="0"
      />
      <MemoryField path={`${at}.resources.shm`} label={t("submit.field.shm")} help={t("help.shm")} placeholder={64} />
      {expert && (
        <TextField path={`${at}.resources.gpu_type`} label={t("submit.field.gpu_type")} help={t("help.gpu_type")} />
      )}
      {expert && (
        <NumberField
          path={`${at}.resources.gpu_share`}
          label={t("submit.field.gpu_share")}
          help={t("help.gpu_share")}
          min={0.001}
          max={1}
          step={0.05}
          placeholder="1"
        />
      )}
    </div>
  );
}

function Completion({ at }: { at: string }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const never = getAt(form.doc, `${at}.min_failed`) === null;
  return (
    <div className="tm-grid tm-grid-3">
      <NumberField
        path={`${at}.min_succeeded`}
        label={t("submit.field.min_succeeded")}
        help={t("help.min_succeeded")}
        min={1}
        placeholder={t("submit.role.allEnd")}
      />
      <FieldFrame path={`${at}.min_failed`} label={t("submit.field.min_failed")} help={t("help.min_failed")}>
        <Flex gap={10} align="center">
          <InputNumber
            min={1}
            disabled={never}
            placeholder="1"
            value={
              typeof getAt(form.doc, `${at}.min_failed`) === "number"
                ? (getAt(form.doc, `${at}.min_failed`) as number)
                : null
            }
            onChange={(value) => form.set(`${at}.min_failed`, value ?? undefined)}
            style={{ flex: 1 }}
            data-testid={`field-${at}.min_failed`}
            aria-label={t("submit.field.min_failed")}
          />
          <Checkbox checked={never} onChange={(e) => form.set(`${at}.min_failed`, e.target.checked ? null : undefined)}>
            {t("submit.role.never")}
          </Checkbox>
        </Flex>
      </FieldFrame>
      <FieldFrame path={`${at}.main`} label={t("submit.field.main")} help={t("help.main")}>
        <Checkbox
          checked={getAt(form.doc, `${at}.main`) === true}
          onChange={(e) => form.set(`${at}.main`, e.target.checked || undefined)}
          data-testid={`field-${at}.main`}
        >
          {t("job.tasks.mainHint")}
        </Checkbox>
      </FieldFrame>
    </div>
  );
}

function Ports({ at }: { at: string }): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const path = `${at}.ports`;
  const given = getAt(form.doc, path);
  const ports = Array.isArray(given) ? given.filter(isObject) : [];
  const rows = useRowKeys(ports.length);
  const put = (next: JsonObject[]): void => form.set(path, next.length > 0 ? next : undefined);
  const edit = (i: number, part: JsonObject): void =>
    put(ports.map((port, k) => (k === i ? { ...port, ...part } : port)));
  return (
    <FieldFrame path={path} deep label={t("submit.field.ports")} help={t("help.ports")}>
      <div className="tm-kv">
        {ports.map((port, i) => (
          <div key={rows.keys[i]} className="tm-kv-row">
            <Input
              value={String(port["label"] ?? "")}
              placeholder={t("submit.field.portLabel")}
              aria-label={t("submit.field.portLabel")}
              onChange={(e) => edit(i, { label: e.target.value })}
              data-testid={`port-label-${i}`}
            />
            <InputNumber
              min={1}
              max={256}
              value={typeof port["count"] === "number" ? port["count"] : 1}
              suffix="×"
              aria-label={t("submit.field.portCount")}
              onChange={(count) => edit(i, { count: count ?? 1 })}
            />
            <InputNumber
              min={0}
              max={65535}
              value={typeof port["begin_at"] === "number" ? port["begin_at"] : 0}
              prefix={<span className="tm-faint">{t("submit.field.portBegin")}</span>}
              aria-label={t("submit.field.portBegin")}
              style={{ minWidth: 170 }}
              onChange={(begin) => edit(i, { begin_at: begin ?? 0 })}
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
        <Button
          size="small"
          type="dashed"
          icon={<PlusOutlined />}
          onClick={() =>
            put([
              ...ports,
              {
                label: freshName(
                  "port",
                  ports.map((p) => String(p["label"])),
                ),
                count: 1,
              },
            ])
          }
          data-testid="port-add"
        >
          {t("submit.kv.add")}
        </Button>
      </div>
    </FieldFrame>
  );
}
