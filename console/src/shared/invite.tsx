/** Invitations by link: made with a role and a term, shown once, listed while they are open, revoked. */
import { LinkOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Form, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { invite, listInvitations, revokeInvitation } from "../api/people";
import { useAttempt } from "./attempt";
import { RoleSelect, useRoleWords } from "./roles";
import { Stamp } from "./time";
import { CopyButton } from "./ui";

const DAY_S = 86_400;
const DAYS = [1, 7, 30];

export function Invite({ workspace, own }: { workspace: string; own: string }): ReactNode {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  if (open) return <NewInvitation workspace={workspace} own={own} />;
  return (
    <div>
      <Button icon={<LinkOutlined />} onClick={() => setOpen(true)} data-testid="invite">
        {t("people.invite")}
      </Button>
    </div>
  );
}

interface Wanted {
  role: string;
  days: number;
}

function NewInvitation({ workspace, own }: { workspace: string; own: string }): ReactNode {
  const { t } = useTranslation();
  const attempt = useAttempt();
  const client = useQueryClient();
  const [link, setLink] = useState<string | null>(null);
  const make = async ({ role, days }: Wanted): Promise<void> => {
    const done = await attempt(() => invite(workspace, role, days * DAY_S));
    if (done) setLink(window.location.origin + done.made.link);
    void client.invalidateQueries({ queryKey: ["invitations", workspace] });
  };
  return (
    <div className="tm-stack">
      <p className="tm-faint tm-flat">{t("people.inviteHint")}</p>
      <Form<Wanted>
        name="invitation"
        className="tm-member-new"
        initialValues={{ role: "member", days: 7 }}
        onFinish={(values) => void make(values)}
      >
        <Form.Item name="days">
          <Select
            aria-label={t("people.inviteLasts")}
            options={DAYS.map((days) => ({ value: days, label: t("people.inviteDays", { count: days }) }))}
          />
        </Form.Item>
        <Form.Item name="role">
          <RoleSelect own={own} aria-label={t("people.workspaceRole")} data-testid="invite-role" />
        </Form.Item>
        <Button htmlType="submit" data-testid="invite-make">
          {t("people.inviteMake")}
        </Button>
      </Form>
      {link !== null && (
        <Alert
          type="success"
          title={t("people.inviteOnce")}
          description={
            <span className="tm-mono tm-break" data-testid="invite-link">
              {link}
              <CopyButton text={link} />
            </span>
          }
        />
      )}
      <Open workspace={workspace} />
    </div>
  );
}

function Open({ workspace }: { workspace: string }): ReactNode {
  const { t } = useTranslation();
  const words = useRoleWords();
  const attempt = useAttempt();
  const client = useQueryClient();
  const query = useQuery({ queryKey: ["invitations", workspace], queryFn: () => listInvitations(workspace) });
  const open = (query.data?.items ?? []).filter(({ state }) => state === "open");
  if (open.length === 0) return null;
  const revoke = async (id: string): Promise<void> => {
    await attempt(() => revokeInvitation(workspace, id), t("people.inviteRevoked"));
    void client.invalidateQueries({ queryKey: ["invitations", workspace] });
  };
  return (
    <section aria-label={t("people.inviteOpen")} className="tm-invitations">
      <b>{t("people.inviteOpen")}</b>
      {open.map((one) => (
        <div key={one.id} data-testid={`invitation-${one.id}`}>
          <span>
            {words(one.role).name}
            <span className="tm-faint">
              {" · "}
              {t("people.inviteBy", { by: one.made_by })}
              {" · "}
              {t("people.inviteUntil")} <Stamp at={one.expires_at} />
            </span>
          </span>
          <Button
            size="small"
            onClick={() => void revoke(one.id)}
            aria-label={`${t("people.inviteRevoke")} ${one.id}`}
            data-testid="invite-revoke"
          >
            {t("people.inviteRevoke")}
          </Button>
        </div>
      ))}
    </section>
  );
}
