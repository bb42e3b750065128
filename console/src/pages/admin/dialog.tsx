/** What every table of the administration shares: a dialog that saves and says every refusal, and removal after a question. */
import { DeleteOutlined, EditOutlined } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { App, Button, Form, type FormInstance, Input, Modal, Tooltip } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ErrorPanel, useErrorText } from "../../shared/ui";

/** Everything that such a change may show elsewhere. */
const TOUCHED = [
  "pools",
  "virtual-clusters",
  "workspaces",
  "flavors",
  "nodes",
  "resources",
  "cluster",
  "queue",
  "timeline",
];

export function useRefresh(): () => void {
  const client = useQueryClient();
  return () => {
    for (const key of TOUCHED) void client.invalidateQueries({ queryKey: [key] });
  };
}

const WARNING_S = 10;

interface DialogProps<T, R> {
  title: string;
  form: FormInstance<T>;
  initial: T;
  save: (values: T) => Promise<R>;
  /** What the person should know of what was saved. */
  warnings?: (saved: R) => string[];
  close: () => void;
  children: ReactNode;
  width?: number;
  ok?: string;
}

export function Dialog<T extends object, R>({
  title,
  form,
  initial,
  save,
  warnings,
  close,
  children,
  width = 560,
  ok,
}: DialogProps<T, R>): ReactNode {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const refresh = useRefresh();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const send = async (values: T): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const saved = await save(values);
      refresh();
      message.success(t("admin.saved"));
      for (const text of warnings?.(saved) ?? []) message.warning(text, WARNING_S);
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={title}
      width={width}
      onCancel={close}
      onOk={() => form.submit()}
      confirmLoading={busy}
      okText={ok ?? t("action.save")}
      cancelText={t("action.cancel")}
      okButtonProps={{ ...{ "data-testid": "admin-save" } }}
      mask={{ closable: false }}
    >
      <Form<T>
        form={form}
        layout="vertical"
        className="tm-dialog"
        initialValues={initial}
        onFinish={(values) => void send(values)}
        requiredMark={false}
      >
        {children}
      </Form>
      {error !== null && <ErrorPanel error={error} />}
    </Modal>
  );
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** A name is given once; afterwards it is what the thing is known by. */
export function NameItem({ fixed }: { fixed: boolean }): ReactNode {
  const { t } = useTranslation();
  return (
    <Form.Item
      name="name"
      label={t("admin.name")}
      extra={fixed ? undefined : t("admin.nameHint")}
      rules={[
        { required: true, message: t("admin.nameMissing") },
        { pattern: NAME, message: t("admin.nameBad") },
      ]}
    >
      <Input disabled={fixed} autoFocus={!fixed} data-testid="admin-name" />
    </Form.Item>
  );
}

export function DescriptionItem(): ReactNode {
  const { t } = useTranslation();
  return (
    <Form.Item name="description" label={t("admin.description")}>
      <Input maxLength={500} />
    </Form.Item>
  );
}

export function RowButtons({
  name,
  edit,
  remove,
  removable = true,
}: {
  name: string;
  edit: () => void;
  remove: () => Promise<unknown>;
  removable?: boolean;
}): ReactNode {
  const { t } = useTranslation();
  const { modal, message } = App.useApp();
  const errorText = useErrorText();
  const refresh = useRefresh();
  const ask = (): void =>
    void modal.confirm({
      title: t("admin.remove", { name }),
      content: t("admin.removeHint"),
      okText: t("action.remove"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true },
      onOk: async () => {
        try {
          await remove();
          message.success(t("admin.removed"));
        } catch (error) {
          const { title, remedy } = errorText(error);
          message.error(`${title} ${remedy}`, 8);
        }
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

export function TableHead({
  title,
  hint,
  add,
  label,
  test,
}: {
  title?: string;
  hint: string;
  add: () => void;
  label: string;
  test: string;
}): ReactNode {
  return (
    <div className="tm-admin-head">
      <div className="tm-grow">
        {title && <h2>{title}</h2>}
        <p className="tm-faint tm-flat">{hint}</p>
      </div>
      <Button type="primary" onClick={add} data-testid={test}>
        {label}
      </Button>
    </div>
  );
}
