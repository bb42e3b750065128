/** Changes that would start a queued job now or clearly sooner, cheapest first (B1): made in place where the job keeps its turn, else in a clone. */
import { CopyOutlined, ThunderboltOutlined } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { App, Button, Tag, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { changeJob } from "../../api/jobs";
import type { Job, Suggestion } from "../../api/types";
import { useBilingual } from "../../i18n";
import { duration } from "../../shared/format";
import { useFormatTime } from "../../shared/time";
import { useErrorText } from "../../shared/ui";

type Wanted = Parameters<typeof changeJob>[1];
export type Changing = Pick<Job, "id" | "name" | "duration_s" | "priority">;

/** What can be changed of a job while it waits (R170, R191); everything else it asked for stays what it is. Pure. */
export function changeable(change: Record<string, unknown> | null | undefined): Wanted | null {
  if (!change) return null;
  const wanted: Wanted = {};
  for (const [path, value] of Object.entries(change)) {
    if ((path === "duration_s" || path === "duration") && (typeof value === "number" || value === null))
      wanted.duration_s = value;
    else if (path === "priority" && typeof value === "string") wanted.priority = value;
    else return null;
  }
  return Object.keys(wanted).length > 0 ? wanted : null;
}

export function Sooner({ job, all }: { job: Changing; all: Suggestion[] }): ReactNode {
  const { t } = useTranslation();
  if (all.length === 0) return <p className="tm-faint tm-flat">{t("queue.detail.noneKnown")}</p>;
  return (
    <ol className="tm-sooner">
      {all.map((one, i) => (
        <Line key={one.message.en} job={job} suggestion={one} best={i === 0} />
      ))}
    </ol>
  );
}

function Line({ job, suggestion, best }: { job: Changing; suggestion: Suggestion; best: boolean }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const navigate = useNavigate();
  const apply = useApply(job);
  const wanted = changeable(suggestion.change);
  const look = { size: "small", type: best ? "primary" : "default" } as const;
  return (
    <li data-testid="sooner">
      <span className="tm-grow">
        {pick(suggestion.message)}{" "}
        {best && (
          <Tag color="green" className="tm-tag">
            {t("queue.detail.best")}
          </Tag>
        )}{" "}
        <When suggestion={suggestion} />
      </span>
      {wanted ? (
        <Button
          {...look}
          icon={<ThunderboltOutlined />}
          onClick={() => apply(pick(suggestion.message), wanted)}
          data-testid="sooner-apply"
        >
          {t("queue.detail.apply")}
        </Button>
      ) : (
        suggestion.change && (
          <Tooltip title={t("submit.copied.cloneHint")}>
            <Button
              {...look}
              icon={<CopyOutlined />}
              onClick={() =>
                void navigate({ to: "/submit", search: { clone: job.id, set: JSON.stringify(suggestion.change) } })
              }
              data-testid="sooner-copy"
            >
              {t("submit.copied.clone")}
            </Button>
          </Tooltip>
        )
      )}
    </li>
  );
}

/** When it starts with the change: now, or when it is expected to, and when without. */
export function When({ suggestion }: { suggestion: Suggestion }): ReactNode {
  const { t } = useTranslation();
  const time = useFormatTime();
  const at = suggestion.forecast?.at ?? null;
  if (at === null) return <span className="tm-faint">{t("queue.detail.startsNow")}</span>;
  const before =
    suggestion.otherwise_at === null ? t("queue.detail.unknownTime") : time(suggestion.otherwise_at, "minute");
  return (
    <span className="tm-faint tm-num" data-testid="sooner-when">
      {t("queue.detail.startsSooner", { time: time(at, "minute"), before })}
    </span>
  );
}

/** Asks with what is and what will be, makes the change, and says that it was made. */
function useApply(job: Changing): (title: string, wanted: Wanted) => void {
  const { t } = useTranslation();
  const { modal, message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  const send = async (wanted: Wanted): Promise<void> => {
    try {
      await changeJob(job.id, wanted);
      message.success(t("queue.detail.applied"));
    } catch (error) {
      message.error(errorText(error).line, 8);
    }
    for (const key of [["queue"], ["timeline"], ["explain", job.id], ["job", job.id]])
      void client.invalidateQueries({ queryKey: key });
  };
  return (title, wanted) =>
    void modal.confirm({
      title,
      icon: null,
      width: 480,
      content: <Difference job={job} wanted={wanted} />,
      okText: t("queue.detail.apply"),
      cancelText: t("action.cancel"),
      okButtonProps: { ...{ "data-testid": "sooner-ok" } },
      onOk: () => send(wanted),
    });
}

function Difference({ job, wanted }: { job: Changing; wanted: Wanted }): ReactNode {
  const { t, i18n } = useTranslation();
  const length = (seconds: number | null): string => (seconds === null ? t("time.noLimit") : duration(seconds));
  const priority = (name: string): string =>
    i18n.exists(`priority.${name}`) ? t(`priority.${name}` as "priority.normal") : name;
  return (
    <div data-testid="sooner-difference">
      <ul className="tm-changes tm-changes-box">
        {wanted.duration_s !== undefined && (
          <li>
            <span className="tm-grow">{t("job.fact.duration")}</span>
            <Change before={length(job.duration_s)} after={length(wanted.duration_s)} />
          </li>
        )}
        {wanted.priority !== undefined && (
          <li>
            <span className="tm-grow">{t("job.fact.priority")}</span>
            <Change before={priority(job.priority)} after={priority(wanted.priority)} />
          </li>
        )}
      </ul>
      <p className="tm-flat">
        {t("queue.detail.keepsPlace")}
        {wanted.duration_s != null && ` ${t("queue.detail.endsAfter", { time: duration(wanted.duration_s) })}`}
      </p>
    </div>
  );
}

/** What it is, crossed out, and what it will be. */
export function Change({ before, after }: { before: string; after: string }): ReactNode {
  return (
    <span className="tm-num">
      <s className="tm-faint">{before}</s> → <b>{after}</b>
    </span>
  );
}
