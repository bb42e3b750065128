/** The versions of a job: what was made of it by cloning, the newest first, to go to or to compare (R159, R160). */
import { DiffOutlined, DownOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Button, Dropdown } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { readVersions } from "../../api/jobs";
import type { JobDetail } from "../../api/types";
import { StateTag } from "../../shared/state";
import { Ago } from "../../shared/time";

/** So many are compared at once. */
const COMPARED = 20;

/** Which version this is, and the others. Nothing where there is only one. */
export function Versions({ job }: { job: JobDetail }): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const found = useQuery({ queryKey: ["versions", job.id], queryFn: () => readVersions(job.id), staleTime: 30_000 });
  const versions = found.data?.items ?? [];
  if (versions.length < 2) return null;
  const newest = versions.slice(0, COMPARED).map((one) => one.id);
  return (
    <Dropdown
      trigger={["click"]}
      menu={{
        className: "tm-versions",
        selectedKeys: [job.id],
        items: [
          ...versions.map((one) => ({
            key: one.id,
            label: (
              <span className="tm-job-version" data-testid={`version-${one.family_version}`}>
                <span className="tm-num">{t("job.versions.one", { n: one.family_version })}</span>
                <span className="tm-job-version-name">{one.name}</span>
                <StateTag state={one.state} />
                <span className="tm-muted">
                  <Ago at={one.submitted_at} />
                </span>
              </span>
            ),
            onClick: () => void navigate({ to: "/jobs/$id", params: { id: one.id } }),
          })),
          { type: "divider" as const },
          {
            key: "compare",
            icon: <DiffOutlined />,
            label: <span data-testid="versions-compare">{t("job.versions.compare", { count: newest.length })}</span>,
            onClick: () => void navigate({ to: "/compare", search: { job: newest } }),
          },
        ],
      }}
    >
      <Button size="small" data-testid="versions">
        {t("job.versions.of", { n: job.family_version, count: versions.length })} <DownOutlined />
      </Button>
    </Dropdown>
  );
}
