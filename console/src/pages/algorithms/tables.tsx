/** What an algorithm says of its hyperparameters and channels, as tables; in words where there are none (R157). */
import type { TableColumnsType } from "antd";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { AlgorithmSpec, Channel, Hyperparameter, InputChannel, OutputChannel } from "../../api/types";
import { listed, number } from "../../shared/format";
import { DataTable } from "../../shared/table";

const shown = (value: Hyperparameter["default"]): string => (value === null ? "–" : String(value));

/** From what to what, or which values there are; "" where anything goes. Pure. */
export function valuesOf({ choices, min, max }: Pick<Hyperparameter, "choices" | "min" | "max">): string {
  if (choices.length > 0) return listed(choices.map(String));
  if (min !== null && max !== null) return `${number(min)} – ${number(max)}`;
  if (min !== null) return `≥ ${number(min)}`;
  return max !== null ? `≤ ${number(max)}` : "";
}

export function rulesOf(what: Hyperparameter, t: TFunction): string[] {
  return [
    what.required ? t("algorithms.parameters.required") : "",
    what.editable ? "" : t("algorithms.parameters.fixed"),
    what.deletable || what.required ? "" : t("algorithms.parameters.kept"),
  ].filter(Boolean);
}

export function ParametersTable({ spec }: { spec: AlgorithmSpec }): ReactNode {
  const { t } = useTranslation();
  const columns: TableColumnsType<Hyperparameter> = [
    { title: t("algorithms.name"), key: "name", width: 130, render: (_, one) => <b className="tm-mono">{one.name}</b> },
    {
      title: t("algorithms.parameters.type"),
      key: "type",
      width: 110,
      render: (_, one) => t(`algorithms.parameters.types.${one.type}`),
    },
    {
      title: t("algorithms.parameters.default"),
      key: "default",
      width: 88,
      render: (_, one) => <span className="tm-mono">{shown(one.default)}</span>,
    },
    { title: t("algorithms.parameters.values"), key: "values", width: 104, render: (_, one) => valuesOf(one) || "–" },
    {
      title: t("algorithms.parameters.rules"),
      key: "rules",
      width: 100,
      render: (_, one) => listed(rulesOf(one, t)) || "–",
    },
    { title: t("algorithms.description"), key: "description", render: (_, one) => one.description || "–" },
  ];
  return (
    <>
      {spec.parameters.length === 0 ? (
        <p className="tm-line">{t("algorithms.parameters.none")}</p>
      ) : (
        <DataTable<Hyperparameter>
          rowKey="name"
          size="small"
          columns={columns}
          dataSource={spec.parameters}
          pagination={false}
          scroll={{ x: 640 }}
          data-testid="algorithm-parameters"
        />
      )}
      <p className="tm-line tm-faint">
        {t(spec.custom_parameters ? "algorithms.parameters.custom" : "algorithms.parameters.noCustom")}
      </p>
    </>
  );
}

/** How the program is told: --data_url=… or $DATA_URL. Pure. */
export const told = ({ given, name }: Pick<Channel, "given" | "name">): string =>
  given === "argument" ? `--${name}=…` : `$${name}`;

export function ChannelTables({ spec }: { spec: AlgorithmSpec }): ReactNode {
  const { t } = useTranslation();
  const common = <T extends Channel>(): TableColumnsType<T> => [
    { title: t("algorithms.name"), key: "name", width: 130, render: (_, one) => <b className="tm-mono">{one.name}</b> },
    {
      title: t("algorithms.channels.told"),
      key: "told",
      width: 150,
      render: (_, one) => <code className="tm-mono">{told(one)}</code>,
    },
  ];
  const last = <T extends Channel>(): TableColumnsType<T> => [
    { title: t("algorithms.description"), key: "description", render: (_, one) => one.description || "–" },
  ];
  const table = { rowKey: "name", size: "small", pagination: false, scroll: { x: 600 } } as const;
  return (
    <>
      <h3 className="tm-part">{t("algorithms.channels.inputs")}</h3>
      {spec.inputs.length === 0 ? (
        <p className="tm-line">{t("algorithms.channels.noInputs")}</p>
      ) : (
        <DataTable<InputChannel>
          {...table}
          dataSource={spec.inputs}
          columns={[
            ...common<InputChannel>(),
            {
              title: t("algorithms.channels.takes"),
              key: "takes",
              render: (_, one) =>
                [
                  listed(one.kinds.map((kind) => t(`submit.mount.${kind}`))),
                  one.required ? "" : t("algorithms.channels.optional"),
                ]
                  .filter(Boolean)
                  .join(" · "),
            },
            ...last<InputChannel>(),
          ]}
        />
      )}
      <h3 className="tm-part">{t("algorithms.channels.outputs")}</h3>
      {spec.outputs.length === 0 ? (
        <p className="tm-line">{t("algorithms.channels.noOutputs")}</p>
      ) : (
        <DataTable<OutputChannel>
          {...table}
          dataSource={spec.outputs}
          columns={[
            ...common<OutputChannel>(),
            {
              title: t("algorithms.channels.writes"),
              key: "writes",
              width: 170,
              render: (_, one) => [t(`algorithms.channels.to.${one.to}`), one.folder].filter(Boolean).join(" · "),
            },
            ...last<OutputChannel>(),
          ]}
        />
      )}
    </>
  );
}
