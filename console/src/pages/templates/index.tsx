/** Templates: whose, how shared, how much used; submitted from, edited, copied, shared and deleted here (R230 to R234). */
import { DeleteOutlined, FileDoneOutlined, PlusOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listTemplates } from "../../api/templates";
import type { Template } from "../../api/types";
import { ButtonLink } from "../../shared/link";
import { Listing } from "../../shared/listing";
import { PublishedList } from "../../shared/passing/published";
import { useDeleteTemplates } from "./actions";
import { useColumns } from "./columns";

export function TemplatesPage(): ReactNode {
  const { t } = useTranslation();
  const [ticked, setTicked] = useState<readonly string[]>([]);
  return (
    <Listing<Template>
      words="templates"
      read={listTemplates}
      icon={<FileDoneOutlined className="tm-empty-icon" />}
      columns={useColumns()}
      width={900}
      published={(q) => <PublishedList kind="template" q={q} />}
      actions={
        <ButtonLink
          to="/submit"
          search={{}}
          color="primary"
          variant="solid"
          icon={<PlusOutlined />}
          data-testid="template-new"
        >
          {t("templates.add")}
        </ButtonLink>
      }
      rowSelection={{
        selectedRowKeys: [...ticked],
        onChange: (keys) => setTicked(keys.map(String)),
        columnWidth: 44,
        getCheckboxProps: (one) => ({ disabled: !one.may.includes("write"), "aria-label": one.name }),
        getTitleCheckboxProps: () => ({ "aria-label": t("templates.title") }),
      }}
    >
      {(items) => <Selected of={items.filter((one) => ticked.includes(one.id))} clear={() => setTicked([])} />}
    </Listing>
  );
}

/** What can be done with all that are ticked. */
function Selected({ of, clear }: { of: Template[]; clear: () => void }): ReactNode {
  const { t } = useTranslation();
  const drop = useDeleteTemplates();
  if (of.length === 0) return null;
  return (
    <div className="tm-bulk" role="toolbar" aria-label={t("templates.selected", { count: of.length })}>
      <strong aria-live="polite">{t("templates.selected", { count: of.length })}</strong>
      <Button danger icon={<DeleteOutlined />} onClick={() => drop(of, clear)} data-testid="templates-delete">
        {t("action.delete")}
      </Button>
    </div>
  );
}
