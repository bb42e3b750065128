/** What the job left: its outputs, and the model version they became. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ENDED } from "../../api/types";
import { fileUrl, listFiles } from "../../api/watch";
import { FileBrowser } from "../../shared/files";
import type { TabProps } from "./tab";
import { SavedModel } from "./verdict";

export function Files({ job }: TabProps): ReactNode {
  const { t } = useTranslation();
  return (
    <section className="tm-panel">
      <h2>{job.model ? <SavedModel model={job.model} /> : t("job.files.live")}</h2>
      <FileBrowser
        id={["job", job.id, ENDED.has(job.state)]}
        list={(path) => listFiles(job.id, path)}
        href={(path) => fileUrl(job.id, path)}
        root={t("job.files.root")}
        refetchInterval={ENDED.has(job.state) ? false : 5000}
      />
    </section>
  );
}
