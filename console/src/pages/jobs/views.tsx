/** Saved views of the list: filters, columns and order under a name, for oneself or for the members of a workspace. */
import { DeleteOutlined, FolderOpenOutlined, PlusOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { App, Button, Dropdown, Input, Modal, Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteView, listViews, saveView } from "../../api/find";
import type { SavedView } from "../../api/types";
import type { JobsSearch } from "../../shared/address";
import { useSession } from "../../shared/session";
import { useErrorText } from "../../shared/ui";
import { searchOf, viewOf } from "./query";

const LONGEST = 64;

export function Views({
  search,
  columns,
  mine,
}: {
  search: JobsSearch;
  columns: readonly string[];
  mine: boolean;
}): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/jobs" });
  const client = useQueryClient();
  const { message } = App.useApp();
  const errorText = useErrorText();
  const [saving, setSaving] = useState(false);
  const views = useQuery({ queryKey: ["views"], queryFn: listViews, staleTime: 60_000 });
  const drop = async (view: SavedView): Promise<void> => {
    try {
      await deleteView(view.name);
      message.success(t("jobs.views.deleted", { name: view.name }));
    } catch (error) {
      message.error(errorText(error).title);
    }
    void client.invalidateQueries({ queryKey: ["views"] });
  };
  const entries = (views.data?.items ?? []).map((view) => ({
    key: `${view.owner}/${view.name}`,
    label: (
      <span className="tm-view-line" data-testid="view">
        <span className="tm-ellipsis">{view.name}</span>
        <span className="tm-faint">
          {view.mine
            ? (view.workspace ?? "")
            : t("jobs.views.of", { owner: view.owner, workspace: view.workspace ?? "" })}
        </span>
        {view.mine && (
          <Button
            type="text"
            size="small"
            icon={<DeleteOutlined />}
            aria-label={t("jobs.views.delete", { name: view.name })}
            onClick={(event) => {
              event.stopPropagation();
              void drop(view);
            }}
            data-testid="view-delete"
          />
        )}
      </span>
    ),
    onClick: () => void navigate({ search: searchOf(view.query) }),
  }));
  return (
    <>
      <Dropdown
        trigger={["click"]}
        placement="bottomRight"
        menu={{
          items: [
            ...entries,
            ...(entries.length > 0 ? [{ type: "divider" as const }] : []),
            {
              key: "+",
              icon: <PlusOutlined />,
              label: <span data-testid="view-new">{t("jobs.views.save")}</span>,
              onClick: () => setSaving(true),
            },
          ],
        }}
      >
        <Button icon={<FolderOpenOutlined />} data-testid="views">
          {t("jobs.views.title")}
        </Button>
      </Dropdown>
      {saving && (
        <SaveView
          query={viewOf({ ...search, who: mine ? "mine" : "all", columns: columns.join(",") })}
          close={() => setSaving(false)}
        />
      )}
    </>
  );
}

function SaveView({ query, close }: { query: string; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const errorText = useErrorText();
  const { message } = App.useApp();
  const places = useSession()?.user.workspaces ?? [];
  const [name, setName] = useState("");
  const [workspace, setWorkspace] = useState<string | null>(null);
  const [wrong, setWrong] = useState("");
  const save = async (): Promise<void> => {
    try {
      await saveView(name.trim(), { query, workspace });
      message.success(t("jobs.views.saved", { name: name.trim() }));
      void client.invalidateQueries({ queryKey: ["views"] });
      close();
    } catch (error) {
      setWrong(errorText(error).line);
    }
  };
  return (
    <Modal
      open
      title={t("jobs.views.save")}
      onCancel={close}
      onOk={() => void save()}
      okText={t("jobs.views.ok")}
      cancelText={t("action.cancel")}
      okButtonProps={{ disabled: name.trim() === "", ...{ "data-testid": "view-save" } }}
    >
      <p className="tm-faint">{t("jobs.views.what")}</p>
      <Input
        value={name}
        onChange={(event) => setName(event.target.value)}
        maxLength={LONGEST}
        placeholder={t("jobs.views.name")}
        aria-label={t("jobs.views.name")}
        onPressEnter={() => name.trim() !== "" && void save()}
        autoFocus
        data-testid="view-name"
      />
      <Select<string>
        className="tm-view-place"
        value={workspace ?? ""}
        onChange={(value) => setWorkspace(value || null)}
        aria-label={t("jobs.views.who")}
        options={[
          { value: "", label: t("jobs.views.onlyMe") },
          ...places.map(({ workspace: place }) => ({
            value: place,
            label: t("jobs.views.members", { workspace: place }),
          })),
        ]}
        data-testid="view-place"
      />
      {wrong && <p role="alert">{wrong}</p>}
    </Modal>
  );
}
