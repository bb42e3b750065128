/** What the job was given, what it made, and what was made of that. */
import type { ReactNode } from "react";
import { LineagePanel } from "../../shared/lineage";
import type { TabProps } from "./tab";

export function LineageTab({ job }: TabProps): ReactNode {
  return <LineagePanel kind="job" at={job.id} />;
}
