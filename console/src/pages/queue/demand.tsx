/**
 * What is asked of every card model beside what there is: the one look that says why a queue is long (R169). Who takes any
 * model asks for the same cards: of these only the demand is told, for they were counted with their models.
 */

import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { CardDemand } from "../../api/types";
import { number, percent } from "../../shared/format";

interface Props {
  demand: CardDemand[];
  chosen: string | undefined;
  choose: (model: string | undefined) => void;
}

/** GPUs as fractions: 3.5, but 3 where it is whole. */
export const cards = (count: number): string => number(Math.round(count * 1000) / 1000);

export function DemandStrip({ demand, chosen, choose }: Props): ReactNode {
  const { t } = useTranslation();
  if (demand.length === 0) return null;
  return (
    <section className="tm-demand" aria-label={t("queue.cardsInUse")} data-testid="demand">
      {demand.map((one) => {
        const most = Math.max(one.total, one.used + one.asked, 1);
        const share = (count: number): string => `${percent(count / most)}%`;
        const asked =
          one.asked > 0
            ? t("queue.demandAsked", {
                cards: t("unit.cards", { n: cards(one.asked), count: one.asked }),
                count: one.jobs,
              })
            : t("queue.demandNone");
        const pressed = one.model !== null && chosen === one.model;
        return (
          <button
            type="button"
            key={one.model ?? ""}
            className="tm-demand-card"
            aria-pressed={pressed}
            disabled={one.model === null}
            data-testid={`demand-${one.model ?? "any"}`}
            title={one.model === null ? t("queue.anyCardHint") : undefined}
            onClick={() => choose(pressed ? undefined : (one.model ?? undefined))}
          >
            <span className="tm-bar-head">
              <span>{one.model ?? t("queue.anyCard")}</span>
              {one.model !== null && (
                <span className="tm-num">
                  {cards(one.used)} / {cards(one.total)}
                </span>
              )}
            </span>
            <span className="tm-demand-track">
              {one.model !== null && <i className="tm-fill-violet" style={{ width: share(one.used) }} />}
              <i className="tm-demand-asked" style={{ width: share(one.asked) }} />
              {one.model !== null && one.total < most && <em style={{ left: share(one.total) }} />}
            </span>
            <span className={one.asked > 0 ? "tm-line tm-warn" : "tm-line"}>{asked}</span>
          </button>
        );
      })}
    </section>
  );
}
