/** Who belongs to a workspace, and in which role: read, changed and added to in one dialog. What is chosen is saved at once. */
import { DeleteOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, Button, Form, Input, Modal, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { dropMember, listMembers, listUsers, putMember } from "../api/people";
import type { Member } from "../api/types";
import { useAttempt } from "./attempt";
import { Invite } from "./invite";
import { ButtonLink } from "./link";
import { decides, mayGive, roleIn } from "./people";
import { RoleSelect, useRoleWords } from "./roles";
import { useSession } from "./session";
import { DataTable } from "./table";
import { Ago } from "./time";
import { Pending } from "./ui";

const PAGE = 10;
/** What shows who is a member of what. */
const TOUCHED = ["members", "users", "session"];

/** The button that opens them. */
export function MembersButton({ workspace }: { workspace: string }): ReactNode {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        onClick={() => setOpen(true)}
        aria-label={`${t("people.members")} ${workspace}`}
        data-testid={`members-${workspace}`}
      >
        {t("people.members")}
      </Button>
      {open && <MembersDialog workspace={workspace} close={() => setOpen(false)} />}
    </>
  );
}

/** Leads to who changed a workspace: its quotas, limits, flavors and members. */
export function AuditLink({ workspace }: { workspace: string }): ReactNode {
  const { t } = useTranslation();
  return (
    <ButtonLink
      to="/audit"
      search={{ subject: `workspace:${workspace}` }}
      size="small"
      title={t("audit.workspaceLink")}
      data-testid={`audit-${workspace}`}
    >
      {t("audit.link")}
    </ButtonLink>
  );
}

