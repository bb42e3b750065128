/** What a kind of notification is called, and its color. */
import { Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { NOTICE_KINDS, type NoticeKind } from "../api/notices";

const COLORS: Partial<Record<NoticeKind, string>> = {
  failed: "error",
  waits: "warning",
  preempted: "warning",
  idle: "warning",
  limit: "warning",
  budget: "gold",
  webhook: "error",
  ended: "success",
};

export function useNoticeName(): (kind: string) => string {
  const { t } = useTranslation();
  return (kind) => {
    const known = NOTICE_KINDS.find((one) => one === kind);
    return known ? t(`notices.kinds.${known}`) : kind === "test" ? t("notices.test") : kind;
  };
}

export function NoticeTag({ kind }: { kind: string }): ReactNode {
  const name = useNoticeName();
  return (
    <Tag className="tm-tag" color={COLORS[kind as NoticeKind]}>
      {name(kind)}
    </Tag>
  );
}
