/** What is done to a sweep: stopped, tried again, and deleted after a question that says what will happen. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { App } from "antd";
import { useTranslation } from "react-i18next";
import { deleteSweep, retrySweep, stopSweep } from "../../api/sweeps";
import type { SweepDetail } from "../../api/types";
import { freshKey } from "../../shared/fresh";
import { useErrorText } from "../../shared/ui";
import { allOf, endedOf } from "./bar";

interface Actions {
  stop: (sweep: SweepDetail) => void;
  retry: (sweep: SweepDetail) => void;
  remove: (sweep: SweepDetail) => void;
}

export function useSweepActions(): Actions {
  const { t } = useTranslation();
  const { modal, message } = App.useApp();
  const client = useQueryClient();
  const navigate = useNavigate();
  const errorText = useErrorText();
  const act = async (
    work: () => Promise<unknown>,
    done: string,
    read: readonly string[] = ["sweep", "sweeps", "jobs"],
  ): Promise<void> => {
    try {
      await work();
      message.success(done);
    } catch (error) {
      const { title, remedy } = errorText(error);
      message.error(`${title} ${remedy}`, 6);
      throw error;
    } finally {
      for (const key of read) void client.invalidateQueries({ queryKey: [key] });
    }
  };
  return {
    stop: (sweep) =>
      void modal.confirm({
        title: t("sweeps.stopAsk", { count: allOf(sweep.counts) - endedOf(sweep.counts) }),
        icon: null,
        okText: t("sweeps.stop"),
        okButtonProps: { danger: true },
        onOk: () => act(() => stopSweep(sweep.id), t("sweeps.stopped")).catch(() => undefined),
      }),
    retry: (sweep) => void act(() => retrySweep(sweep.id, freshKey()), t("sweeps.retried")).catch(() => undefined),
    remove: (sweep) =>
      void modal.confirm({
        title: t("sweeps.deleteAsk", { name: sweep.name }),
        icon: null,
        content: t("sweeps.deleteHint"),
        okText: t("sweeps.delete"),
        okButtonProps: { danger: true },
        onOk: () =>
          act(() => deleteSweep(sweep.id), t("sweeps.deleted", { name: sweep.name }), ["sweeps", "jobs"]).then(
            () => navigate({ to: "/sweeps" }), // nothing is asked about it any more
            () => undefined,
          ),
      }),
  };
}
