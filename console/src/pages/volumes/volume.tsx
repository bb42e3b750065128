/** One volume: what is in it, which jobs mount it, how it is shared; filled, renamed and deleted here (R52, R245). */
import { DeleteOutlined, EditOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { App, Button } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import type { VolumeDetail } from "../../api/types";
import { deleteVolume, describeVolume, readVolume, shareVolume } from "../../api/volumes";
import { useAct } from "../../shared/act";
import { Described } from "../../shared/described";
import { AssetStar } from "../../shared/favorite";
import { bytes, number } from "../../shared/format";
import { LineagePanel } from "../../shared/lineage";
import { Sharing } from "../../shared/sharing";
import { Ago } from "../../shared/time";
import { Crumb, Facts, Mono, PageHeader, Pending } from "../../shared/ui";
import { UseInJob } from "../datasets/use";
import { NotShared } from "../lost";
import { RenameVolume } from "./create";
import { VolumeFiles } from "./files";

/** The lists, and what is shown. */
const ALL = ["volumes", "volume"];
const AGAIN_MS = 15_000;

export function VolumePage(): ReactNode {
  const { t } = useTranslation();
  const { id } = useParams({ from: "/volumes/$id" });
  const search = useSearch({ from: "/volumes/$id" });
  const navigate = useNavigate({ from: "/volumes/$id" });
  const [renames, setRenames] = useState(false);
  const query = useQuery({
    queryKey: ["volume", id],
    queryFn: ({ signal }) => readVolume(id, signal),
    refetchInterval: AGAIN_MS,
  });
  if (query.error instanceof ApiError && query.error.status === 404) return <NotShared what="volume" id={id} />;
  if (!query.data) return <Pending query={query} rows={8} />;
  const volume = query.data;
  const writes = volume.may.includes("write");
  return (
    <div data-testid="volume-page">
      <Crumb>
        <Link to="/volumes">{t("volumes.title")}</Link>
      </Crumb>
      <PageHeader
        title={volume.name}
        sub={[volume.owner, volume.workspace].join(" · ")}
        actions={
          <>
            <AssetStar kind="volumes" of={volume} />
            <Sharing words="volumes" of={volume} change={shareVolume} />
            <UseInJob volume={volume.name} workspace={volume.workspace} />
            {writes && (
              <Button icon={<EditOutlined />} onClick={() => setRenames(true)} data-testid="volume-rename">
                {t("volumes.rename.ok")}
              </Button>
            )}
            {writes && <Remove of={volume} />}
          </>
        }
      />
      <Described
        words="volumes"
        text={volume.description}
        writes={writes}
        change={(text) => describeVolume(volume.id, text)}
        read={ALL}
      />
      <div className="tm-stack">
        <Known of={volume} />
        <LineagePanel kind="volume" at={volume.id} />
        <VolumeFiles
          volume={volume}
          writes={writes}
          at={search.path}
          go={(path) => void navigate({ search: { path } })}
        />
      </div>
      {renames && <RenameVolume of={volume} close={() => setRenames(false)} />}
    </div>
  );
}

/** How large it is, and which jobs mount it. */
function Known({ of }: { of: VolumeDetail }): ReactNode {
  const { t } = useTranslation();
  const facts: [string, ReactNode, "wide"?][] = [
    [t("volumes.onDisk"), bytes(of.size_bytes)],
    [t("volumes.entries"), number(of.files)],
    [t("volumes.changed"), <Ago key="c" at={of.changed_at} />],
    [t("volumes.created"), <Ago key="m" at={of.created_at} />],
  ];
  if (of.path !== null)
    facts.push([
      t("volumes.path"),
      <Mono key="p" copy={of.path}>
        {of.path}
      </Mono>,
      "wide",
    ]);
  return (
    <section className="tm-panel">
      <h2>{t("volumes.about")}</h2>
      <div className="tm-panel-body">
        <Facts columns={3} items={facts} />
        {of.jobs.length + of.more_jobs > 0 && (
          <p data-testid="volume-jobs">
            {t("volumes.jobs.mounted")}
            {of.jobs.map((job, i) => (
              <span key={job.id}>
                {i > 0 && t("mark.comma")}
                <Link to="/jobs/$id" params={{ id: job.id }} search={{}}>
                  {job.name}
                </Link>
                {job.writes && t("mark.aside", { text: t("volumes.jobs.writes") })}
              </span>
            ))}
            {of.more_jobs > 0 && ` ${t("volumes.jobs.more", { count: of.more_jobs })}`}
          </p>
        )}
      </div>
    </section>
  );
}

/** Deletes all of it, after a question that says what will happen. */
function Remove({ of }: { of: VolumeDetail }): ReactNode {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const navigate = useNavigate();
  const act = useAct(["volumes"]); // what is gone is not read again
  const remove = async (): Promise<void> => {
    const gone = await act(async () => {
      await deleteVolume(of.id);
      return t("volumes.delete.done", { name: of.name });
    });
    if (gone) void navigate({ to: "/volumes" });
  };
  const ask = (): void =>
    void modal.confirm({
      title: t("volumes.delete.title", { name: of.name }),
      icon: null,
      content: t("volumes.delete.what"),
      okText: t("action.delete"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: remove,
    });
  return (
    <Button
      danger
      icon={<DeleteOutlined />}
      onClick={ask}
      aria-label={t("volumes.delete.all")}
      title={t("volumes.delete.all")}
      data-testid="volume-delete"
    >
      {t("action.delete")}
    </Button>
  );
}
