/** A copy made to start sooner: what differs from the job it is of, and the end of that job once the copy is submitted (B1). */
import { useQueryClient } from "@tanstack/react-query";
import { Alert, App } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readJob, stopJob } from "../../api/jobs";
import type { Json, JsonObject } from "../../api/types";
import { duration } from "../../shared/format";
import { useErrorText } from "../../shared/ui";
import { Change } from "../queue/sooner";
import { getAt } from "./document";

export function Copied({ original, change }: { original: JsonObject; change: readonly [string, Json][] }): ReactNode {
  const { t } = useTranslation();
  const say = (path: string, value: Json | undefined): string => {
    if (value === undefined || value === null) return t("submit.copied.none");
    return path === "duration" && typeof value === "number" ? duration(value) : String(value);
  };
  return (
    <Alert type="info" showIcon className="tm-gap" title={t("submit.copied.title", { name: String(original["name"] ?? "") })} data-testid="copied" description={
      <>
        <ul className="tm-changes">{change.map(([path, value]) => <li key={path}><code>{path}</code><Change before={say(path, getAt(original, path))} after={say(path, value)} /></li>)}</ul>
        <p className="tm-flat">{t("submit.copied.hint")}</p>
      </>
    } />
  );
}

/** Stop the first job if it still waits; one that has started meanwhile runs on. Says what became of it. */
export function useStopFirst(): (id: string) => Promise<void> {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  return async (id) => {
    try {
      if ((await readJob(id)).state === "queued") await stopJob(id);
      else message.warning(t("submit.copied.runs"), 8);
    } catch (error) {
      message.error(`${t("submit.copied.notStopped")} ${errorText(error).title}`, 8);
    }
    for (const key of ["jobs", "queue", "job"]) void client.invalidateQueries({ queryKey: [key] });
  };
}
