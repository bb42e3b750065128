/** How much was held over time, as an area of steps in a picture. Pure. */
import type { ClusterPast } from "../../api/types";
import { number } from "../../shared/format";

export interface Steps {
  /** SVG path of the area, from 0 0 (top left) to `width` `height`. */
  area: string;
  line: string;
  most: number;
}

/** So much of the picture's width is what is held now. */
export const NOW = 0.02;

/**
 * Steps of equal width; `most` is the top of the picture: what there is, or more where more was held. Each is a mean, also the last, of which most
 * is over: where it is known what is held `now`, the picture ends with that.
 */
export function stepsOf(values: readonly number[], total: number, width: number, height: number, now?: number): Steps {
  const most = Math.max(total, now ?? 0, ...values, 1e-9);
  const past = now === undefined ? width : width * (1 - NOW);
  const each = past / Math.max(1, values.length);
  const y = (value: number): string => (height - (height * value) / most).toFixed(1);
  const points = values.map(
    (value, i) => `${i === 0 ? "M0" : `L${(i * each).toFixed(1)}`} ${y(value)}H${((i + 1) * each).toFixed(1)}`,
  );
  const end = now === undefined || points.length === 0 ? "" : `V${y(now)}H${width.toFixed(1)}`;
  const line = points.join("") + end;
  return { area: line && `${line}V${height}H0Z`, line, most };
}

/** The mean over all steps, and the value of the last. */
export function summaryOf(values: readonly number[]): { mean: number; last: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return { mean, last: values.at(-1) ?? 0 };
}

/** Which step lies under a place of the picture, 0 (left) to 1 (right). */
export function stepAt(past: Pick<ClusterPast, "at">, place: number): number {
  return Math.min(past.at.length - 1, Math.max(0, Math.floor(place * past.at.length)));
}

/** An amount in multiples of `unit`, rounded to nothing or to the whole only where it is that: little of four GPUs is not none. */
export function roughly(amount: number, whole: number, unit = 0.1): string {
  const most = amount < whole ? whole - unit : Number.POSITIVE_INFINITY;
  const rounded = Math.min(Math.round(amount / unit) * unit, most);
  if (amount > 0 && rounded < unit) return `<${number(unit)}`;
  return number(Math.round(rounded * 10) / 10);
}
