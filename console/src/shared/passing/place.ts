/** Where, and under which name, a job of its reader finds something: where it lies, or where it was taken in. Pure. */
import type { Session, TakenName } from "../../api/types";
import { maySubmit } from "../people";

export interface Place {
  workspace: string;
  name: string;
}

export interface Lying {
  name: string;
  workspace: string;
  taken: TakenName[];
}

/** Its own place for who may submit there, else the first that took it in where they may. */
export function placeOf(of: Lying, user: Session["user"] | undefined): Place {
  const own = { workspace: of.workspace, name: of.name };
  if (!user || maySubmit(user, of.workspace)) return own;
  return of.taken.find((one) => maySubmit(user, one.workspace)) ?? own;
}

/** What something is called in a workspace. */
export const calledIn = (of: Lying, workspace: string): string =>
  of.workspace === workspace ? of.name : (of.taken.find((one) => one.workspace === workspace)?.name ?? of.name);

/** Of what a list found those that have a name in a workspace, by it: what a form there offers. */
export const namedIn = <T extends Lying>(items: readonly T[], workspace: string): T[] =>
  items
    .filter((one) => one.workspace === workspace || one.taken.some((place) => place.workspace === workspace))
    .map((one) => ({ ...one, name: calledIn(one, workspace) }));
