/** What is asked and told about one account: a new one, its one-time password, and what becomes of the jobs of who is locked or deleted. */
import { useQuery } from "@tanstack/react-query";
import { Alert, App, Button, Form, Input, Modal, Select, Switch } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { listWorkspaces } from "../../api/cluster";
import { addUser, deleteUser, lockUser, resetPassword, type Theirs } from "../../api/people";
import type { NewAccount } from "../../api/types";
import { useAttempt } from "../../shared/attempt";
import { DEFAULT_WORKSPACE } from "../../shared/people";
import { RoleSelect } from "../../shared/roles";
import { CopyButton, ErrorPanel } from "../../shared/ui";
import { Dialog, useRefresh } from "./dialog";

/** As the server has it: no two names look alike, and every system has room for one. */
export const USER_NAME = /^[a-z][a-z0-9._-]{0,31}$/;

/** A password that is shown once, and whose it is. */
export interface Once {
  name: string;
  password: string;
}

interface NewUserForm {
  name: string;
  workspace: string;
  workspace_role: string;
  admin: boolean;
}

export function AddUser({ close, made }: { close: () => void; made: (once: Once) => void }): ReactNode {
  const { t } = useTranslation();
  const workspaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces });
  const save = async ({ admin, ...values }: NewUserForm): Promise<NewAccount> => {
    const answer = await addUser({ ...values, role: admin ? "admin" : "user" });
    made({ name: answer.account.name, password: answer.one_time_password });
    return answer;
  };
  return (
    <Dialog<NewUserForm, NewAccount>
      title={t("people.add")}
      ok={t("people.add")}
      initial={{ name: "", workspace: DEFAULT_WORKSPACE, workspace_role: "member", admin: false }}
      save={save}
      close={close}
    >
      <Form.Item
        name="name"
        label={t("admin.name")}
        extra={t("people.nameHint")}
        validateFirst
        rules={[
          { required: true, message: t("people.nameMissing") },
          { pattern: USER_NAME, message: t("people.nameBad") },
        ]}
      >
        <Input autoFocus autoComplete="off" maxLength={32} data-testid="user-name" />
      </Form.Item>
      <div className="tm-grid tm-grid-2">
        <Form.Item name="workspace" label={t("people.workspace")} rules={[{ required: true }]}>
          <Select
            showSearch
            options={(workspaces.data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
            data-testid="user-workspace"
          />
        </Form.Item>
        <Form.Item name="workspace_role" label={t("people.workspaceRole")}>
          <RoleSelect data-testid="user-role" />
        </Form.Item>
      </div>
      <Form.Item
        name="admin"
        label={t("people.platformAdminField")}
        extra={t("people.platformAdminHint")}
        valuePropName="checked"
      >
        <Switch data-testid="user-admin" />
      </Form.Item>
    </Dialog>
  );
}

/** Ask, then give somebody a one-time password in place of theirs. */
export function useReset(show: (once: Once) => void): (name: string) => void {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const attempt = useAttempt();
  const refresh = useRefresh();
  return (name) =>
    void modal.confirm({
      title: t("people.resetTitle", { name }),
      icon: null,
      content: t("people.resetHint", { name }),
      okText: t("people.reset"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: async () => {
        const done = await attempt(() => resetPassword(name));
        refresh();
        if (done) show({ name, password: done.made.one_time_password });
      },
    });
}

/** Left by its buttons only: nobody gets to see the password again. */
export function OnceDialog({ once, close }: { once: Once; close: () => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <Modal
      open
      title={t("people.once", { name: once.name })}
      width={480}
      onCancel={close}
      keyboard={false}
      mask={{ closable: false }}
      footer={
        <Button type="primary" onClick={close} data-testid="once-done">
          {t("people.onceDone")}
        </Button>
      }
    >
      <div className="tm-stack tm-dialog">
        <p className="tm-once">
          <span className="tm-mono" data-testid="one-time-password">
            {once.password}
          </span>
          <CopyButton text={once.password} label={t("people.onceCopy")} />
        </p>
        <p className="tm-flat">{t("people.onceHint", { name: once.name })}</p>
      </div>
    </Modal>
  );
}

export type Leaving = "lock" | "delete";

const LEAVE: Record<Leaving, (name: string, jobs?: Theirs) => Promise<unknown>> = {
  lock: lockUser,
  delete: deleteUser,
};
const DONE = { lock: "people.locked", delete: "people.deleted" } as const;

/** Lock or delete an account. What becomes of jobs that have not ended is asked where there are any. */
export function LeaveDialog({ name, how, close }: { name: string; how: Leaving; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const refresh = useRefresh();
  const [busy, setBusy] = useState<Theirs | "ask" | null>(null);
  const [error, setError] = useState<unknown>(null);
  const jobs = error instanceof ApiError && error.code === "jobs_not_ended" ? error.message : null;
  const send = async (theirs?: Theirs): Promise<void> => {
    setBusy(theirs ?? "ask");
    try {
      await LEAVE[how](name, theirs);
      message.success(t(DONE[how], { name }));
      close();
    } catch (refused) {
      setError(refused);
      setBusy(null);
    }
    refresh();
  };
  const button = (label: string, test: string, theirs?: Theirs): ReactNode => (
    <Button
      key={test}
      danger
      type={theirs === "keep" ? "default" : "primary"}
      disabled={busy !== null && busy !== (theirs ?? "ask")}
      loading={busy === (theirs ?? "ask")}
      onClick={() => void send(theirs)}
      data-testid={test}
    >
      {label}
    </Button>
  );
  return (
    <Modal
      open
      title={t(how === "lock" ? "people.lockTitle" : "people.deleteTitle", { name })}
      width={500}
      onCancel={close}
      mask={{ closable: false }}
      footer={[
        // Another one when the question is another: it has the keyboard then, and what was pressed is gone.
        <Button key={jobs ?? "cancel"} autoFocus onClick={close}>
          {t("action.cancel")}
        </Button>,
        ...(jobs === null
          ? [button(t(`people.${how}`), "leave-ok")]
          : [button(t("people.keepJobs"), "jobs-keep", "keep"), button(t("people.stopJobs"), "jobs-stop", "stop")]),
      ]}
    >
      <div className="tm-stack tm-dialog">
        <p className="tm-flat">{t(how === "lock" ? "people.lockHint" : "people.deleteHint", { name })}</p>
        {jobs !== null && (
          <Alert type="warning" showIcon title={jobs} description={t("people.theirJobs")} data-testid="jobs-left" />
        )}
        {error !== null && jobs === null && <ErrorPanel error={error} />}
      </div>
    </Modal>
  );
}
