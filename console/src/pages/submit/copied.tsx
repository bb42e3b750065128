/** A copy made to start sooner: what differs from the job it is of, and the end of that job once the copy is submitted (B1). */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, App, Checkbox } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readJob, stopJob } from "../../api/jobs";
import type { Json, JsonObject } from "../../api/types";
import { duration } from "../../shared/format";
import { useErrorText } from "../../shared/ui";
import { Change } from "../queue/sooner";
import { getAt } from "./document";

const REFRESH_MS = 15_000;

/** The job a form is a copy of, as long as it waits; undefined: there is none, or it waits no longer. */
export function useWaitingFirst(id: string | undefined): string | undefined {
  const job = useQuery({
    queryKey: ["job", id],
    queryFn: ({ signal }) => readJob(id ?? "", signal),
    enabled: id !== undefined,
    refetchInterval: REFRESH_MS,
  });
  return job.data?.state === "queued" ? id : undefined;
}

interface StopFirstProps {
  first: string;
  stopping: boolean;
  choose: (stopping: boolean) => void;
}

/** Whether the copy takes the place of the first job: then that is stopped, and until then not counted. */
export function StopFirst({ first, stopping, choose }: StopFirstProps): ReactNode {
  const { t } = useTranslation();
  return (
    <Checkbox checked={stopping} onChange={(e) => choose(e.target.checked)} data-testid="stop-first">
      {t("submit.copied.stopFirst", { id: first.slice(0, 9) })}
    </Checkbox>
  );
}

export function Copied({
  original,
  change,
  children,
}: {
  original: JsonObject;
  change: readonly [string, Json][];
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation();
  const say = (path: string, value: Json | undefined): string => {
    if (value === undefined || value === null) return t("submit.copied.none");
    return path === "duration" && typeof value === "number" ? duration(value) : String(value);
  };
  return (
    <Alert
      type="info"
      showIcon
      className="tm-gap"
      title={t(children ? "submit.copied.title" : "submit.copied.alone", { name: String(original["name"] ?? "") })}
      data-testid="copied"
      description={
        <>
          {change.length > 0 && (
            <ul className="tm-changes">
              {change.map(([path, value]) => (
                <li key={path}>
                  <code>{path}</code>
                  <Change before={say(path, getAt(original, path))} after={say(path, value)} />
                </li>
              ))}
            </ul>
          )}
          {children}
        </>
      }
    />
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
