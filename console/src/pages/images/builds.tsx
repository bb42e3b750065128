/** Builds that go on, and those that failed lately, above the list of images. */
import { useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listBuilds } from "../../api/images";
import type { ImageBuild } from "../../api/types";
import { useBilingual } from "../../i18n";
import { DataTable } from "../../shared/table";
import { Ago, useNow } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { hasEnded, toneOfBuild, worthShowing } from "./states";

const SOON_MS = 2000;
const LATER_MS = 30_000;

export function Builds({ open }: { open: (id: string) => void }): ReactNode {
  const { t } = useTranslation();
  const pick = useBilingual();
  const now = useNow();
  const query = useQuery({
    queryKey: ["image-builds"],
    queryFn: ({ signal }) => listBuilds(signal),
    refetchInterval: ({ state }) => (state.data?.items.some((one) => !hasEnded(one)) ? SOON_MS : LATER_MS),
  });
  const shown = worthShowing(query.data?.items ?? [], now);
  if (shown.length === 0) return null;
  return (
    <section className="tm-panel tm-table tm-builds" data-testid="builds">
      <h2>{t("images.build.all")}</h2>
      <DataTable<ImageBuild>
        rowKey="id"
        size="small"
        showHeader={false}
        pagination={false}
        tableLayout="fixed"
        scroll={{ x: 560 }}
        dataSource={shown}
        columns={[
          {
            key: "name",
            width: 200,
            render: (_, one) => <TwoLines first={one.name} second={one.owner} />,
          },
          {
            key: "state",
            className: "tm-row-below",
            render: (_, one) => (
              <div className="tm-cell">
                <span>
                  <span className={`tm-state tm-tone-${toneOfBuild(one.state)}`}>
                    {t(`images.build.states.${one.state}`)}
                  </span>
                </span>
                <span className="tm-line tm-build-why">
                  {one.state === "failed"
                    ? pick(one.error)
                    : one.packages > 0
                      ? t("images.packageCount", { count: one.packages })
                      : ""}
                </span>
              </div>
            ),
          },
          { key: "began", width: 132, className: "tm-row-below", render: (_, one) => <Ago at={one.started_at} /> },
          {
            key: "open",
            width: 96,
            align: "end",
            render: (_, one) => (
              <Button
                size="small"
                onClick={() => open(one.id)}
                aria-label={t("images.build.open", { name: one.name })}
                data-testid="build-open"
              >
                {t("images.build.log")}
              </Button>
            ),
          },
        ]}
      />
    </section>
  );
}
