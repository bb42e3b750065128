/** How far what the job wrote is on its way to object storage, what hinders it, and another try (R147). */
import { CloudUploadOutlined } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { Button } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { uploadAgain } from "../../api/jobs";
import type { JobDetail, UploadTarget } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useAttempt } from "../../shared/attempt";
import { bytes } from "../../shared/format";
import { Dotted } from "../../shared/ui";

/** Whether another try can change anything. Pure. */
export const mayBeTried = ({ state, left_out }: Pick<UploadTarget, "state" | "left_out">): boolean =>
  state === "failed" || (state === "done" && left_out > 0);

export function Uploads({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const attempt = useAttempt();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  if (job.uploads.length === 0) return null;
  const again = async (): Promise<void> => {
    setBusy(true);
    await attempt(() => uploadAgain(job.id), t("job.uploads.begun"));
    await client.invalidateQueries({ queryKey: ["job", job.id] });
    setBusy(false);
  };
  return (
    <section className="tm-panel" data-testid="uploads">
      <h2>{t("job.uploads.title")}</h2>
      <div className="tm-panel-body tm-stack">
        {job.uploads.map((one) => (
          <Upload key={one.place} one={one} />
        ))}
        {job.may.includes("write") && job.uploads.some(mayBeTried) && (
          <div>
            <Button
              size="small"
              icon={<CloudUploadOutlined />}
              loading={busy}
              onClick={() => void again()}
              data-testid="upload-again"
            >
              {t("job.uploads.again")}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

const TONES = { going: "tm-faint", done: "", failed: "tm-bad" } as const;

function Upload({ one }: { one: UploadTarget }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const counted = (n: number, size: number): string => `${t("job.events.files", { count: n })} · ${bytes(size)}`;
  return (
    <div data-testid={`upload-${one.state}`}>
      <div className="tm-mono tm-break">
        {one.folder} → {one.place}
      </div>
      <Dotted
        items={[
          <span key="s" className={TONES[one.state]}>
            {t(`job.uploads.${one.state}`)}
          </span>,
          counted(one.files, one.size_bytes),
          one.left_files > 0 ? t("job.uploads.left", { what: counted(one.left_files, one.left_bytes) }) : "",
        ]}
      />
      {one.why !== null && <div className={one.state === "failed" ? "tm-bad" : "tm-faint"}>{pick(one.why)}</div>}
    </div>
  );
}
