/** Choosing one more job to compare, by what the list of jobs finds. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listJobs } from "../../api/jobs";
import { shortId } from "../../shared/format";

const FOUND = 20;

export function AddJob({ jobs, add }: { jobs: readonly string[]; add: (id: string) => void }): ReactNode {
  const { t } = useTranslation();
  const [q, setQ] = useState("");
  const [open, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ["compare-add", q],
    queryFn: ({ signal }) => listJobs({ q, limit: FOUND }, null, signal),
    placeholderData: keepPreviousData,
    enabled: open,
  });
  return (
    <Select<string>
      showSearch={{ filterOption: false, onSearch: setQ, searchValue: q }}
      value={null}
      onOpenChange={setOpen}
      onSelect={(id) => {
        setQ("");
        add(id);
      }}
      placeholder={t("compare.add")}
      aria-label={t("compare.add")}
      className="tm-compare-add"
      popupMatchSelectWidth={340}
      loading={query.isFetching}
      options={(query.data?.items ?? [])
        .filter((job) => !jobs.includes(job.id))
        .map((job) => ({
          value: job.id,
          label: (
            <span className="tm-compare-found">
              <span className="tm-name tm-ellipsis">{job.name}</span>
              <span className="tm-faint tm-mono">{shortId(job.id)}</span>
              <span className="tm-faint">{t(`state.${job.state}`)}</span>
            </span>
          ),
        }))}
      data-testid="compare-add"
    />
  );
}
