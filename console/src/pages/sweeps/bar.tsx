/** How far a sweep is: all entries in one bar, by state, told by words, too. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ENDED, STATES, type State } from "../../api/types";
import { toneOf } from "../../shared/state";

export type Counts = Partial<Record<State, number>>;

/** From what is over, to what runs, to what waits. */
const ORDER: readonly State[] = [...STATES].sort((a, b) => Number(ENDED.has(b)) - Number(ENDED.has(a)));

export const endedOf = (counts: Counts): number =>
  STATES.reduce((sum, state) => sum + (ENDED.has(state) ? (counts[state] ?? 0) : 0), 0);
export const allOf = (counts: Counts): number => STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);

export function SweepBar({ counts, wide = false }: { counts: Counts; wide?: boolean }): ReactNode {
  const { t } = useTranslation();
  const total = allOf(counts);
  const parts = ORDER.filter((state) => counts[state]);
  const words = parts.map((state) => `${t(`state.${state}`)} ${counts[state]}`).join(" · ");
  return (
    <div className="tm-sweep-progress">
      <div
        className={`tm-sweep-bar${wide ? " tm-wide" : ""}`}
        role="meter"
        aria-label={t("sweeps.progress")}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={endedOf(counts)}
        aria-valuetext={words}
        data-testid="sweep-bar"
      >
        {parts.map((state) => (
          <span
            key={state}
            className={`tm-sweep-part tm-fill-${toneOf(state)}${ENDED.has(state) ? "" : " tm-sweep-live"}`}
            style={{ flexGrow: counts[state] }}
            title={`${t(`state.${state}`)} ${counts[state]}`}
          />
        ))}
      </div>
      <span className="tm-line" title={words}>
        {words}
      </span>
    </div>
  );
}
