/** One image: its versions, the packages in them, who has it, how it is shared; a version is added or deleted here, or all of it. */
import { AppstoreAddOutlined } from "@ant-design/icons";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Alert, Button } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { deleteImage, deleteImageVersion, describeImage, readImage, shareImage } from "../../api/images";
import type { ImageDetail } from "../../api/types";
import { Described } from "../../shared/described";
import { Discard } from "../../shared/discard";
import { AssetStar } from "../../shared/favorite";
import { bytes } from "../../shared/format";
import { Beyond } from "../../shared/passing/beyond";
import { isTaken } from "../../shared/passing/cell";
import { Sharing } from "../../shared/sharing";
import { Ago } from "../../shared/time";
import { Crumb, PageHeader, Pending } from "../../shared/ui";
import { NotShared } from "../lost";
import { CreateImage } from "./create";
import { Version } from "./version";

export function ImagePage(): ReactNode {
  const { t } = useTranslation();
  const { id } = useParams({ from: "/images/$id" });
  const search = useSearch({ from: "/images/$id" });
  const navigate = useNavigate({ from: "/images/$id" });
  const [adds, setAdds] = useState(false);
  const query = useQuery({
    queryKey: ["image", id, search.version],
    queryFn: ({ signal }) => readImage(id, search.version, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  if (query.error instanceof ApiError && query.error.status === 404) return <NotShared what="image" id={id} />;
  if (!query.data) return <Pending query={query} rows={8} />;
  const image = query.data;
  const writes = image.may.includes("write");
  return (
    <div data-testid="image-page">
      <Crumb>
        <Link to="/images">{t("images.title")}</Link>
      </Crumb>
      <PageHeader
        title={image.name}
        sub={[image.owner, image.workspace].join(" · ")}
        actions={
          <>
            <AssetStar kind="images" of={image} />
            {!isTaken(image) && <Sharing words="images" of={image} change={shareImage} />}
            {writes && (
              <Button icon={<AppstoreAddOutlined />} onClick={() => setAdds(true)} data-testid="image-add">
                {t("images.addVersion")}
              </Button>
            )}
            {writes && <Remove of={image} />}
          </>
        }
      />
      <Described
        words="images"
        text={image.description}
        writes={writes}
        change={(text) => describeImage(image.id, text)}
        read={["images", "image"]}
      />
      <Beyond kind="image" of={image} />
      {!image.built && <Alert type="info" showIcon className="tm-outdated" title={t("images.notBuiltHint")} />}
      <div className="tm-model">
        <nav className="tm-panel tm-versions" aria-label={t("images.versions")}>
          {image.versions.map((one) => (
            <button
              key={one.version}
              type="button"
              className="tm-version"
              aria-current={one.version === image.shown}
              onClick={() => void navigate({ search: { version: one.version }, replace: true })}
              data-testid={`version-${one.version}`}
            >
              <b>{t("images.version", { n: one.version })}</b>
              <span className="tm-faint">
                <Ago at={one.at} />
              </span>
              <span className="tm-faint">
                {one.container ? t("images.container") : `Python ${one.python}`} · {bytes(one.size_bytes)}
              </span>
            </button>
          ))}
        </nav>
        <Version image={image} remove={image.may.includes("write") && <Remove of={image} version={image.shown} />} />
      </div>
      {adds && (
        <CreateImage
          to={image}
          close={() => setAdds(false)}
          done={(made) => void navigate({ to: "/images", search: { build: made.id } })}
        />
      )}
    </div>
  );
}

/** Puts all of it into the bin, or one version; not while a job needs it. With the only version all of it goes. */
function Remove({ of, version }: { of: ImageDetail; version?: number }): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const jobs = version === undefined ? of.jobs : of.used_by.filter((one) => one.version === version).length;
  const all = version === undefined || of.versions.length === 1;
  const after = async (): Promise<void> => {
    if (all) {
      void navigate({ to: "/images", search: {} });
      return;
    }
    await navigate({ to: "/images/$id", params: { id: of.id }, search: {}, replace: true });
    client.removeQueries({ queryKey: ["image", of.id, version] });
    void client.invalidateQueries({ queryKey: ["image", of.id] });
  };
  return (
    <Discard
      kind="image"
      name={of.name}
      version={version}
      refused={jobs > 0 ? t("images.inUse", { count: jobs }) : undefined}
      act={() => (version === undefined ? deleteImage(of.id) : deleteImageVersion(of.id, version))}
      read={["images"]}
      after={() => void after()}
    />
  );
}
