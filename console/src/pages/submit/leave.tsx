/** The question before a form is left in which something was typed (D9): in the console as a dialog, at a reload as the browser's own. */
import { useBlocker } from "@tanstack/react-router";
import { Button, Modal } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

/** `typed` is asked at the moment of leaving: a form that was just submitted is left without a question. */
export function Leaving({ typed, discard }: { typed: () => boolean; discard: () => void }): ReactNode {
  const { t } = useTranslation();
  const blocked = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && typed(),
    enableBeforeUnload: typed,
    withResolver: true,
  });
  const leave = (keep: boolean): void => {
    if (!keep) discard();
    blocked.proceed?.();
  };
  return (
    <Modal
      open={blocked.status === "blocked"}
      title={t("submit.draft.title")}
      width={460}
      onCancel={() => blocked.reset?.()}
      footer={[
        <Button key="discard" danger type="text" onClick={() => leave(false)} data-testid="leave-discard">
          {t("submit.draft.discard")}
        </Button>,
        <Button key="stay" onClick={() => blocked.reset?.()} data-testid="leave-stay">
          {t("submit.draft.stay")}
        </Button>,
        <Button key="leave" type="primary" onClick={() => leave(true)} data-testid="leave">
          {t("submit.draft.leave")}
        </Button>,
      ]}
    >
      <p data-testid="leaving">{t("submit.draft.text")}</p>
    </Modal>
  );
}
