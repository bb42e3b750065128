/** What the job left: its outputs, and the model version they became. */
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Part } from "../../api/client";
import { ENDED } from "../../api/types";
import { fileUrl, folderUrl, listFiles, readFile } from "../../api/watch";
import { FileBrowser } from "../../shared/files";
import type { TabProps } from "./tab";
import { SavedModel } from "./verdict";

const HINTS = { model: "/model", outputs: "/workspace/outputs" };

export function Files({ job, search, update }: TabProps): ReactNode {
  const { t } = useTranslation();
  const ended = ENDED.has(job.state);
  const of = useMemo(
    () => ({
      list: (path: string) => listFiles(job.id, path),
      href: (path: string) => fileUrl(job.id, path),
      folderHref: (path: string) => folderUrl(job.id, path),
      read: (path: string, signal?: AbortSignal, part?: Part) => readFile(job.id, path, signal, part),
    }),
    [job.id],
  );
  return (
    <section className="tm-panel">
      <h2>{job.model ? <SavedModel model={job.model} /> : t("job.files.live")}</h2>
      <FileBrowser
        id={["job", job.id, ended]}
        {...of}
        root={t("job.files.root")}
        at={search.path}
        go={(path) => update({ path })}
        hints={HINTS}
        refetchInterval={ended ? false : 5000}
      />
    </section>
  );
}
