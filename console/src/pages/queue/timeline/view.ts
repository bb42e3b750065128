/** Which part of time the timeline shows, and where its axis is marked. Pure. All in seconds. */

export const SPANS = [3600, 21_600, 86_400, 604_800] as const;
const LEAST = 900;
const MOST = 30 * 86_400;
/** How much of what is seen is past, when nobody has moved it. */
export const BEHIND = 0.25;

/** `offset`: from now to the left edge. */
export interface View {
  offset: number;
  span: number;
}

export const around = (span: number): View => ({ offset: -span * BEHIND, span });

/** The same, but no more of the past than there is something in. `earliest`: when the first bar begins, from now. */
export function home(span: number, earliest: number): View {
  const usual = -span * BEHIND;
  return { offset: Math.min(-span * 0.02, Math.max(usual, earliest - span * 0.02)), span };
}
export const panned = (view: View, by: number): View => ({ ...view, offset: view.offset + by });

/** More (`factor` above 1) or less time; what lies at `place` (0 left edge, 1 right edge) stays there. */
export function zoomed(view: View, factor: number, place: number): View {
  const span = Math.min(MOST, Math.max(LEAST, view.span * factor));
  return { offset: view.offset + place * (view.span - span), span };
}

/** The same span, moved as little as it takes that a moment is seen. `at`: from now. */
export function showing(view: View, at: number): View {
  const room = view.span * 0.05;
  const right = view.offset + view.span - 4 * room;
  if (at < view.offset + room) return { ...view, offset: at - room };
  return at > right ? { ...view, offset: view.offset + at - right } : view;
}

const STEPS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800];
const DAY = 86_400;

/** Moments to mark between two times, at most `most`, on round local times; `zone_s` is how far local time is ahead of UTC. */
export function marks(from: number, span: number, zone_s: number, most = 8): { at: number[]; days: boolean } {
  const every = STEPS.find((step) => span / step <= most) ?? 604_800;
  const at: number[] = [];
  for (let next = Math.ceil((from + zone_s) / every) * every - zone_s; next <= from + span; next += every)
    at.push(next);
  return { at, days: every >= DAY };
}

/** A label of the axis: where its middle is, in px, and what it says. */
export interface Label {
  at: number;
  words: string;
}

/** Half of a label's width in px, a little more than it takes: letters of Chinese are twice as wide. */
export function halfOf(words: string): number {
  return [...words].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 6.5 : 3.5), 5);
}

/** The labels that are neither cut by an edge nor by the label of now. */
export function withRoom(labels: readonly Label[], width: number, now: Label | undefined): Label[] {
  return labels.filter(({ at, words }) => {
    const half = halfOf(words);
    return at >= half && at <= width - half && (!now || Math.abs(at - now.at) >= half + halfOf(now.words));
  });
}
