/** The workspaces of who is signed in: their role in each, what it permits, and the members where they decide them. */
import { Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Membership } from "../../api/types";
import { AuditLink, MembersButton } from "../../shared/members";
import { decides, maySubmit } from "../../shared/people";
import { useRoleWords } from "../../shared/roles";
import { SecretsButton } from "../../shared/secrets";
import { useFreshSession } from "../../shared/session";
import { StorageButton } from "../../shared/storage";
import { DataTable } from "../../shared/table";
import { LimitsButton } from "../admin/personal-button";

export function Workspaces(): ReactNode {
  const { t } = useTranslation();
  const user = useFreshSession()?.user;
  const words = useRoleWords();
  if (!user) return null;
  const platform = user.role === "admin";
  return (
    <section className="tm-panel" data-testid="my-workspaces">
      <h2>{t("people.mine")}</h2>
      <div className="tm-panel-body tm-stack">
        {platform && <p className="tm-faint tm-flat">{t("people.mineAll")}</p>}
        {user.workspaces.length > 0 ? (
          <DataTable<Membership>
            rowKey="workspace"
            size="small"
            scroll={{ x: 790 }}
            pagination={false}
            dataSource={user.workspaces}
            columns={[
              {
                title: <span className="tm-nowrap">{t("people.workspace")}</span>,
                key: "workspace",
                render: (_, one) => <b>{one.workspace}</b>,
              },
              {
                title: t("people.mineRole"),
                key: "role",
                width: 110,
                render: (_, one) => <Tag className="tm-tag">{words(one.role).name}</Tag>,
              },
              { title: t("people.mineMay"), key: "may", width: 280, render: (_, one) => words(one.role).may },
              {
                title: <span className="tm-hidden">{t("admin.actions")}</span>,
                key: "members",
                width: 380,
                align: "end",
                render: (_, { workspace, role }) => (
                  <div className="tm-actions">
                    {maySubmit(user, workspace) && (
                      <>
                        <SecretsButton workspace={workspace} />
                        <StorageButton workspace={workspace} />
                      </>
                    )}
                    <MembersButton workspace={workspace} />
                    {(platform || decides(role)) && (
                      <>
                        <LimitsButton workspace={workspace} />
                        <AuditLink workspace={workspace} />
                      </>
                    )}
                  </div>
                ),
              },
            ]}
          />
        ) : (
          !platform && <p className="tm-flat">{t("people.mineNone")}</p>
        )}
      </div>
    </section>
  );
}
