/** Volumes: whose, how large, how shared; made here, and taken into a job (R52). */
import { HddOutlined, PlusOutlined } from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Volume } from "../../api/types";
import { listVolumes } from "../../api/volumes";
import { bytes, number } from "../../shared/format";
import { Listing } from "../../shared/listing";
import { Ago } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { UseInJob } from "../datasets/use";
import { CreateVolume } from "./create";

export function VolumesPage(): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [creates, setCreates] = useState(false);
  return (
    <>
      <Listing<Volume>
        words="volumes"
        read={listVolumes}
        icon={<HddOutlined className="tm-empty-icon" />}
        columns={useColumns()}
        width={840}
        actions={
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreates(true)} data-testid="volume-create">
            {t("volumes.add")}
          </Button>
        }
      />
      {creates && (
        <CreateVolume
          close={() => setCreates(false)}
          done={(made) => void navigate({ to: "/volumes/$id", params: { id: made.id }, search: {} })}
        />
      )}
    </>
  );
}

function useColumns(): TableColumnsType<Volume> {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        title: t("volumes.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              <Link to="/volumes/$id" params={{ id: one.id }} search={{}} className="tm-name" data-testid="volume-link">
                {one.name}
              </Link>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      {
        title: t("volumes.onDisk"),
        key: "size",
        width: 128,
        align: "end",
        render: (_, one) => (
          <TwoLines
            first={<span className="tm-num">{bytes(one.size_bytes)}</span>}
            second={t("volumes.entryCount", { count: one.files, replace: { count: number(one.files) } })}
          />
        ),
      },
      {
        title: t("volumes.owner"),
        key: "owner",
        width: 128,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("volumes.shared"),
        key: "shared",
        width: 112,
        render: (_, one) => <span title={t(`volumes.share.${one.share}`)}>{t(`volumes.sharing.${one.share}`)}</span>,
      },
      {
        title: t("volumes.changed"),
        key: "changed",
        width: 132,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("datasets.use")}</span>,
        key: "use",
        width: 148,
        align: "end",
        render: (_, one) => <UseInJob volume={one.name} workspace={one.workspace} size="small" />,
      },
    ],
    [t],
  );
}
