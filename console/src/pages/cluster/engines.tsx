/** What runs the jobs: what each engine is and can do, the pools that live on it, and whether it answers. */
import { CheckOutlined, MinusOutlined, WarningOutlined } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Engine } from "../../api/types";
import { useBilingual } from "../../i18n";
import { abilitiesOf, useEngines } from "../../shared/engines";
import { DataTable } from "../../shared/table";
import { Labels, Pending, TwoLines } from "../../shared/ui";

export function Engines({ hint }: { hint?: string }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const query = useEngines(true);
  return (
    <section className="tm-panel" data-testid="engines">
      <div className="tm-admin-head">
        <div className="tm-grow">
          <h2>{t("engines.title")}</h2>
          {hint && <p className="tm-faint tm-flat">{hint}</p>}
        </div>
      </div>
      {!query.data ? (
        <div className="tm-panel-body">
          <Pending query={query} rows={1} />
        </div>
      ) : (
        <DataTable<Engine>
          rowKey="name"
          size="middle"
          pagination={false}
          scroll={{ x: 820 }}
          dataSource={query.data.items}
          tableLayout="fixed"
          onRow={(one) => ({ "data-testid": `engine-${one.name}` }) as object}
          columns={[
            {
              title: t("admin.name"),
              key: "name",
              width: 160,
              render: (_, one) => <TwoLines first={<b title={one.name}>{one.name}</b>} second={pick(one.label)} />,
            },
            { title: t("engines.can"), key: "can", render: (_, one) => <Abilities engine={one} /> },
            {
              title: t("engines.pools"),
              key: "pools",
              width: 190,
              render: (_, one) => (
                <div className="tm-cell">
                  <Labels names={one.pools} />
                  <span className="tm-line">
                    {t("engines.nodesInService", { n: one.nodes_in_service, total: one.nodes, count: one.nodes })}
                  </span>
                </div>
              ),
            },
            {
              title: t("engines.state"),
              key: "state",
              width: 230,
              render: (_, one) => <State trouble={one.trouble} />,
            },
          ]}
        />
      )}
    </section>
  );
}

function Abilities({ engine }: { engine: Engine }): ReactNode {
  const { t } = useTranslation();
  const { does, lacks } = abilitiesOf(engine);
  return (
    <ul className="tm-abilities">
      {does.map((one) => (
        <li key={one} data-testid={`does-${one}`}>
          <CheckOutlined className="tm-ok" /> {t(`engines.does.${one}`)}
        </li>
      ))}
      {lacks.map((one) => (
        <li key={one} className="tm-faint" data-testid={`lacks-${one}`}>
          <MinusOutlined /> {t(`engines.lacks.${one}`)}
        </li>
      ))}
    </ul>
  );
}

function State({ trouble }: Pick<Engine, "trouble">): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  if (trouble === null) return <span className="tm-state tm-quiet tm-tone-green">{t("engines.answers")}</span>;
  return (
    <div className="tm-cell">
      <span>
        <span className="tm-state tm-tone-amber">
          <WarningOutlined />
          {t("engines.silent")}
        </span>
      </span>
      <span className="tm-faint">{pick(trouble)}</span>
    </div>
  );
}
