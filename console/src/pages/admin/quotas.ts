/** Which quotas are used up. Pure. */
import type { Share, Workspace } from "../../api/types";
import { storageShares } from "../../shared/shares";

/** `pool` empty: of no pool, as storage is. */
export interface QuotaLine {
  workspace: string;
  pool: string;
  share: Share;
}

export type QuotaState = "borrows" | "full" | "room";

const part = (share: Share): number =>
  share.nominal > 0 ? share.used / share.nominal : share.used > 0 ? Number.POSITIVE_INFINITY : 0;

/** Whether a workspace uses more than its quota, all of it, or less. */
export function toneOfQuota(share: Share): QuotaState {
  if (share.borrowed > 0) return "borrows";
  return share.nominal > 0 && share.used >= share.nominal ? "full" : "room";
}

/** Every quota, the most used first. */
export function quotaLines(workspaces: readonly Pick<Workspace, "name" | "quotas" | "storage">[]): QuotaLine[] {
  return workspaces
    .flatMap(({ name, quotas, storage }) =>
      [...quotas, { pool: "", share: storageShares(storage.use) }].flatMap(({ pool, share }) =>
        share.map((one) => ({ workspace: name, pool, share: one })),
      ),
    )
    .sort((a, b) => {
      const [first, second] = [part(a.share), part(b.share)];
      return first === second ? a.workspace.localeCompare(b.workspace) : second - first;
    });
}
