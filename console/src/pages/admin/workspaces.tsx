/** Workspaces: weights, quotas by pool, and how many urgent jobs there may be (R20, R171). */
import { DeleteOutlined, ExperimentOutlined, PlusOutlined } from "@ant-design/icons";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Button, Form, InputNumber, Select, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { deleteWorkspace, listPools, listWorkspaces, saveWorkspace, type WorkspaceBody } from "../../api/cluster";
import { simulateWorkspace } from "../../api/queue";
import type { PolicyEffect, ResourcePool, Workspace } from "../../api/types";
import { number } from "../../shared/format";
import { AuditLink, MembersButton } from "../../shared/members";
import { SecretsButton } from "../../shared/secrets";
import { Shares } from "../../shared/shares";
import { StorageButton } from "../../shared/storage";
import { ErrorPanel } from "../../shared/ui";
import { useMedia } from "../../theme";
import { type Named, NamedDialog } from "./dialog";
import { Effect } from "./effect";
import { type LimitRow, LimitsEditor, limitsOf, rowsOf, useWarnings } from "./limits";
import { limitsOfPeople, Personal, PersonalEditor, type PersonRow, personRows } from "./personal";
import { modelsOf } from "./pools";
import { StorageCell, StorageEditor, type StorageForm, storageForm, storageOf } from "./storage";
import { NamedTable, useJobsColumn } from "./table";

interface QuotaRow {
  pool: string;
  share: LimitRow[];
}

interface WorkspaceForm extends Named {
  weight: number;
  quotas: QuotaRow[];
  urgent_per_user: number | null;
  urgent_total: number | null;
  sharing: Workspace["sharing"];
  limit: "optional" | "required";
  personal: PersonRow[];
  storage: StorageForm;
}

export function WorkspacesAdmin(): ReactNode {
  const { t } = useTranslation();
  const query = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, refetchInterval: 15_000 });
  const pools = useQuery({ queryKey: ["pools"], queryFn: () => listPools() });
  const jobs = useJobsColumn<Workspace>();
  const wide = useMedia("(min-width: 1380px)");
  return (
    <NamedTable<Workspace>
      hint={t("admin.workspaces.hint")}
      add={t("admin.workspaces.add")}
      test="workspace-add"
      query={query}
      remove={(one) => deleteWorkspace(one.name)}
      stays="default"
      width={wide ? 1100 : 1020}
      dialog={(one, close) => <WorkspaceDialog one={one} pools={pools.data?.items ?? []} close={close} />}
      columns={[
        {
          title: t("admin.workspaces.weight"),
          key: "weight",
          width: 80,
          render: (_, one) => <span className="tm-num">{number(one.weight)}</span>,
        },
        {
          title: t("admin.workspaces.quotas"),
          key: "quotas",
          width: 200,
          render: (_, one) => (
            <>
              {one.quotas.length === 0 && <span className="tm-faint">{t("admin.workspaces.noQuota")}</span>}
              {one.quotas.map((quota) => (
                <div key={quota.pool} className="tm-quota">
                  <span className="tm-line">{quota.pool}</span>
                  <Shares share={quota.share} />
                </div>
              ))}
              <Personal one={one} />
              <StorageCell one={one} />
            </>
          ),
        },
        {
          title: t("admin.workspaces.urgent"),
          key: "urgent",
          width: 144,
          render: (_, one) => <UrgentCell urgent={one.urgent} />,
        },
        jobs,
        {
          title: <span className="tm-hidden">{t("people.members")}</span>,
          key: "members",
          width: wide ? 330 : 180,
          render: (_, { name }) => (
            <div className="tm-actions">
              <MembersButton workspace={name} />
              <SecretsButton workspace={name} />
              <StorageButton workspace={name} />
              <AuditLink workspace={name} />
            </div>
          ),
        },
      ]}
    />
  );
}

function UrgentCell({ urgent }: Pick<Workspace, "urgent">): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="tm-cell">
      <span className="tm-num">
        {urgent.total === null
          ? t("admin.workspaces.usedFree", { used: urgent.used })
          : t("admin.workspaces.usedOf", { used: urgent.used, total: urgent.total })}
      </span>
      {urgent.per_user !== null && (
        <span className="tm-line">
          {t("admin.workspaces.perUser")}
          {t("mark.colon")}
          {urgent.per_user}
        </span>
      )}
    </div>
  );
}

