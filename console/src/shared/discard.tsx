/** The button that puts a thing with versions into the bin, or one of them, after a question that says what will happen. */
import { DeleteOutlined } from "@ant-design/icons";
import { App, Button } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useAct } from "./act";

interface Props {
  kind: "dataset" | "algorithm" | "image" | "model";
  name: string;
  /** Which version; none: all of it. */
  version?: number;
  /** Why not now. */
  refused?: string;
  act: () => Promise<unknown>;
  /** What is read again: what is gone must not be. */
  read: readonly string[];
  after: () => void;
}

export function Discard({ kind, name, version, refused, act: discard, read, after }: Props): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const act = useAct([...read, "bin"]);
  const one = version === undefined ? undefined : { n: version, name };
  const label = refused ?? (one ? t("bin.delete.one", one) : t("bin.delete.all", { name }));
  const remove = async (): Promise<void> => {
    const gone = await act(async () => {
      await discard();
      return t("bin.delete.done");
    });
    if (gone) after();
  };
  const ask = (): void =>
    void modal.confirm({
      title: one ? t("bin.delete.oneTitle", one) : t("bin.delete.allTitle", { name }),
      icon: null,
      content: t("bin.delete.what"),
      okText: t("action.delete"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: remove,
    });
  return (
    <Button
      size={one ? "small" : undefined}
      danger
      icon={<DeleteOutlined />}
      disabled={refused !== undefined}
      onClick={ask}
      aria-label={label}
      title={label}
      data-testid={one ? "version-delete" : `${kind}-delete`}
    >
      {one ? null : t("action.delete")}
    </Button>
  );
}
