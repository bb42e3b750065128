/** What the other members of the workspace may do with the job; who may decide it chooses here (R57, R223, R225). */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import { shareJob } from "../../api/jobs";
import type { JobDetail, JobShare } from "../../api/types";
import { useAttempt } from "../../shared/attempt";
import { SHARES } from "../../shared/people";

export function ShareFact({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const attempt = useAttempt();
  const [busy, setBusy] = useState(false);
  const decides = job.may.includes("share");
  const workspaces = useQuery({
    queryKey: ["workspaces"],
    queryFn: listWorkspaces,
    staleTime: 60_000,
    enabled: decides,
  });
  if (!decides) return t(`job.share.${job.share}`);
  const off = workspaces.data?.items.find((one) => one.name === job.workspace)?.sharing === "off";
  const choose = async (share: JobShare): Promise<void> => {
    setBusy(true);
    await attempt(() => shareJob(job.id, share), t("job.share.changed"));
    setBusy(false);
    for (const key of [["job", job.id], ["jobs"]]) void client.invalidateQueries({ queryKey: key });
  };
  return (
    <Select<JobShare>
      size="small"
      className="tm-share"
      value={job.share}
      loading={busy}
      disabled={busy}
      onChange={(share) => void choose(share)}
      aria-label={t("job.fact.share")}
      data-testid="share"
      popupMatchSelectWidth={false}
      options={SHARES.map((value) => ({
        value,
        disabled: off && value !== "none",
        label: off && value !== "none" ? `${t(`job.share.${value}`)} · ${t("job.share.off")}` : t(`job.share.${value}`),
      }))}
    />
  );
}
