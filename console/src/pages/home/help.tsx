/** What would help a failed job of one's own, over the first page. Loaded when it is asked for. */
import { useQuery } from "@tanstack/react-query";
import { Modal } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { explainJob, readJob } from "../../api/jobs";
import type { Job } from "../../api/types";
import { useBilingual } from "../../i18n";
import { ButtonLink } from "../../shared/link";
import { Pending } from "../../shared/ui";
import { Remedies } from "../job/remedies";

/** Why it failed and what would help, with the button that does it. */
export default function Help({ job, close }: { job: Job; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const query = useQuery({
    queryKey: ["home-help", job.id, job.version],
    queryFn: () => Promise.all([readJob(job.id), explainJob(job.id)]),
  });
  return (
    <Modal
      open
      width={620}
      title={t("home.helpFor", { name: job.name })}
      onCancel={close}
      footer={
        <ButtonLink to="/jobs/$id" params={{ id: job.id }} search={{}}>
          {t("home.open")}
        </ButtonLink>
      }
    >
      <div data-testid="home-help-box">
        {job.verdict && <p>{pick(job.verdict.message)}</p>}
        {query.data ? (
          query.data[1].suggestions.length > 0 ? (
            <Remedies job={query.data[0]} all={query.data[1].suggestions} />
          ) : (
            <p className="tm-faint">{t("home.noHelp")}</p>
          )
        ) : (
          <Pending query={query} rows={2} />
        )}
      </div>
    </Modal>
  );
}
