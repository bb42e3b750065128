/** One algorithm: its versions, what may be set of each, its channels, who runs it, how it is shared; here a version is made, used or deleted. */
import { DownloadOutlined, PlusOutlined } from "@ant-design/icons";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Button, Tag } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  algorithmUrl,
  deleteAlgorithm,
  deleteAlgorithmVersion,
  describeAlgorithm,
  readAlgorithm,
  shareAlgorithm,
  specOf,
} from "../../api/algorithms";
import { ApiError } from "../../api/client";
import type { AlgorithmDetail, AlgorithmSpec } from "../../api/types";
import { Described } from "../../shared/described";
import { Discard } from "../../shared/discard";
import { useDownload } from "../../shared/download";
import { AssetStar } from "../../shared/favorite";
import { listed, RESOURCE_TYPES } from "../../shared/format";
import { LineagePanel } from "../../shared/lineage";
import { useFrameworkTitle } from "../../shared/meta";
import { Beyond } from "../../shared/passing/beyond";
import { isTaken } from "../../shared/passing/cell";
import { placeOf } from "../../shared/passing/place";
import { useSession } from "../../shared/session";
import { Sharing } from "../../shared/sharing";
import { Ago } from "../../shared/time";
import { Crumb, Empty, Facts, Mono, PageHeader, Pending } from "../../shared/ui";
import { NotShared } from "../lost";
import { CreateAlgorithm } from "./create";
import { ChannelTables, ParametersTable } from "./tables";
import { RunInJob } from "./use";

const ALL = ["algorithms", "algorithm"];

export function AlgorithmPage(): ReactNode {
  const { t } = useTranslation();
  const { id } = useParams({ from: "/algorithms/$id" });
  const { version } = useSearch({ from: "/algorithms/$id" });
  const navigate = useNavigate({ from: "/algorithms/$id" });
  const [creates, setCreates] = useState(false);
  const query = useQuery({
    queryKey: ["algorithm", id, version],
    queryFn: ({ signal }) => readAlgorithm(id, version, signal),
  });
  if (query.error instanceof ApiError && query.error.status === 404) return <NotShared what="algorithm" id={id} />;
  if (!query.data) return <Pending query={query} rows={8} />;
  const algorithm = query.data;
  const writes = algorithm.may.includes("write");
  const spec = specOf(algorithm);
  return (
    <div data-testid="algorithm-page">
      <Crumb>
        <Link to="/algorithms">{t("algorithms.title")}</Link>
      </Crumb>
      <PageHeader
        title={
          <>
            {algorithm.name} {algorithm.preset && <Tag className="tm-tag">{t("algorithms.preset")}</Tag>}
          </>
        }
        name={algorithm.name}
        sub={[algorithm.owner, algorithm.workspace].join(" · ")}
        actions={
          <>
            <AssetStar kind="algorithms" of={algorithm} />
            {!isTaken(algorithm) && <Sharing words="algorithms" of={algorithm} change={shareAlgorithm} />}
            {writes && (
              <Button icon={<PlusOutlined />} onClick={() => setCreates(true)} data-testid="algorithm-create">
                {t("algorithms.addVersion")}
              </Button>
            )}
            {writes && <Remove of={algorithm} />}
          </>
        }
      />
      <Described
        words="algorithms"
        text={algorithm.description}
        writes={writes}
        change={(text) => describeAlgorithm(algorithm.id, text)}
        read={ALL}
      />
      <Beyond kind="algorithm" of={algorithm} />
      {algorithm.shown === 0 ? (
        <div className="tm-panel">
          <Empty title={t("algorithms.noVersions")} />
        </div>
      ) : (
        <div className="tm-model">
          <nav className="tm-panel tm-versions" aria-label={t("algorithms.versions")}>
            {algorithm.history.map((one) => (
              <button
                key={one.version}
                type="button"
                className="tm-version"
                aria-current={one.version === algorithm.shown}
                onClick={() => void navigate({ search: { version: one.version }, replace: true })}
                data-testid={`version-${one.version}`}
              >
                <b>{t("algorithms.version", { n: one.version })}</b>
                <span className="tm-faint">
                  <Ago at={one.created_at} />
                </span>
                <span className="tm-faint">{one.by}</span>
              </button>
            ))}
          </nav>
          {spec && <Version of={algorithm} spec={spec} writes={writes} />}
        </div>
      )}
      {creates && (
        <CreateAlgorithm
          to={algorithm}
          close={() => setCreates(false)}
          done={(made) => void navigate({ search: { version: made.shown }, replace: true })}
        />
      )}
    </div>
  );
}

