/** One model: its immutable versions, what is in them, and the job each came from (R138, R149). */
import { DownloadOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Button, Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { listModelFiles, modelFileUrl, modelUrl, readModel } from "../../api/models";
import type { ModelDetail, ModelVersion } from "../../api/types";
import { useDownload } from "../../shared/download";
import { FileBrowser } from "../../shared/files";
import { bytes, number, shortId } from "../../shared/format";
import { Ago } from "../../shared/time";
import { Crumb, Facts, Mono, PageHeader, Pending } from "../../shared/ui";
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
        {shown && <Version model={model} version={shown} />}
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

function Version({ model, version }: { model: ModelDetail; version: ModelVersion }): ReactNode {
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
        </h2>
        <div className="tm-panel-body">
          <Facts
            columns={3}
            items={[
              [t("models.created"), <Ago key="c" at={version.created_at} />],
              [t("models.size"), bytes(version.size_bytes)],
              [t("models.files"), version.files],
              [
                t("models.job"),
                version.job ? (
                  <Link
                    key="j"
                    to="/jobs/$id"
                    params={{ id: version.job }}
                    search={{}}
                    className="tm-mono"
                    data-testid="provenance"
                  >
                    {shortId(version.job)}
                    {version.attempt !== null && ` · ${t("models.attempt", { n: version.attempt })}`}
                  </Link>
                ) : (
                  "–"
                ),
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
                    ] as [string, ReactNode],
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
      <section className="tm-panel">
        <h2>{t("models.files")}</h2>
        <FileBrowser
          key={version.version}
          id={["model", model.id, version.version]}
          list={(path) => listModelFiles(model.id, version.version, path)}
          href={(path) => modelFileUrl(model.id, version.version, path)}
          root={model.name}
        />
      </section>
    </div>
  );
}
