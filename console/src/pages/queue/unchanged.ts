/** Since when the queue is as it is. Pure. */

const A_MINUTE_S = 60;

/** For how long nothing has changed, in full minutes; null while that is less than one. */
export function unchangedFor(at: number, now: number): number | null {
  const passed = Math.floor((now - at) / A_MINUTE_S) * A_MINUTE_S;
  return passed > 0 ? passed : null;
}