function WorkspaceDialog({
  one,
  pools,
  close,
}: {
  one: Workspace | null;
  pools: ResourcePool[];
  close: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const warnings = useWarnings();
  const many = { min: 0, max: 1_000_000, style: { width: "100%" } };
  return (
    <NamedDialog<WorkspaceForm, Workspace>
      one={one}
      add={t("admin.workspaces.add")}
      close={close}
      width={780}
      values={{
        weight: one?.weight ?? 1,
        quotas: (one?.quotas ?? []).map(({ pool, share }) => ({ pool, share: rowsOf(share) })),
        urgent_per_user: one?.urgent.per_user ?? null,
        urgent_total: one?.urgent.total ?? null,
        sharing: one?.sharing ?? "open",
        limit: one?.require_duration ? "required" : "optional",
        personal: one ? personRows(one) : [],
        storage: storageForm(one),
      }}
      save={(values) => saveWorkspace(values.name, bodyOf(values))}
      warnings={({ quotas }) => quotas.flatMap(({ pool, share }) => warnings(pool, share))}
      foot={one && <Trial one={one} />}
    >
      <div className="tm-grid tm-grid-3">
        <Form.Item name="weight" label={t("admin.workspaces.weight")} rules={[{ required: true }]}>
          <InputNumber {...many} min={0.01} />
        </Form.Item>
        <Form.Item name="urgent_per_user" label={`${t("admin.workspaces.urgent")} · ${t("admin.workspaces.perUser")}`}>
          <InputNumber
            {...many}
            precision={0}
            placeholder={t("admin.workspaces.unlimited")}
            data-testid="urgent-per-user"
          />
        </Form.Item>
        <Form.Item name="urgent_total" label={`${t("admin.workspaces.urgent")} · ${t("admin.workspaces.total")}`}>
          <InputNumber {...many} precision={0} placeholder={t("admin.workspaces.unlimited")} />
        </Form.Item>
      </div>
      <div className="tm-grid tm-grid-2">
        <Form.Item name="sharing" label={t("admin.workspaces.sharing")}>
          <Select
            data-testid="sharing"
            options={(["open", "required", "off"] as const).map((value) => ({
              value,
              label: t(`admin.workspaces.sharings.${value}`),
            }))}
          />
        </Form.Item>
        <Form.Item name="limit" label={t("admin.workspaces.limit")}>
          <Select
            data-testid="limit-rule"
            options={(["optional", "required"] as const).map((value) => ({
              value,
              label: t(`admin.workspaces.limits.${value}`),
            }))}
          />
        </Form.Item>
      </div>
      <Form.Item label={t("admin.workspaces.quotas")} extra={t("admin.limits.capHint")}>
        <Quotas pools={pools} />
      </Form.Item>
      <Form.Item label={t("admin.workspaces.personal")} extra={t("admin.workspaces.personalHint")}>
        <PersonalEditor pools={pools} />
      </Form.Item>
      <StorageEditor />
    </NamedDialog>
  );
}

/** The workspace as the form says it is to be. */
function bodyOf({ quotas, weight, personal, storage, ...more }: WorkspaceForm): WorkspaceBody {
  const shares = (quotas ?? []).map((quota) => [quota.pool, limitsOf(quota.share)] as const);
  return {
    weight: weight ?? 1,
    urgent_per_user: more.urgent_per_user ?? null,
    urgent_total: more.urgent_total ?? null,
    sharing: more.sharing ?? "open",
    require_duration: more.limit === "required",
    description: more.description ?? "",
    ...limitsOfPeople(personal),
    storage: storageOf(storage),
    quotas: Object.fromEntries(shares),
  };
}

/** What the weight and the quotas of the form would have done to the platform's own past. */
function Trial({ one }: { one: Workspace }): ReactNode {
  const { t } = useTranslation();
  const form = Form.useFormInstance<WorkspaceForm>();
  const simulated = useMutation<PolicyEffect, unknown, WorkspaceBody>({
    mutationFn: (body) => simulateWorkspace(one.name, body),
  });
  const now = Form.useWatch((values: WorkspaceForm) => JSON.stringify(bodyOf(values)), form);
  return (
    <div className="tm-stack">
      <div>
        <Tooltip title={simulated.data ? undefined : t("admin.policy.simulateHint")}>
          <Button
            icon={<ExperimentOutlined />}
            loading={simulated.isPending}
            onClick={() =>
              void form.validateFields().then(
                (values) => simulated.mutate(bodyOf(values)),
                () => undefined,
              )
            }
            data-testid="workspace-simulate"
          >
            {t("admin.policy.simulate")}
          </Button>
        </Tooltip>
      </div>
      {simulated.error !== null && <ErrorPanel error={simulated.error} />}
      {simulated.data && <Effect effect={simulated.data} stale={now !== JSON.stringify(simulated.variables)} />}
    </div>
  );
}

function Quotas({ pools }: { pools: ResourcePool[] }): ReactNode {
  const { t } = useTranslation();
  const rows = (Form.useWatch("quotas") as (QuotaRow | undefined)[] | undefined) ?? [];
  const taken = new Set(rows.map((row) => row?.pool));
  const free = pools.find((pool) => !taken.has(pool.name));
  return (
    <Form.List name="quotas">
      {(fields, { add, remove }) => (
        <div className="tm-stack">
          {fields.map(({ key, name }) => (
            <div key={key} className="tm-quota-edit">
              <div className="tm-kv-row">
                <Form.Item name={[name, "pool"]} noStyle rules={[{ required: true }]}>
                  <Select
                    style={{ flex: 1 }}
                    aria-label={t("admin.pools.pool")}
                    options={pools.map((pool) => ({
                      value: pool.name,
                      label: pool.name,
                      disabled: taken.has(pool.name) && rows[name]?.pool !== pool.name,
                    }))}
                  />
                </Form.Item>
                <Button
                  type="text"
                  icon={<DeleteOutlined />}
                  aria-label={t("action.remove")}
                  onClick={() => remove(name)}
                />
              </div>
              <LimitsEditor path={[name, "share"]} within={["quotas"]} models={modelsOf(pools)} jobs />
            </div>
          ))}
          <Button
            size="small"
            type="dashed"
            icon={<PlusOutlined />}
            disabled={!free}
            onClick={() => add({ pool: free?.name, share: [{ resource: "gpu", nominal: 0, cap: null }] })}
            data-testid="quota-add"
          >
            {t("admin.workspaces.addQuota")}
          </Button>
        </div>
      )}
    </Form.List>
  );
}