function MembersDialog({ workspace, close }: { workspace: string; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const me = useSession()?.user;
  const query = useQuery({ queryKey: ["members", workspace], queryFn: () => listMembers(workspace) });
  const own = me && roleIn(me, workspace);
  return (
    <Modal
      open
      title={t("people.membersOf", { workspace })}
      width={720}
      footer={null}
      onCancel={close}
      mask={{ closable: false }}
    >
      <div className="tm-stack tm-dialog" data-testid="members">
        {decides(own) && <p className="tm-faint tm-flat">{t("people.membersHint")}</p>}
        {!query.data ? (
          <Pending query={query} rows={4} />
        ) : (
          <>
            {own !== undefined && decides(own) && (
              <NewMember
                workspace={workspace}
                own={own}
                among={me?.role === "admin"}
                taken={query.data.items.map((one) => one.user)}
              />
            )}
            {own !== undefined && decides(own) && <Invite workspace={workspace} own={own} />}
            <MemberTable
              workspace={workspace}
              own={own}
              leaver={me?.role === "admin" ? undefined : me?.name}
              members={query.data.items}
              close={close}
            />
          </>
        )}
      </div>
    </Modal>
  );
}

/** Something done to the members of a workspace, after which everything that shows them is read again. */
function useChange(): (work: () => Promise<unknown>, done: string) => Promise<boolean> {
  const attempt = useAttempt();
  const client = useQueryClient();
  return async (work, done) => {
    const good = (await attempt(work, done)) !== undefined;
    await Promise.all(TOUCHED.map((key) => client.invalidateQueries({ queryKey: [key] })));
    return good;
  };
}

interface NewMemberForm {
  user: string;
  role: string;
}

/** `among`: the reader may see all users, and chooses; everybody else types a name. */
function NewMember({
  workspace,
  own,
  among,
  taken,
}: {
  workspace: string;
  own: string;
  among: boolean;
  taken: string[];
}): ReactNode {
  const { t } = useTranslation();
  const change = useChange();
  const [form] = Form.useForm<NewMemberForm>();
  const [busy, setBusy] = useState(false);
  const add = async ({ user, role }: NewMemberForm): Promise<void> => {
    setBusy(true);
    const name = user.trim();
    if (await change(() => putMember(workspace, name, role), t("people.added", { name }))) form.resetFields();
    setBusy(false);
  };
  return (
    <Form<NewMemberForm>
      form={form}
      name="member"
      className="tm-member-new"
      initialValues={{ role: "member" }}
      onFinish={(values) => void add(values)}
    >
      <Form.Item
        name="user"
        rules={[
          { required: true, whitespace: true, message: t("people.needUser") },
          {
            validator: (_, name?: string) =>
              name !== undefined && taken.includes(name.trim())
                ? Promise.reject(new Error(t("people.isMember", { name: name.trim() })))
                : Promise.resolve(),
          },
        ]}
      >
        {among ? (
          <UserSelect taken={taken} />
        ) : (
          <Input
            placeholder={t("people.userName")}
            aria-label={t("people.userName")}
            maxLength={200}
            autoComplete="off"
            data-testid="member-name"
          />
        )}
      </Form.Item>
      <Form.Item name="role">
        <RoleSelect own={own} aria-label={t("people.workspaceRole")} data-testid="member-role" />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={busy} data-testid="member-add">
        {t("people.addMember")}
      </Button>
    </Form>
  );
}

function UserSelect({ taken, ...field }: { taken: string[] }): ReactNode {
  const { t } = useTranslation();
  const users = useQuery({ queryKey: ["users"], queryFn: listUsers });
  return (
    <Select
      {...field}
      showSearch
      loading={users.isPending}
      placeholder={t("people.chooseUser")}
      aria-label={t("people.chooseUser")}
      options={(users.data?.items ?? [])
        .filter(({ name }) => !taken.includes(name))
        .map(({ name, state }) => ({
          value: name,
          label: state === "locked" ? `${name} · ${t("people.states.locked")}` : name,
        }))}
      data-testid="member-name"
    />
  );
}

function RoleCell({ member, own }: { member: Member; own: string | undefined }): ReactNode {
  const { t } = useTranslation();
  const words = useRoleWords();
  const change = useChange();
  const { workspace, user: name, role } = member;
  if (!mayGive(own, role)) return words(role).name;
  return (
    <RoleSelect
      size="small"
      own={own}
      value={role}
      onChange={(next) =>
        void change(() => putMember(workspace, name, next), t("people.roleSaved", { name, role: words(next).name }))
      }
      className="tm-member-role"
      aria-label={t("people.roleOf", { name })}
      data-testid={`role-${name}`}
    />
  );
}

interface TableProps {
  workspace: string;
  own: string | undefined;
  /** Who sees nothing here any more once they are no member. */
  leaver: string | undefined;
  members: Member[];
  close: () => void;
}

function MemberTable({ workspace, own, leaver, members, close }: TableProps): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const change = useChange();
  const ask = ({ user: name }: Member): void =>
    void modal.confirm({
      title: t("people.removeTitle", { name, workspace }),
      icon: null,
      content: t(name === leaver ? "people.leaveHint" : "people.removeHint", { name }),
      okText: t("action.remove"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: async () => {
        const gone = await change(() => dropMember(workspace, name), t("people.removed", { name }));
        if (gone && name === leaver) close();
      },
    });
  return (
    <DataTable<Member>
      rowKey="user"
      size="small"
      scroll={{ x: 520 }}
      dataSource={members}
      pagination={members.length > PAGE ? { pageSize: PAGE, showSizeChanger: false } : false}
      locale={{ emptyText: <span className="tm-faint">{t("people.noMembers")}</span> }}
      onRow={({ user }) => ({ "data-testid": `member-${user}` }) as object}
      columns={[
        { title: t("people.user"), key: "user", render: (_, { user }) => <b>{user}</b> },
        {
          title: t("people.workspaceRole"),
          key: "role",
          width: 190,
          render: (_, one) => <RoleCell member={one} own={own} />,
        },
        { title: t("people.since"), key: "since", width: 150, render: (_, { since }) => <Ago at={since} /> },
        {
          title: <span className="tm-hidden">{t("admin.actions")}</span>,
          key: "remove",
          width: 60,
          align: "end",
          render: (_, one) =>
            mayGive(own, one.role) && (
              <Button
                type="text"
                size="small"
                icon={<DeleteOutlined />}
                aria-label={`${t("action.remove")} ${one.user}`}
                onClick={() => ask(one)}
                data-testid={`remove-${one.user}`}
              />
            ),
        },
      ]}
    />
  );
}
