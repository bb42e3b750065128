/** The keys that do something on every page. Loaded when it is asked for. */
import { Modal, Switch } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Session } from "../../api/types";
import { pagesFor } from "./pages";

export default function Keys(props: {
  session: Session;
  on: boolean;
  turn: (on: boolean) => void;
  close: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const rows: [string[], string][] = [
    [["/"], t("keys.search")],
    [["Ctrl", "K"], t("keys.palette")],
    [["n"], t("keys.new")],
    ...pagesFor(props.session.user.role).map(({ key, name }): [string[], string] => [
      ["g", key],
      t("keys.go", { page: t(`nav.${name}`) }),
    ]),
    [["?"], t("keys.help")],
  ];
  return (
    <Modal open title={t("keys.title")} onCancel={props.close} footer={null} width={440}>
      <dl className="tm-keys" data-testid="keys">
        {rows.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="tm-keys-on">
        <Switch size="small" checked={props.on} onChange={props.turn} /> {t("keys.hint")}
      </label>
    </Modal>
  );
}
