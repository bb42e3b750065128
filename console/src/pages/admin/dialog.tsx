/** The one dialog of the administration: a form that saves and says every refusal; and the same for what has a name and a description. */
import { useQueryClient } from "@tanstack/react-query";
import { App, Form, Input, Modal } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ErrorPanel } from "../../shared/ui";

/** Everything that such a change may show elsewhere. */
const TOUCHED = [
  "pools",
  "virtual-clusters",
  "workspaces",
  "users",
  "members",
  "session",
  "flavors",
  "nodes",
  "engines",
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
  const [form] = Form.useForm<T>();
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
      // Spread, since the type of these props knows no data attributes.
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

export interface Named {
  name: string;
  description: string;
}

interface NamedProps<T extends Named, R>
  extends Pick<DialogProps<T, R>, "save" | "warnings" | "close" | "children" | "width"> {
  /** What is changed; null: a new one is made. */
  one: Named | null;
  /** What the dialog is called where one is made. */
  add: string;
  /** Of the fields between name and description. */
  values: Omit<T, keyof Named>;
  /** What follows the description. */
  foot?: ReactNode;
}

/** Make something that has a name and a description, or change it: the name is given once, then it is what the thing is known by. */
export function NamedDialog<T extends Named, R>({
  one,
  add,
  values,
  save,
  children,
  foot,
  ...rest
}: NamedProps<T, R>): ReactNode {
  const { t } = useTranslation();
  return (
    <Dialog<T, R>
      title={one ? `${t("admin.edit")} ${one.name}` : add}
      initial={{ ...values, name: one?.name ?? "", description: one?.description ?? "" } as T}
      save={(given) => save({ ...given, description: given.description ?? "" })}
      {...rest}
    >
      <NameItem fixed={one !== null} />
      {children}
      <Form.Item name="description" label={t("admin.description")}>
        <Input maxLength={500} />
      </Form.Item>
      {foot}
    </Dialog>
  );
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

function NameItem({ fixed }: { fixed: boolean }): ReactNode {
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
