/** Where, and under which name, a job of its reader finds a data set: where it lies, or where it was taken in. Pure. */
import type { Dataset, Session } from "../../api/types";
import { maySubmit } from "../../shared/people";

export interface Place {
  workspace: string;
  name: string;
}

type Lying = Pick<Dataset, "name" | "workspace" | "taken">;

/** Its own place for who may submit there, else the first that took it in where they may. */
export function placeOf(dataset: Lying, user: Session["user"] | undefined): Place {
  const own = { workspace: dataset.workspace, name: dataset.name };
  if (!user || maySubmit(user, dataset.workspace)) return own;
  return dataset.taken.find((one) => maySubmit(user, one.workspace)) ?? own;
}

/** What a data set is called in a workspace. */
export const calledIn = (dataset: Lying, workspace: string): string =>
  dataset.workspace === workspace
    ? dataset.name
    : (dataset.taken.find((one) => one.workspace === workspace)?.name ?? dataset.name);
