/** The lines of a report, added up by what somebody looks at. Pure. */
import type { ReportLine } from "../../api/types";
import { amountText, millionths } from "./amounts";

export const BY = ["line", "workspace", "owner", "flavor"] as const;
export type By = (typeof BY)[number];

export interface UsageRow extends ReportLine {
  key: string;
}

/** One row for each value of `by`; of "line" every line as it is. What costs most comes first, then what ran longest. */
export function rowsBy(lines: readonly ReportLine[], by: By): UsageRow[] {
  const sums = new Map<string, { row: UsageRow; amount: bigint }>();
  for (const line of lines) {
    const key = by === "line" ? JSON.stringify([line.workspace, line.owner, line.flavor]) : line[by];
    const known = sums.get(key);
    if (known === undefined) {
      const named = by === "line" ? line : { workspace: "", owner: "", flavor: "", [by]: line[by] };
      sums.set(key, { row: { ...line, ...named, key, amount: line.amount }, amount: millionths(line.amount) });
    } else {
      known.row.machine_s += line.machine_s;
      known.row.gpu_s += line.gpu_s;
      known.amount += millionths(line.amount);
    }
  }
  return [...sums.values()]
    .map(({ row, amount }) => ({ ...row, amount: amountText(amount) }))
    .sort((a, b) => Number(millionths(b.amount) - millionths(a.amount)) || b.machine_s - a.machine_s);
}
