/** What a kind of notification is called, and its color. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { NOTICE_KINDS, type NoticeKind } from "../api/notices";
import { type Tone, Toned } from "./state";

const TONES: Partial<Record<NoticeKind, Tone>> = { failed: "red", webhook: "red", ended: "green" };

export function useNoticeName(): (kind: string) => string {
  const { t } = useTranslation();
  return (kind) => {
    const known = NOTICE_KINDS.find((one) => one === kind);
    return known ? t(`notices.kinds.${known}`) : kind === "test" ? t("notices.test") : kind;
  };
}

export function NoticeTag({ kind }: { kind: string }): ReactNode {
  const name = useNoticeName();
  return <Toned tone={TONES[kind as NoticeKind] ?? "amber"}>{name(kind)}</Toned>;
}
