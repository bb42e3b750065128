/** One model: its immutable versions, what is in them, and the job each came from (R138, R149). */
import { DownloadOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Button, Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { readJob } from "../../api/jobs";
import {
  deleteModel,
  deleteModelVersion,
  listModelFiles,
  modelFileUrl,
  modelUrl,
  readModel,
  readModelFile,
} from "../../api/models";
import type { ModelDetail, ModelVersion } from "../../api/types";
import { Discard } from "../../shared/discard";
import { useDownload } from "../../shared/download";
import { AssetStar } from "../../shared/favorite";
import { FileBrowser } from "../../shared/files";
import { bytes, number, shortId } from "../../shared/format";
import { LineagePanel } from "../../shared/lineage";
import { Ago } from "../../shared/time";
import { Crumb, Dotted, Facts, Mono, Nothing, PageHeader, Pending } from "../../shared/ui";
import { UseInJob } from "../datasets/use";
import { keyMetric } from "../jobs/columns";
import { NotShared } from "../lost";

export function ModelPage(): ReactNode {
  const { t } = useTranslation();
  const { id } = useParams({ from: "/models/$id" });
  const search = useSearch({ from: "/models/$id" });
  const navigate = useNavigate({ from: "/models/$id" });
  const query = useQuery({ queryKey: ["model", id], queryFn: () => readModel(id) });
  if (query.error instanceof ApiError && query.error.status === 404) return <NotShared what="model" id={id} />;
  if (!query.data) return <Pending query={query} rows={8} />;
  const model = query.data;
  const versions = [...model.versions].sort((a, b) => b.version - a.version);
  const shown = versions.find((v) => v.version === search.version) ?? versions[0];
  return (
    <div data-testid="model-page">
      <Crumb>
        <Link to="/models">{t("models.title")}</Link>
      </Crumb>
      <PageHeader
        title={model.name}
        sub={
          <>
            {[model.owner, model.workspace].join(" · ")} · {t("models.versions")}
            {t("mark.colon")}
            {versions.length}
          </>
        }
        actions={
          <>
            <AssetStar kind="models" of={model} />
            {model.may.includes("write") && <Remove of={model} />}
          </>
        }
      />
      <div className="tm-model">
        <nav className="tm-panel tm-versions" aria-label={t("models.versions")}>
          {versions.map((v) => (
            <VersionItem
              key={v.version}
              version={v}
              chosen={v === shown}
              choose={() => void navigate({ search: { version: v.version }, replace: true })}
            />
          ))}
        </nav>
        {shown && (
          <Version
            model={model}
            version={shown}
            path={search.path}
            go={(path) => void navigate({ search: { version: shown.version, path }, replace: true })}
          />
        )}
      </div>
    </div>
  );
}

function VersionItem({
  version,
  chosen,
  choose,
}: {
  version: ModelVersion;
  chosen: boolean;
  choose: () => void;
}): ReactNode {
  const { t } = useTranslation();
  const metric = keyMetric(version.metrics ?? {});
  return (
    <button
      type="button"
      className="tm-version"
      aria-current={chosen}
      onClick={choose}
      data-testid={`version-${version.version}`}
    >
      <b>{t("models.version", { n: version.version })}</b>
      <span className="tm-faint">
        <Ago at={version.created_at} />
      </span>
      {metric && (
        <span className="tm-faint">
          {metric[0]} {number(metric[1])}
        </span>
      )}
    </button>
  );
}

/** Puts all of it into the bin, or one version; with the only one all of it goes. */
function Remove({ of, version }: { of: ModelDetail; version?: number }): ReactNode {
  const navigate = useNavigate();
  const all = version === undefined || of.versions.length === 1;
  return (
    <Discard
      kind="model"
      name={of.name}
      version={version}
      act={() => (version === undefined ? deleteModel(of.id) : deleteModelVersion(of.id, version))}
      read={all ? ["models"] : ["models", "model"]}
      after={() =>
        void (all
          ? navigate({ to: "/models" })
          : navigate({ to: "/models/$id", params: { id: of.id }, search: {}, replace: true }))
      }
    />
  );
}

/** The job that a version came from: by its name for who may see it, by its id for others. */
function TrainedBy({ job, attempt }: { job: string; attempt: number | null }): ReactNode {
  const { t } = useTranslation();
  const named = useQuery({ queryKey: ["job", job], queryFn: ({ signal }) => readJob(job, signal), staleTime: 60_000 });
  return (
    <Dotted
      items={[
        <Link key="job" to="/jobs/$id" params={{ id: job }} search={{}} title={job} data-testid="provenance">
          {named.data?.name ?? shortId(job)}
        </Link>,
        attempt !== null && t("models.attempt", { n: attempt }),
      ]}
    />
  );
}

function Version({
  model,
  version,
  path,
  go,
}: {
  model: ModelDetail;
  version: ModelVersion;
  path: string | undefined;
  go: (path: string | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const download = useDownload();
  const metrics = Object.entries(version.metrics ?? {});
  return (
    <div className="tm-stack">
      <section className="tm-panel">
        <h2 className="tm-version-head">
          <span className="tm-grow">{t("models.version", { n: version.version })}</span>
          <UseInJob model={`${model.name}@${version.version}`} workspace={model.workspace} size="small" />
          <Button
            size="small"
            icon={<DownloadOutlined />}
            onClick={() => download(modelUrl(model.id, version.version))}
            data-testid="model-download"
          >
            {t("models.downloadAll")}
          </Button>
          {model.may.includes("write") && <Remove of={model} version={version.version} />}
        </h2>
        <div className="tm-panel-body">
          <Facts
            columns={3}
            items={[
              [t("models.created"), <Ago key="c" at={version.created_at} />],
              [t("models.size"), bytes(version.size_bytes)],
              [t("models.filesNumber"), version.files],
              [
                t("models.job"),
                version.job ? <TrainedBy key="j" job={version.job} attempt={version.attempt} /> : <Nothing key="j" />,
              ],
              [
                t("models.digest"),
                <Mono key="d" copy={version.digest}>
                  {version.digest.slice(0, 19)}…
                </Mono>,
              ],
              ...(version.path === null
                ? []
                : [
                    [
                      t("models.path"),
                      <Mono key="p" copy={version.path}>
                        {version.path}
                      </Mono>,
                      "wide",
                    ] as [string, ReactNode, "wide"],
                  ]),
            ]}
          />
          {metrics.length > 0 && (
            <div className="tm-labels tm-model-metrics">
              <span className="tm-faint">{t("models.metrics")}</span>
              {metrics.map(([name, value]) => (
                <Tag key={name}>
                  {name} {number(value)}
                </Tag>
              ))}
            </div>
          )}
        </div>
      </section>
      <LineagePanel kind="model" at={`${model.id}@${version.version}`} />
      <section className="tm-panel">
        <h2>{t("models.files")}</h2>
        <FileBrowser
          key={version.version}
          id={["model", model.id, version.version]}
          list={(path) => listModelFiles(model.id, version.version, path)}
          href={(path) => modelFileUrl(model.id, version.version, path)}
          read={(path, signal, part) => readModelFile(model.id, version.version, path, signal, part)}
          root={model.name}
          at={path}
          go={go}
        />
      </section>
    </div>
  );
}
