/** Stop and delete, for one job or many, always after a question that says what will happen (R201, R202). */

import { useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { type ReactNode, useCallback } from "react";
import { useTranslation } from "react-i18next";
import { deleteJob, stopJob, toSeveral } from "../api/jobs";
import { type Bulk, ENDED, type Job } from "../api/types";
import { useBilingual } from "../i18n";
import { shortId } from "./format";
import { leave } from "./live";
import { useSession } from "./session";
import { StateTag } from "./state";
import { useErrorText } from "./ui";

type Verb = "stop" | "delete";
/** `owner`: said where it is somebody else. */
type Subject = Pick<Job, "id" | "name" | "state"> & Partial<Pick<Job, "owner">>;
const SHOWN_AT_MOST = 8;

const ALLOWED: Record<Verb, (job: Subject) => boolean> = {
  stop: (job) => !ENDED.has(job.state),
  delete: (job) => ENDED.has(job.state),
};

const ONE: Record<Verb, (id: string) => Promise<unknown>> = { stop: stopJob, delete: deleteJob };

export function useJobActions(): (verb: Verb, jobs: Subject[], done?: () => void) => void {
  const { t } = useTranslation();
  const { modal, message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  const pick = useBilingual();

  const act = useCallback(
    async (verb: Verb, jobs: Subject[]): Promise<void> => {
      let refused: Bulk["refused"] = [];
      const stay =
        verb === "delete"
          ? leave(
              client,
              jobs.map((job) => job.id),
            )
          : undefined;
      try {
        if (jobs.length === 1 && jobs[0]) await ONE[verb](jobs[0].id);
        else refused = (await toSeveral(verb, { ids: jobs.map((job) => job.id) })).refused;
      } catch (error) {
        stay?.();
        message.error(errorText(error).line, 6);
        throw error;
      } finally {
        void client.invalidateQueries({ queryKey: ["jobs"] });
        if (verb === "stop") for (const job of jobs) void client.invalidateQueries({ queryKey: ["job", job.id] });
      }
      if (refused.length > 0) stay?.();
      if (refused.length > 0)
        message.warning(`${t("jobs.refused", { count: refused.length })} ${pick(refused[0]?.title)}`, 6);
      else message.success(t(`jobs.${verb}.done`, { count: jobs.length }));
    },
    [client, errorText, message, pick, t],
  );

  return useCallback(
    (verb, jobs, done) => {
      const allowed = jobs.filter(ALLOWED[verb]);
      if (allowed.length === 0) {
        if (verb === "delete") message.info(t("jobs.delete.onlyEnded"));
        return;
      }
      modal.confirm({
        title: t(`jobs.${verb}.title`, { count: allowed.length }),
        width: 520,
        icon: null,
        content: <Question verb={verb} allowed={allowed} skipped={jobs.length - allowed.length} />,
        okText: t(`jobs.${verb}.ok`),
        cancelText: t("action.cancel"),
        // Spread, since the type of these props knows no data attributes.
        okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
        onOk: async () => {
          await act(verb, allowed);
          done?.();
        },
      });
    },
    [act, message, modal, t],
  );
}

function Question({ verb, allowed, skipped }: { verb: Verb; allowed: Subject[]; skipped: number }): ReactNode {
  const { t } = useTranslation();
  const me = useSession()?.user.name;
  return (
    <div data-testid="confirm">
      <ul className="tm-confirm-list">
        {allowed.slice(0, SHOWN_AT_MOST).map((job) => (
          <li key={job.id}>
            <StateTag state={job.state} quiet /> <strong>{job.name}</strong>{" "}
            <span className="tm-mono tm-faint">{shortId(job.id)}</span>
            {job.owner && job.owner !== me && <span className="tm-faint"> · {job.owner}</span>}
          </li>
        ))}
        {allowed.length > SHOWN_AT_MOST && <li>{t("jobs.andMore", { count: allowed.length - SHOWN_AT_MOST })}</li>}
      </ul>
      <p>{t(`jobs.${verb}.what`, { count: allowed.length })}</p>
      {skipped > 0 && <p className="tm-faint">{t(`jobs.${verb}.skip`, { count: skipped })}</p>}
    </div>
  );
}
