/** How the workspaces stand that one administers: use, who holds what, who waits, budget. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { HomeWorkspace } from "../../api/types";
import { number } from "../../shared/format";
import { Shares } from "../../shared/shares";
import { Toned } from "../../shared/state";
import { Bar } from "../../shared/ui";
import { shownAmount, spentPercent } from "../usage/amounts";
import { WaitingRow } from "./jobs";
import { Days, hoursOf } from "./use";

export function Workspaces({ all }: { all: HomeWorkspace[] }): ReactNode {
  const { t } = useTranslation();
  return (
    <section className="tm-stack" data-testid="home-workspaces">
      <h2 className="tm-home-h2">{t("home.workspaces")}</h2>
      <div className="tm-home-workspaces">
        {all.map((one) => (
          <WorkspaceCard key={one.name} one={one} />
        ))}
      </div>
    </section>
  );
}

function WorkspaceCard({ one }: { one: HomeWorkspace }): ReactNode {
  const { t } = useTranslation();
  return (
    <article className="tm-panel tm-home-workspace" data-testid={`home-workspace-${one.name}`}>
      <header>
        <h3 className="tm-break">{one.name}</h3>
        {one.in_arrears && <Toned tone="red">{t("home.arrears")}</Toned>}
        <span className="tm-grow" />
        <span className="tm-line">{t("home.counts", { running: one.running, waiting: one.waiting })}</span>
      </header>
      {one.use.priced && <Money one={one} />}
      {one.use.machine_s > 0 && <Days use={one.use} />}
      {one.quotas.map(({ pool, share }) => (
        <div key={pool}>
          <span className="tm-line">{pool}</span>
          <Shares share={share} />
        </div>
      ))}
      <People one={one} />
      {one.next.length > 0 && (
        <>
          <h4>{t("home.next")}</h4>
          <ul className="tm-home-rows tm-flat">
            {one.next.map((waits, at) => (
              <WaitingRow key={waits.job ?? `hidden-${at}`} one={waits} whose />
            ))}
          </ul>
        </>
      )}
    </article>
  );
}

function Money({ one }: { one: HomeWorkspace }): ReactNode {
  const { t } = useTranslation();
  const { currency, month } = one.use;
  const spent = shownAmount(one.spent);
  if (one.budget === null)
    return (
      <div className="tm-line">
        {t("home.spent", { month })}
        {t("mark.colon")}
        {t("home.noBudget", { spent, currency })}
      </div>
    );
  const part = Math.min(100, spentPercent(one.spent, one.budget));
  return (
    <Bar
      used={part}
      total={100}
      label={t("home.spent", { month })}
      text={t("home.ofBudget", { spent, budget: shownAmount(one.budget), currency })}
      tone="violet"
    />
  );
}

function People({ one }: { one: HomeWorkspace }): ReactNode {
  const { t } = useTranslation();
  if (one.people.length === 0) return <p className="tm-faint tm-flat">{t("home.nobody")}</p>;
  return (
    <table className="tm-home-people">
      <caption className="tm-said">{t("home.people")}</caption>
      <thead>
        <tr>
          <th>{t("home.person")}</th>
          <th>{t("home.running")}</th>
          <th>{t("home.waiting")}</th>
          <th>{t("home.cardsHeld")}</th>
          <th>{t("home.hours")}</th>
        </tr>
      </thead>
      <tbody>
        {one.people.map((person) => (
          <tr key={person.name} data-testid={`home-person-${person.name}`}>
            <td className="tm-break">{person.name}</td>
            <td className="tm-num">{person.running}</td>
            <td className="tm-num">{person.waiting}</td>
            <td className="tm-num">{number(person.gpu)}</td>
            <td className="tm-num">{hoursOf(person.gpu_s)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
