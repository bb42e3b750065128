/** Data sets: whose, how large, how shared; uploaded here, and taken into a job (R27, R28). */
import { CloudUploadOutlined, DatabaseOutlined } from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listDatasets } from "../../api/datasets";
import type { Dataset } from "../../api/types";
import { Listing } from "../../shared/listing";
import { SharedCell } from "../../shared/passing/cell";
import { placeOf } from "../../shared/passing/place";
import { PublishedList } from "../../shared/passing/published";
import { useSession } from "../../shared/session";
import { Ago } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { newestColumns } from "./columns";
import { UploadDataset } from "./upload";
import { UseInJob } from "./use";

export function DatasetsPage(): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [uploads, setUploads] = useState(false);
  return (
    <>
      <Listing<Dataset>
        words="datasets"
        read={listDatasets}
        icon={<DatabaseOutlined className="tm-empty-icon" />}
        columns={useColumns()}
        width={900}
        published={(q) => <PublishedList kind="dataset" q={q} />}
        actions={
          <Button
            type="primary"
            icon={<CloudUploadOutlined />}
            onClick={() => setUploads(true)}
            data-testid="dataset-upload"
          >
            {t("datasets.add")}
          </Button>
        }
      />
      {uploads && (
        <UploadDataset
          close={() => setUploads(false)}
          done={(made) => void navigate({ to: "/datasets/$id", params: { id: made.dataset }, search: {} })}
        />
      )}
    </>
  );
}

function useColumns(): TableColumnsType<Dataset> {
  const { t } = useTranslation();
  const user = useSession()?.user;
  return useMemo(
    () => [
      {
        title: t("datasets.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              <Link
                to="/datasets/$id"
                params={{ id: one.id }}
                search={{}}
                className="tm-name"
                data-testid="dataset-link"
              >
                {one.name}
              </Link>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      ...newestColumns<Dataset>(t),
      {
        title: t("datasets.owner"),
        key: "owner",
        width: 128,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("datasets.shared"),
        key: "shared",
        width: 112,
        render: (_, one) => <SharedCell kind="dataset" of={one} />,
      },
      {
        title: t("datasets.changed"),
        key: "changed",
        width: 132,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("datasets.use")}</span>,
        key: "use",
        width: 148,
        align: "end",
        render: (_, one) => {
          const { workspace, name } = placeOf(one, user);
          return one.latest > 0 && <UseInJob dataset={`${name}@${one.latest}`} workspace={workspace} size="small" />;
        },
      },
    ],
    [t, user],
  );
}
