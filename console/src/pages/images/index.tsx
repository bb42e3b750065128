/** Images: what is in them, whose, how large, who uses them; built here, and looked on while they are (R25, R68). */
import { AppstoreAddOutlined, AppstoreOutlined } from "@ant-design/icons";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listImages } from "../../api/images";
import type { Image } from "../../api/types";
import { bytes, number } from "../../shared/format";
import { Listing } from "../../shared/listing";
import { SharedCell } from "../../shared/passing/cell";
import { placeOf } from "../../shared/passing/place";
import { PublishedList } from "../../shared/passing/published";
import { useSession } from "../../shared/session";
import { Ago } from "../../shared/time";
import { Hinted, Nothing, TwoLines } from "../../shared/ui";
import { BuildDrawer } from "./build";
import { Builds } from "./builds";
import { CreateImage } from "./create";
import { UseImage } from "./use";

export function ImagesPage(): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/images" });
  const { build } = useSearch({ from: "/images" });
  const [creates, setCreates] = useState(false);
  const show = (id: string | undefined): void => void navigate({ search: { build: id }, replace: id === undefined });
  return (
    <>
      <Listing<Image>
        words="images"
        read={listImages}
        icon={<AppstoreOutlined className="tm-empty-icon" />}
        columns={useColumns()}
        width={976}
        published={(q) => <PublishedList kind="image" q={q} />}
        above={<Builds open={show} />}
        actions={
          <Button
            type="primary"
            icon={<AppstoreAddOutlined />}
            onClick={() => setCreates(true)}
            data-testid="image-create"
          >
            {t("images.add")}
          </Button>
        }
      />
      {creates && <CreateImage close={() => setCreates(false)} done={(made) => show(made.id)} />}
      {build !== undefined && <BuildDrawer key={build} id={build} close={() => show(undefined)} />}
    </>
  );
}

function useColumns(): TableColumnsType<Image> {
  const { t } = useTranslation();
  const user = useSession()?.user;
  return useMemo(
    () => [
      {
        title: t("images.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              <Link to="/images/$id" params={{ id: one.id }} search={{}} className="tm-name" data-testid="image-link">
                {one.name}
              </Link>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      {
        title: t("images.latest"),
        key: "latest",
        width: 128,
        render: (_, one) => (
          <TwoLines
            first={t("images.version", { n: one.version })}
            second={one.container ? t("images.container") : `Python ${one.python}`}
          />
        ),
      },
      {
        title: t("images.size"),
        key: "size",
        width: 112,
        align: "end",
        render: (_, one) => (
          <TwoLines
            first={<span className="tm-num">{bytes(one.size_bytes)}</span>}
            second={
              one.container
                ? ""
                : t("images.packageCount", { count: one.packages, replace: { count: number(one.packages) } })
            }
          />
        ),
      },
      {
        title: t("images.used"),
        key: "used",
        width: 108,
        render: (_, one) =>
          one.jobs > 0 ? (
            t("images.jobs", { count: one.jobs })
          ) : one.built ? (
            <Nothing />
          ) : (
            <Hinted hint={t("images.notBuiltHint")} className="tm-faint">
              {t("images.notBuilt")}
            </Hinted>
          ),
      },
      {
        title: t("images.owner"),
        key: "owner",
        width: 112,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("images.shared"),
        key: "shared",
        width: 104,
        render: (_, one) => <SharedCell kind="image" of={one} />,
      },
      {
        title: t("images.changed"),
        key: "changed",
        width: 116,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("images.use")}</span>,
        key: "use",
        width: 148,
        align: "end",
        render: (_, one) => {
          const { workspace, name } = placeOf(one, user);
          return <UseImage image={`${name}@${one.version}`} workspace={workspace} />;
        },
      },
    ],
    [t, user],
  );
}
