/** One data set: its versions, the files in them, how it is shared; a version is uploaded, used or deleted here. */
import { CloudUploadOutlined, DownloadOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import {
  datasetFileUrl,
  datasetUrl,
  deleteDataset,
  deleteDatasetVersion,
  describeDataset,
  listDatasetFiles,
  readDataset,
  readDatasetFile,
  shareDataset,
} from "../../api/datasets";
import type { DatasetDetail, DatasetVersion } from "../../api/types";
import { Described } from "../../shared/described";
import { Discard } from "../../shared/discard";
import { useDownload } from "../../shared/download";
import { AssetStar } from "../../shared/favorite";
import { FileBrowser } from "../../shared/files";
import { bytes, number } from "../../shared/format";
import { LineagePanel } from "../../shared/lineage";
import { Beyond } from "../../shared/passing/beyond";
import { isTaken } from "../../shared/passing/cell";
import { placeOf } from "../../shared/passing/place";
import { useSession } from "../../shared/session";
import { Sharing } from "../../shared/sharing";
import { Ago } from "../../shared/time";
import { Crumb, Empty, Facts, Mono, PageHeader, Pending } from "../../shared/ui";
import { NotShared } from "../lost";
import { UploadDataset } from "./upload";
import { UseInJob } from "./use";

/** The lists, and what is shown. */
const ALL = ["datasets", "dataset"];

export function DatasetPage(): ReactNode {
  const { t } = useTranslation();
  const { id } = useParams({ from: "/datasets/$id" });
  const search = useSearch({ from: "/datasets/$id" });
  const navigate = useNavigate({ from: "/datasets/$id" });
  const [uploads, setUploads] = useState(false);
  const query = useQuery({ queryKey: ["dataset", id], queryFn: ({ signal }) => readDataset(id, signal) });
  if (query.error instanceof ApiError && query.error.status === 404) return <NotShared what="dataset" id={id} />;
  if (!query.data) return <Pending query={query} rows={8} />;
  const dataset = query.data;
  const shown = dataset.history.find((one) => one.version === search.version) ?? dataset.history[0];
  const writes = dataset.may.includes("write");
  return (
    <div data-testid="dataset-page">
      <Crumb>
        <Link to="/datasets">{t("datasets.title")}</Link>
      </Crumb>
      <PageHeader
        title={dataset.name}
        sub={[dataset.owner, dataset.workspace].join(" · ")}
        actions={
          <>
            <AssetStar kind="datasets" of={dataset} />
            {!isTaken(dataset) && <Sharing words="datasets" of={dataset} change={shareDataset} />}
            {writes && (
              <Button icon={<CloudUploadOutlined />} onClick={() => setUploads(true)} data-testid="dataset-upload">
                {t("datasets.add")}
              </Button>
            )}
            {writes && <Remove of={dataset} />}
          </>
        }
      />
      <Described
        words="datasets"
        text={dataset.description}
        writes={writes}
        change={(text) => describeDataset(dataset.id, text)}
        read={ALL}
      />
      <Beyond kind="dataset" of={dataset} />
      {shown === undefined ? (
        <div className="tm-panel">
          <Empty title={t("datasets.noVersions")} />
        </div>
      ) : (
        <div className="tm-model">
          <nav className="tm-panel tm-versions" aria-label={t("datasets.versions")}>
            {dataset.history.map((one) => (
              <button
                key={one.version}
                type="button"
                className="tm-version"
                aria-current={one === shown}
                onClick={() => void navigate({ search: { version: one.version }, replace: true })}
                data-testid={`version-${one.version}`}
              >
                <b>{t("datasets.version", { n: one.version })}</b>
                <span className="tm-faint">
                  <Ago at={one.created_at} />
                </span>
                <span className="tm-faint">{bytes(one.size_bytes)}</span>
              </button>
            ))}
          </nav>
          <Version
            dataset={dataset}
            version={shown}
            writes={writes}
            path={search.path}
            go={(path) => void navigate({ search: { version: shown.version, path }, replace: true })}
          />
        </div>
      )}
      {uploads && (
        <UploadDataset
          to={dataset}
          close={() => setUploads(false)}
          done={(made) => void navigate({ search: { version: made.version.version }, replace: true })}
        />
      )}
    </div>
  );
}

function Version({
  dataset,
  version,
  writes,
  path,
  go,
}: {
  dataset: DatasetDetail;
  version: DatasetVersion;
  writes: boolean;
  path: string | undefined;
  go: (path: string | undefined) => void;
}): ReactNode {
  const { t } = useTranslation();
  const download = useDownload();
  const place = placeOf(dataset, useSession()?.user);
  const facts: [string, ReactNode, "wide"?][] = [
    [t("datasets.uploaded"), <Ago key="c" at={version.created_at} />],
    [t("datasets.by"), version.by || "–"],
    [t("datasets.size"), bytes(version.size_bytes)],
    [t("datasets.filesNumber"), number(version.files)],
    [
      t("datasets.digest"),
      <Mono key="d" copy={version.digest}>
        {version.digest.slice(0, 19)}…
      </Mono>,
    ],
  ];
  if (version.path !== null)
    facts.push([
      t("datasets.path"),
      <Mono key="p" copy={version.path}>
        {version.path}
      </Mono>,
      "wide",
    ]);
  return (
    <div className="tm-stack">
      <section className="tm-panel">
        <h2 className="tm-version-head">
          <span className="tm-grow">{t("datasets.version", { n: version.version })}</span>
          <UseInJob dataset={`${place.name}@${version.version}`} workspace={place.workspace} size="small" />
          <Button
            size="small"
            icon={<DownloadOutlined />}
            onClick={() => download(datasetUrl(dataset.id, version.version))}
            data-testid="dataset-download"
          >
            {t("datasets.download")}
          </Button>
          {writes && <Remove of={dataset} version={version.version} />}
        </h2>
        <div className="tm-panel-body">
          <Facts columns={3} items={facts} />
        </div>
      </section>
      <LineagePanel kind="dataset" at={`${dataset.id}@${version.version}`} />
      <section className="tm-panel">
        <h2>{t("datasets.files")}</h2>
        <FileBrowser
          key={version.version}
          id={["dataset", dataset.id, version.version]}
          list={(path) => listDatasetFiles(dataset.id, version.version, path)}
          href={(path) => datasetFileUrl(dataset.id, version.version, path)}
          read={(path, signal, part) => readDatasetFile(dataset.id, version.version, path, signal, part)}
          root={dataset.name}
          at={path}
          go={go}
        />
      </section>
    </div>
  );
}

/** Puts a version into the bin, or with none all of it. */
function Remove({ of, version }: { of: DatasetDetail; version?: number }): ReactNode {
  const navigate = useNavigate();
  return (
    <Discard
      kind="dataset"
      name={of.name}
      version={version}
      act={() => (version === undefined ? deleteDataset(of.id) : deleteDatasetVersion(of.id, version))}
      read={version === undefined ? ["datasets"] : ALL}
      after={() =>
        void (version === undefined
          ? navigate({ to: "/datasets" })
          : navigate({ to: "/datasets/$id", params: { id: of.id }, search: {}, replace: true }))
      }
    />
  );
}
