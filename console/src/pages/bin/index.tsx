/** What was deleted: restored, or deleted for good. */
import { DeleteOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { App, Button, type TableColumnsType } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listBin, removeBinned, restoreBinned } from "../../api/bin";
import { ApiError } from "../../api/client";
import type { Binned } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useAct } from "../../shared/act";
import { bytes } from "../../shared/format";
import { Listing } from "../../shared/listing";
import { Ago, Stamp } from "../../shared/time";
import { TwoLines } from "../../shared/ui";
import { RestoreAs } from "./restore";

const MOST = 500;
/** What shows that something is back. */
const ALL = ["bin", "datasets", "algorithms", "images", "models", "templates", "volumes"];

export function BinPage(): ReactNode {
  const { t } = useTranslation();
  const [taken, setTaken] = useState<Binned>();
  const query = useQuery({
    queryKey: ["bin", "keeps"],
    queryFn: ({ signal }) => listBin({ limit: 1 }, signal),
    staleTime: 60_000,
  });
  const days = query.data?.keeps_s === null ? undefined : (query.data?.keeps_s ?? 0) / 86_400;
  return (
    <>
      <Listing<Binned>
        words="bin"
        read={listBin}
        icon={<DeleteOutlined className="tm-empty-icon" />}
        columns={useColumns(setTaken)}
        width={980}
        actions={(query.data?.total ?? 0) > 0 && <EmptyButton />}
        above={
          query.data && (
            <p className="tm-faint" data-testid="bin-keeps">
              {days === undefined
                ? t("bin.keepsEver")
                : t("bin.keeps", { count: days, replace: { count: Number(days.toFixed(1)) } })}
            </p>
          )
        }
      />
      {taken && <RestoreAs of={taken} read={ALL} close={() => setTaken(undefined)} />}
    </>
  );
}

function useColumns(taken: (one: Binned) => void): TableColumnsType<Binned> {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        title: t("bin.name"),
        key: "name",
        width: 220,
        render: (_, one) => <TwoLines first={<b>{one.name}</b>} second={<What of={one} />} />,
      },
      {
        title: t("bin.size"),
        key: "size",
        width: 104,
        align: "end",
        render: (_, one) => <span className="tm-num">{bytes(one.size_bytes)}</span>,
      },
      {
        title: t("bin.owner"),
        key: "owner",
        width: 128,
        render: (_, one) => <TwoLines first={one.owner} second={one.workspace} />,
      },
      {
        title: t("bin.deleted"),
        key: "at",
        width: 148,
        render: (_, one) => <TwoLines first={<Ago at={one.at} />} second={t("bin.by", { name: one.by })} />,
      },
      {
        title: t("bin.until"),
        key: "until",
        width: 132,
        render: (_, one) => (one.until === null ? t("bin.ever") : <Stamp at={one.until} />),
      },
      {
        title: <span className="tm-hidden">{t("bin.actions")}</span>,
        key: "actions",
        width: 196,
        align: "end",
        render: (_, one) => <Actions of={one} taken={taken} />,
      },
    ],
    [t, taken],
  );
}

function What({ of }: { of: Binned }): ReactNode {
  const { t } = useTranslation();
  const versions =
    of.version === null ? t("bin.versions", { count: of.versions }) : t("bin.version", { n: of.version });
  return (
    <>
      {t(`bin.kinds.${of.kind}`)}
      {of.kind === "volume" ? "" : ` · ${versions}`}
    </>
  );
}

function Actions({ of, taken }: { of: Binned; taken: (one: Binned) => void }): ReactNode {
  const { t } = useTranslation();
  const act = useAct(ALL);
  const [busy, setBusy] = useState(false);
  const restore = async (): Promise<void> => {
    setBusy(true);
    try {
      const back = await restoreBinned(of.id);
      await act(() => Promise.resolve(t("bin.restored", { name: back.name })));
    } catch (error) {
      if (error instanceof ApiError && error.code === "name_taken_meanwhile") taken(of);
      else await act(() => Promise.reject(error));
    }
    setBusy(false);
  };
  return (
    <span className="tm-nowrap">
      <Button
        size="small"
        loading={busy}
        onClick={() => void restore()}
        aria-label={t("bin.restoreOne", { name: of.name })}
        data-testid={`restore-${of.name}`}
      >
        {t("bin.restore")}
      </Button>{" "}
      <RemoveButton of={of} />
    </span>
  );
}

function RemoveButton({ of }: { of: Binned }): ReactNode {
  const { t } = useTranslation();
  const ask = useRemoval();
  const label = t("bin.remove.one", { name: of.name });
  return (
    <Button
      size="small"
      danger
      icon={<DeleteOutlined />}
      onClick={() => ask(t("bin.remove.title", { name: of.name }), async () => [of.id])}
      aria-label={label}
      title={label}
      data-testid={`remove-${of.name}`}
    />
  );
}

/** Deletes for good all that is one's own. */
function EmptyButton(): ReactNode {
  const { t } = useTranslation();
  const ask = useRemoval();
  const mine = async (): Promise<string[]> => (await listBin({ mine: true, limit: MOST })).items.map((one) => one.id);
  return (
    <Button
      danger
      icon={<DeleteOutlined />}
      onClick={() => ask(t("bin.remove.allTitle"), mine)}
      data-testid="bin-empty"
    >
      {t("bin.remove.all")}
    </Button>
  );
}

function useRemoval(): (title: string, ids: () => Promise<string[]>) => void {
  const { t } = useTranslation();
  const { modal } = App.useApp();
  const act = useAct(["bin"]);
  const pick = useBilingual();
  return (title, ids) =>
    void modal.confirm({
      title,
      icon: null,
      content: t("bin.remove.what"),
      okText: t("bin.remove.ok"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: async () => {
        await act(async () => {
          const { done, refused } = await removeBinned(await ids());
          if (refused[0]) throw new Error(pick(refused[0].title));
          return t("bin.remove.done", { count: done.length });
        });
      },
    });
}
