/** What the table of templates tells, and what can be done with one in its row. */
import {
  CopyOutlined,
  DeleteOutlined,
  EditOutlined,
  GlobalOutlined,
  MoreOutlined,
  SendOutlined,
} from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Select, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { JobShare, Template } from "../../api/types";
import { useLanguage } from "../../i18n";
import { ButtonLink } from "../../shared/link";
import { SharedCell } from "../../shared/passing/cell";
import { SHARES } from "../../shared/people";
import { Ago } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { useDeleteTemplates, useTemplateActions } from "./actions";
import { BeyondTemplate } from "./beyond";

export function useColumns(): TableColumnsType<Template> {
  const { t } = useTranslation();
  const language = useLanguage();
  return useMemo(
    () => [
      {
        title: t("templates.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              <Link to="/submit" search={{ template: one.id }} className="tm-name" data-testid="template-link">
                {one.name}
              </Link>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      {
        title: t("templates.owner"),
        key: "owner",
        width: 128,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      { title: t("templates.shared"), key: "shared", width: 136, render: (_, one) => <Sharing of={one} /> },
      {
        title: t("templates.changed"),
        key: "changed",
        width: 148,
        render: (_, one) => (
          <TwoLines
            first={<Ago at={one.changed_at} />}
            second={t("templates.by", { n: one.version, who: one.changed_by })}
          />
        ),
      },
      {
        title: t("templates.used"),
        key: "used",
        width: 104,
        render: (_, one) =>
          one.used_at === null ? (
            <span className="tm-faint">{t("templates.never")}</span>
          ) : (
            <TwoLines first={t("templates.times", { count: one.used })} second={<Ago at={one.used_at} />} />
          ),
      },
      {
        title: <span className="tm-hidden">{t("templates.actions")}</span>,
        key: "actions",
        width: language === "zh" ? 168 : 152,
        align: "end",
        render: (_, one) => <Actions of={one} />,
      },
    ],
    [t, language],
  );
}

/** With whom it is shared; who may decide it chooses here. */
function Sharing({ of }: { of: Template }): ReactNode {
  const { t } = useTranslation();
  const { share } = useTemplateActions();
  if (!of.may.includes("share")) return <SharedCell kind="template" of={of} />;
  return (
    <Select<JobShare>
      size="small"
      className="tm-template-sharing"
      value={of.share}
      onChange={(level) => void share(of, level)}
      aria-label={`${t("templates.shared")} ${of.name}`}
      popupMatchSelectWidth={false}
      labelRender={({ value }) => t(`templates.sharing.${value as JobShare}`)}
      options={SHARES.map((value) => ({ value, label: t(`templates.share.${value}`) }))}
      data-testid="template-sharing"
    />
  );
}

function Actions({ of }: { of: Template }): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { copy } = useTemplateActions();
  const drop = useDeleteTemplates();
  const [beyond, setBeyond] = useState(false);
  const writes = of.may.includes("write");
  return (
    <span className="tm-row-actions">
      <ButtonLink
        size="small"
        to="/submit"
        search={{ template: of.id }}
        icon={<SendOutlined />}
        aria-label={t("templates.submitOne", { name: of.name })}
        data-testid="template-submit"
      >
        {t("templates.submit")}
      </ButtonLink>
      <Dropdown
        trigger={["click"]}
        placement="bottomRight"
        menu={{
          items: [
            {
              key: "edit",
              icon: <EditOutlined />,
              disabled: !writes,
              label: <span data-testid="template-edit">{t("templates.edit")}</span>,
              onClick: () => void navigate({ to: "/submit", search: { template: of.id, edit: true } }),
            },
            {
              key: "copy",
              icon: <CopyOutlined />,
              label: <span data-testid="template-copy">{t("templates.copy")}</span>,
              onClick: () => void copy(of),
            },
            {
              key: "beyond",
              icon: <GlobalOutlined />,
              disabled: !of.may.includes("share") && of.taken.length === 0,
              label: <span data-testid="template-beyond">{t("passing.title")}</span>,
              onClick: () => setBeyond(true),
            },
            {
              key: "delete",
              icon: <DeleteOutlined />,
              danger: true,
              disabled: !writes,
              label: <span data-testid="template-delete">{t("action.delete")}</span>,
              onClick: () => drop([of]),
            },
          ],
        }}
      >
        <Button
          size="small"
          icon={<MoreOutlined />}
          aria-label={t("templates.more", { name: of.name })}
          data-testid="template-more"
        />
      </Dropdown>
      {beyond && <BeyondTemplate of={of} close={() => setBeyond(false)} />}
    </span>
  );
}
