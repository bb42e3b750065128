/** Curves of several jobs as lines of one chart. Pure. */
import type { Overlaid } from "../../api/compare";
import type { Job } from "../../api/types";
import type { Line } from "../../shared/chart";
import { replicaOf } from "../../shared/format";
import { smooth } from "../../shared/smooth";
import { type Axis, xOf } from "../job/curves";
import { lookOf, namesOf } from "./table";

/** More jobs are drawn without the raw values under the smoothed ones. */
const RAW = 6;

/** The lines of one metric, named as their job is, and, where it has several, as the replica; an earlier attempt is drawn as the last one is, and named with it in the legend. Pure. */
export function linesOf(name: string, jobs: readonly Job[], curves: Overlaid, axis: Axis, weight: number): Line[] {
  const names = namesOf(jobs);
  return jobs.flatMap((job, at): Line[] => {
    const all = curves.get(job.id)?.series ?? [];
    const own = all.filter((one) => one.name === name);
    const look = lookOf(at);
    return own.flatMap((one, i): Line[] => {
      const x = xOf(one, axis, all);
      const line = {
        label: nameOf(names[at] ?? job.name, job, one.task, curves),
        x,
        ...look,
        ghost: i < own.length - 1,
      };
      if (weight <= 0) return [{ ...line, y: one.values }];
      const raw = { ...line, y: one.values, color: `${look.color}40`, width: 1, ghost: true };
      const drawn = { ...line, y: smooth(one.values, weight), width: 2 };
      return jobs.length > RAW ? [drawn] : [raw, drawn];
    });
  });
}

/** Of several replicas only the one whose values count is drawn, so it is named. */
function nameOf(name: string, job: Job, task: string | null, curves: Overlaid): string {
  if (task === null || job.tasks.total < 2) return name;
  const roles = curves.get(job.id)?.roles ?? [];
  return `${name} · ${replicaOf(
    task,
    roles.map((role) => ({ name: role })),
  )}`;
}
