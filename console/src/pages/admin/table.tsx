/** The one table of the administration: things with a name and a description, each with a button to change and one to remove it. */
import { DeleteOutlined, EditOutlined } from "@ant-design/icons";
import { App, Button, type TableColumnsType, Tooltip } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { useAttempt } from "../../shared/attempt";
import { DataTable } from "../../shared/table";
import { Pending, TwoLines } from "../../shared/ui";
import { type Named, useRefresh } from "./dialog";

interface Props<T> {
  title?: string;
  hint: string;
  /** What the button is called that makes one, and how tests find it. */
  add: string;
  test: string;
  /** What stands in an empty table. */
  none?: string;
  /** Between head and table. */
  filter?: ReactNode;
  query: { data: { items: T[] } | undefined; error: unknown; refetch: () => unknown };
  /** Between the name and the buttons. */
  columns: TableColumnsType<T>;
  /** So wide at least, in pixels; a narrower window scrolls it. */
  width?: number;
  remove: (one: T) => Promise<unknown>;
  /** The name of one that cannot be removed. */
  stays?: string;
  /** The dialog to change one, or to make one (null). */
  dialog: (one: T | null, close: () => void) => ReactNode;
}

export function NamedTable<T extends Named>(props: Props<T>): ReactNode {
  const { t } = useTranslation();
  const [editing, setEditing] = useState<T | "new" | null>(null);
  const { query, stays } = props;
  return (
    <section className="tm-panel">
      <div className="tm-admin-head">
        <div className="tm-grow">
          {props.title && <h2>{props.title}</h2>}
          <p className="tm-faint tm-flat">{props.hint}</p>
        </div>
        <Button type="primary" onClick={() => setEditing("new")} data-testid={props.test}>
          {props.add}
        </Button>
      </div>
      {props.filter}
      {!query.data ? (
        <div className="tm-panel-body">
          <Pending query={query} rows={3} />
        </div>
      ) : (
        <DataTable<T>
          rowKey="name"
          size="middle"
          pagination={false}
          tableLayout="fixed"
          scroll={{ x: props.width ?? 880 }}
          dataSource={query.data.items}
          locale={{ emptyText: <span className="tm-faint">{props.none ?? t("admin.none")}</span> }}
          columns={[
            {
              title: t("admin.name"),
              key: "name",
              render: (_, one) => <TwoLines first={<b title={one.name}>{one.name}</b>} second={one.description} />,
            },
            ...props.columns,
            {
              title: <span className="tm-hidden">{t("admin.actions")}</span>,
              key: "edit",
              width: 90,
              align: "end",
              render: (_, one) => (
                <RowButtons
                  name={one.name}
                  edit={() => setEditing(one)}
                  remove={() => props.remove(one)}
                  removable={one.name !== stays}
                />
              ),
            },
          ]}
        />
      )}
      {editing !== null && props.dialog(editing === "new" ? null : editing, () => setEditing(null))}
    </section>
  );
}

/** How many jobs wait for it, and run on it. */
export function useJobsColumn<T extends { waiting: number; running: number }>(): TableColumnsType<T>[number] {
  const { t } = useTranslation();
  return {
    title: <span className="tm-nowrap">{t("admin.waitingRunning")}</span>,
    key: "jobs",
    width: 140,
    render: (_, one) => (
      <span className="tm-num">
        {one.waiting} / {one.running}
      </span>
    ),
  };
}

function RowButtons({
  name,
  edit,
  remove,
  removable,
}: {
  name: string;
  edit: () => void;
  remove: () => Promise<unknown>;
  removable: boolean;
}): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const attempt = useAttempt();
  const refresh = useRefresh();
  const ask = (): void =>
    void modal.confirm({
      title: t("admin.remove", { name }),
      icon: null,
      content: t("admin.removeHint"),
      okText: t("action.remove"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true },
      onOk: async () => {
        await attempt(remove, t("admin.removed"));
        refresh();
      },
    });
  return (
    <span className="tm-nowrap">
      <Button
        type="text"
        size="small"
        icon={<EditOutlined />}
        aria-label={`${t("admin.edit")} ${name}`}
        onClick={edit}
        data-testid={`edit-${name}`}
      />
      <Tooltip title={removable ? "" : t("admin.defaultStays")}>
        <Button
          type="text"
          size="small"
          icon={<DeleteOutlined />}
          disabled={!removable}
          aria-label={`${t("action.remove")} ${name}`}
          onClick={ask}
        />
      </Tooltip>
    </span>
  );
}
