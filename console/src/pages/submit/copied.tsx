/** A clone: what differs from the job it is of, and whether it takes that job's place in the queue (B1, D1). */
import { useQuery } from "@tanstack/react-query";
import { Alert, Checkbox } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readJob } from "../../api/jobs";
import type { Json, JsonObject } from "../../api/types";
import { duration, shortId } from "../../shared/format";
import { Change } from "../queue/sooner";
import { getAt } from "./document";
import { labelOf } from "./labels";

const REFRESH_MS = 15_000;

/** The job a form is a clone of, as long as it is queued; undefined: there is none, or it is queued no longer. */
export function useWaitingFirst(id: string | undefined): string | undefined {
  const job = useQuery({
    queryKey: ["job", id],
    queryFn: ({ signal }) => readJob(id ?? "", signal),
    enabled: id !== undefined,
    refetchInterval: REFRESH_MS,
  });
  return job.data?.state === "queued" ? job.data.id : undefined;
}

interface ReplaceProps {
  /** The job that may be replaced; undefined: it is queued no longer. */
  first: string | undefined;
  replacing: boolean;
  choose: (replacing: boolean) => void;
}

/** Whether the clone takes the place of the original, which is then stopped. One that was to be replaced and started meanwhile runs on: that is said. */
export function Replace({ first, replacing, choose }: ReplaceProps): ReactNode {
  const { t } = useTranslation();
  if (first === undefined)
    return replacing && <Alert type="warning" showIcon title={t("submit.copied.runs")} data-testid="first-runs" />;
  return (
    <Checkbox checked={replacing} onChange={(e) => choose(e.target.checked)} data-testid="stop-first">
      {t("submit.copied.stopFirst", { id: shortId(first) })}
    </Checkbox>
  );
}

export function Copied({
  original,
  change,
  waits,
  children,
}: {
  original: JsonObject;
  change: readonly [string, Json][];
  waits: boolean;
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
      title={t(waits ? "submit.copied.title" : "submit.copied.alone", { name: String(original["name"] ?? "") })}
      data-testid="copied"
      description={
        <>
          {change.length > 0 && (
            <ul className="tm-changes">
              {change.map(([path, value]) => (
                <li key={path}>
                  {labelOf(path, t) || <code>{path}</code>}
                  <Change before={say(path, getAt(original, path))} after={say(path, value)} />
                </li>
              ))}
            </ul>
          )}
          {waits && <p className="tm-flat">{t("submit.copied.hint")}</p>}
          {children}
        </>
      }
    />
  );
}