function Version({ of, spec, writes }: { of: AlgorithmDetail; spec: AlgorithmSpec; writes: boolean }): ReactNode {
  const { t } = useTranslation();
  const download = useDownload();
  const version = of.history.find((one) => one.version === of.shown);
  const launcher = useFrameworkTitle();
  const place = placeOf(of, useSession()?.user);
  const none = t("algorithms.anything");
  const facts: [string, ReactNode][] = [
    [
      t("algorithms.command"),
      <code key="c" className="tm-mono">
        {spec.command}
      </code>,
    ],
    [t("algorithms.framework"), launcher(spec.framework.kind)],
    [t("algorithms.image"), spec.image],
    [t("algorithms.flavors"), listed(spec.flavors) || none],
    [t("algorithms.runsOn"), listed(spec.runs_on.map((kind) => RESOURCE_TYPES[kind] ?? kind)) || none],
    [t("algorithms.maxReplicas"), spec.max_replicas ?? t("algorithms.noMaximum")],
    [
      t("algorithms.code"),
      version?.code ? (
        <Mono key="u" copy={version.code}>
          {version.code.slice(0, 19)}…
        </Mono>
      ) : (
        t("algorithms.noCode")
      ),
    ],
    ...(spec.origin ? [[t("algorithms.origin"), <From key="o" origin={spec.origin} />] as [string, ReactNode]] : []),
    [t("algorithms.made"), version ? <Ago key="a" at={version.created_at} /> : "–"],
    [t("algorithms.by"), version?.by || "–"],
  ];
  return (
    <div className="tm-stack">
      <section className="tm-panel">
        <h2 className="tm-version-head">
          <span className="tm-grow">{t("algorithms.version", { n: of.shown })}</span>
          <RunInJob algorithm={`${place.name}@${of.shown}`} workspace={place.workspace} size="small" />
          {version?.code && (
            <Button
              size="small"
              icon={<DownloadOutlined />}
              onClick={() => download(algorithmUrl(of.id, of.shown))}
              data-testid="algorithm-download"
            >
              {t("algorithms.download")}
            </Button>
          )}
          {writes && <Remove of={of} version={of.shown} />}
        </h2>
        <div className="tm-panel-body">
          <Facts columns={3} items={facts} />
        </div>
      </section>
      <section className="tm-panel">
        <h2>{t("algorithms.parameters.title")}</h2>
        <div className="tm-panel-body">
          <ParametersTable spec={spec} />
        </div>
      </section>
      <section className="tm-panel">
        <h2>{t("algorithms.channels.title")}</h2>
        <div className="tm-panel-body" data-testid="algorithm-channels">
          <ChannelTables spec={spec} />
        </div>
      </section>
      <LineagePanel kind="algorithm" at={`${of.id}@${of.shown}`} />
      <section className="tm-panel">
        <h2>{t("algorithms.usedBy")}</h2>
        <div className="tm-panel-body" data-testid="algorithm-jobs">
          {of.jobs.length === 0 && <span className="tm-faint">{t("algorithms.usedByNone")}</span>}
          <ul className="tm-plain-list">
            {of.jobs.map((job) => (
              <li key={job.id}>
                <Link to="/jobs/$id" params={{ id: job.id }} search={{}} className="tm-name">
                  {job.name}
                </Link>{" "}
                <span className="tm-faint">{t("algorithms.version", { n: job.version })}</span>
              </li>
            ))}
          </ul>
          {of.more_jobs > 0 && <span className="tm-faint">{t("algorithms.moreJobs", { count: of.more_jobs })}</span>}
        </div>
      </section>
    </div>
  );
}

/** From which commit the code was taken. */
function From({ origin }: { origin: NonNullable<AlgorithmSpec["origin"]> }): ReactNode {
  return (
    <span data-testid="algorithm-origin">
      {origin.git}
      {origin.folder && ` ${origin.folder}`} <Mono copy={origin.commit}>{origin.commit.slice(0, 12)}…</Mono>
    </span>
  );
}

/** Puts a version into the bin, or with none all of it. */
function Remove({ of, version }: { of: AlgorithmDetail; version?: number }): ReactNode {
  const navigate = useNavigate();
  const client = useQueryClient();
  const after = async (): Promise<void> => {
    if (version === undefined) {
      void navigate({ to: "/algorithms" });
      return;
    }
    await navigate({ to: "/algorithms/$id", params: { id: of.id }, search: {}, replace: true });
    client.removeQueries({ queryKey: ["algorithm", of.id, version] });
    void client.invalidateQueries({ queryKey: ["algorithm", of.id] });
  };
  return (
    <Discard
      kind="algorithm"
      name={of.name}
      version={version}
      act={() => (version === undefined ? deleteAlgorithm(of.id) : deleteAlgorithmVersion(of.id, version))}
      read={["algorithms"]}
      after={() => void after()}
    />
  );
}
