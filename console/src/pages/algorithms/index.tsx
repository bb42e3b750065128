/** The list of algorithms: one's own and those that are shared; here one is created (R23, R150, R151). */
import { FunctionOutlined, PlusOutlined } from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, type TableColumnsType, Tag } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listAlgorithms } from "../../api/algorithms";
import type { Algorithm } from "../../api/types";
import { Listing } from "../../shared/listing";
import { useFrameworkTitle } from "../../shared/meta";
import { SharedCell } from "../../shared/passing/cell";
import { placeOf } from "../../shared/passing/place";
import { PublishedList } from "../../shared/passing/published";
import { useSession } from "../../shared/session";
import { Ago } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { CreateAlgorithm } from "./create";
import { RunInJob } from "./use";

export function AlgorithmsPage(): ReactNode {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [creates, setCreates] = useState(false);
  return (
    <>
      <Listing<Algorithm>
        words="algorithms"
        read={listAlgorithms}
        icon={<FunctionOutlined className="tm-empty-icon" />}
        columns={useColumns()}
        width={900}
        published={(q) => <PublishedList kind="algorithm" q={q} />}
        actions={
          <Button
            type="primary"
            icon={<PlusOutlined />}
            onClick={() => setCreates(true)}
            data-testid="algorithm-create"
          >
            {t("algorithms.add")}
          </Button>
        }
      />
      {creates && (
        <CreateAlgorithm
          close={() => setCreates(false)}
          done={(made) => void navigate({ to: "/algorithms/$id", params: { id: made.id }, search: {} })}
        />
      )}
    </>
  );
}

function useColumns(): TableColumnsType<Algorithm> {
  const { t } = useTranslation();
  const launcher = useFrameworkTitle();
  const user = useSession()?.user;
  return useMemo(
    () => [
      {
        title: t("algorithms.name"),
        key: "name",
        render: (_, one) => (
          <TwoLines
            first={
              <>
                <Link
                  to="/algorithms/$id"
                  params={{ id: one.id }}
                  search={{}}
                  className="tm-name"
                  data-testid="algorithm-link"
                >
                  {one.name}
                </Link>{" "}
                {one.preset && <Tag className="tm-tag">{t("algorithms.preset")}</Tag>}
              </>
            }
            second={one.description || one.workspace}
          />
        ),
      },
      {
        title: t("algorithms.latest"),
        key: "latest",
        width: 136,
        render: (_, one) =>
          one.latest > 0 ? t("algorithms.version", { n: one.latest }) : <span className="tm-faint">–</span>,
      },
      {
        title: t("algorithms.framework"),
        key: "framework",
        width: 128,
        render: (_, one) => (one.framework ? launcher(one.framework) : <span className="tm-faint">–</span>),
      },
      {
        title: t("algorithms.owner"),
        key: "owner",
        width: 128,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("algorithms.shared"),
        key: "shared",
        width: 112,
        render: (_, one) => <SharedCell kind="algorithm" of={one} />,
      },
      {
        title: t("algorithms.changed"),
        key: "changed",
        width: 132,
        render: (_, one) => <Ago at={one.changed_at} />,
      },
      {
        title: <span className="tm-hidden">{t("algorithms.use")}</span>,
        key: "use",
        width: 148,
        align: "end",
        render: (_, one) => {
          const { workspace, name } = placeOf(one, user);
          return one.latest > 0 && <RunInJob algorithm={`${name}@${one.latest}`} workspace={workspace} size="small" />;
        },
      },
    ],
    [t, launcher, user],
  );
}
