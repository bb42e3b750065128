/** How far builds are, and which of them people want to see. Pure. */
import type { ImageBuild } from "../../api/types";

type State = ImageBuild["state"];

const TONES: Record<State, string> = {
  waiting: "grey",
  resolving: "blue",
  installing: "blue",
  pulling: "blue",
  unpacking: "blue",
  ready: "green",
  failed: "red",
  stopped: "grey",
};
const DAY_S = 86_400;
const MOST = 5;

export const toneOfBuild = (state: State): string => TONES[state];
export const hasEnded = ({ ended_at }: Pick<ImageBuild, "ended_at">): boolean => ended_at !== null;

/** What goes on, and what failed or was stopped within a day, unless a later build of the same image is there. `builds`: newest first. */
export function worthShowing<T extends Pick<ImageBuild, "name" | "workspace" | "state" | "ended_at">>(
  builds: readonly T[],
  now: number,
): T[] {
  const shown = builds.filter((one, at) => {
    if (one.ended_at === null) return true;
    const later = builds.slice(0, at).some((other) => other.name === one.name && other.workspace === one.workspace);
    return one.state !== "ready" && !later && now - one.ended_at < DAY_S;
  });
  return shown.slice(0, MOST);
}
