/** What people say of the job: its tags, a note, and whether it is one's favorite. Also after its end. */
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { App, Input, Select, Tag } from "antd";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { favorJob, noteJob, tagJob } from "../../api/jobs";
import type { JobDetail } from "../../api/types";
import { Star } from "../../shared/favorite";
import { Nothing, useErrorText } from "../../shared/ui";

const LONGEST_NOTE = 4000;

/** Does something to the job, says what is wrong with it, and lets everything be asked again. */
function useSaved(id: string): (work: () => Promise<unknown>) => Promise<boolean> {
  const client = useQueryClient();
  const { message } = App.useApp();
  const errorText = useErrorText();
  return async (work) => {
    let good = true;
    try {
      await work();
    } catch (error) {
      message.error(errorText(error).line, 8);
      good = false;
    }
    await Promise.all(
      [["job", id], ["jobs"], ["job-facets"]].map((key) => client.invalidateQueries({ queryKey: key })),
    );
    return good;
  };
}

export function FavoriteButton({ job }: { job: JobDetail }): ReactNode {
  const save = useSaved(job.id);
  return <Star on={job.favorite} press={() => void save(() => favorJob(job.id, !job.favorite))} />;
}

export function TagsFact({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const save = useSaved(job.id);
  if (!job.may.includes("write")) {
    const links = job.tags.map((tag) => (
      <Link key={tag} to="/jobs" search={{ tag }}>
        <Tag>{tag}</Tag>
      </Link>
    ));
    return job.tags.length > 0 ? links : <Nothing />;
  }
  const change = (tags: string[]): void =>
    void save(() =>
      tagJob(job.id, {
        add: tags.filter((tag) => !job.tags.includes(tag)),
        remove: job.tags.filter((tag) => !tags.includes(tag)),
      }),
    );
  return (
    <Select
      mode="tags"
      open={false}
      suffixIcon={null}
      size="small"
      className="tm-tags"
      value={job.tags}
      onChange={change}
      tokenSeparators={[",", "，"]}
      placeholder={t("jobs.tags.none")}
      aria-label={t("job.fact.tags")}
      data-testid="tags"
    />
  );
}

export function NoteFact({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const save = useSaved(job.id);
  const [text, setText] = useState(job.note);
  useEffect(() => setText(job.note), [job.note]);
  if (!job.may.includes("write")) return job.note ? <span className="tm-note">{job.note}</span> : <Nothing />;
  const leave = (): void => {
    if (text.trim() !== job.note) void save(() => noteJob(job.id, text));
  };
  return (
    <Input.TextArea
      size="small"
      autoSize={{ minRows: 1, maxRows: 8 }}
      maxLength={LONGEST_NOTE}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={leave}
      placeholder={t("jobs.note.none")}
      aria-label={t("job.fact.note")}
      data-testid="note"
    />
  );
}
