/** The sub-tasks: added, doubled, removed; each with its command, parameters, resources, ports and completion rules (R30-R38). */
import { CopyOutlined, DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JsonObject } from "../../api/types";
import { runsIt } from "./algorithm-doc";
import { Completion } from "./completion";
import { emptyRole, freshName, isObject, rolesOf, STAYS_UP } from "./document";
import { MemoryField, NumberField, OpenField, TextField } from "./fields";
import { Hyperparameters } from "./hyperparameters";
import { KeyValueField } from "./keyvalue";
import { FlavorChoice, useModels } from "./placing";
import { Ports } from "./ports";
import { useRowKeys } from "./rows";
import { useForm } from "./state";
import { useAlgorithm } from "./use-algorithm";

export function Roles(): ReactNode {
  const { t } = useTranslation();
  const form = useForm();
  const roles = rolesOf(form.doc);
  const names = roles.map((role) => String(role["name"] ?? ""));
  const rows = useRowKeys(roles.length);
  const put = (next: JsonObject[]): void => form.set("roles", next);
  return (
    <>
      {roles.map((role, i) => (
        <section
          key={rows.keys[i]}
          className="tm-panel tm-form-section"
          id={`section-role-${i}`}
          data-testid={`role-${i}`}
        >
          <h2>
            <span className="tm-grow">{form.several ? t("submit.role.n", { n: i + 1 }) : t("submit.role.alone")}</span>
            {form.several && (
              <RoleActions
                only={roles.length === 1}
                double={() => {
                  rows.insert(i + 1);
                  put([
                    ...roles.slice(0, i + 1),
                    { ...role, main: false, name: freshName(names[i] || "worker", names) },
                    ...roles.slice(i + 1),
                  ]);
                }}
                remove={() => {
                  rows.remove(i);
                  put(roles.filter((_, k) => k !== i));
                }}
              />
            )}
          </h2>
          <div className="tm-panel-body">
            <RoleFields index={i} role={role} />
          </div>
        </section>
      ))}
      {form.several && (
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
      )}
    </>
  );
}

function RoleActions({ only, double, remove }: { only: boolean; double: () => void; remove: () => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      <Tooltip title={t("submit.role.duplicate")}>
        <Button
          type="text"
          size="small"
          icon={<CopyOutlined />}
          aria-label={t("submit.role.duplicate")}
          data-testid="role-duplicate"
          onClick={double}
        />
      </Tooltip>
      <Tooltip title={only ? t("submit.role.needOne") : t("submit.role.remove")}>
        <Button
          type="text"
          size="small"
          icon={<DeleteOutlined />}
          disabled={only}
          aria-label={t("submit.role.remove")}
          data-testid="role-remove"
          onClick={remove}
        />
      </Tooltip>
    </>
  );
}

function RoleFields({ index, role }: { index: number; role: JsonObject }): ReactNode {
  const { t } = useTranslation();
  const { expert, several } = useForm();
  const { spec: algorithm } = useAlgorithm();
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
        {several && (
          <NumberField path={`${at}.replicas`} label={t("submit.field.replicas")} help={t("help.replicas")} />
        )}
        {several && expert && (
          <NumberField
            path={`${at}.min_replicas`}
            label={t("submit.field.min_replicas")}
            help={t("help.min_replicas")}
            placeholder={t("submit.role.allReplicas")}
          />
        )}
      </div>
      {algorithm && runsIt(role, algorithm) ? (
        <Hyperparameters at={at} spec={algorithm} />
      ) : (
        <OwnCommand at={at} role={role} />
      )}
      <HookFields at={at} role={role} />
      <FlavorChoice at={at} own={<OwnResources at={at} />} />
      <Ports at={at} />
      {expert && <KeyValueField path={`${at}.env`} label={t("submit.field.roleEnv")} help={t("help.env")} />}
      {several && <Completion at={at} role={role} />}
    </>
  );
}

/** What runs before and after the command of a sub-task (R53): of interest to few, so in expert mode, or where some is set. */
function HookFields({ at, role }: { at: string; role: JsonObject }): ReactNode {
  const { t } = useTranslation();
  const { expert } = useForm();
  const given = role["hooks"];
  if (!expert && !(isObject(given) && Object.values(given).some((one) => one !== null && one !== undefined)))
    return null;
  return (
    <div className="tm-grid tm-grid-2">
      <TextField
        path={`${at}.hooks.before`}
        label={t("submit.field.before")}
        help={t("help.before")}
        rows={1}
        mono
        placeholder="python prepare.py"
      />
      <TextField
        path={`${at}.hooks.after`}
        label={t("submit.field.after")}
        help={t("help.after")}
        rows={1}
        mono
        placeholder="bash cleanup.sh"
      />
    </div>
  );
}

function OwnCommand({ at, role }: { at: string; role: JsonObject }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      <TextField
        path={`${at}.command`}
        label={t("submit.field.command")}
        help={t("help.command")}
        required
        rows={1}
        mono
        keepEmpty
        placeholder="python train.py"
        replaced={STAYS_UP}
        hint={role["command"] === STAYS_UP ? t("submit.role.staysUp") : undefined}
      />
      <KeyValueField
        path={`${at}.parameters`}
        label={t("submit.field.parameters")}
        help={t("help.parameters")}
        numbers
      />
    </>
  );
}

function OwnResources({ at }: { at: string }): ReactNode {
  const { t } = useTranslation();
  const { expert } = useForm();
  const models = useModels();
  return (
    <div className="tm-grid tm-grid-4">
      <NumberField
        path={`${at}.resources.cpu`}
        label={t("submit.field.cpu")}
        help={t("help.cpu")}
        unit={(count) => t("submit.unit.cores", { count })}
      />
      <MemoryField path={`${at}.resources.memory`} label={t("submit.field.memory")} help={t("help.memory")} />
      <NumberField
        path={`${at}.resources.gpu`}
        label={t("submit.field.gpu")}
        help={t("help.gpu")}
        unit={(count) => t("submit.unit.cards", { count })}
      />
      <OpenField
        path={`${at}.resources.gpu_type`}
        label={t("submit.field.gpu_type")}
        help={t("help.gpu_type")}
        options={models}
        placeholder={t("submit.place.anyModel")}
      />
      <MemoryField path={`${at}.resources.shm`} label={t("submit.field.shm")} help={t("help.shm")} />
      {expert && (
        <NumberField
          path={`${at}.resources.gpu_share`}
          label={t("submit.field.gpu_share")}
          help={t("help.gpu_share")}
          step={0.05}
        />
      )}
    </div>
  );
}
