/** The metrics of a model in the order in which they are shown. Pure. */

/** Those that have a value, `first` before the others, which go by name. */
export function ordered(metrics: Record<string, number | null>, first: string | undefined): [string, number][] {
  return Object.entries(metrics)
    .filter((one): one is [string, number] => one[1] !== null)
    .sort(([a], [b]) => Number(b === first) - Number(a === first) || a.localeCompare(b));
}
