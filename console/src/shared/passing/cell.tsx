/** The cell of a list that tells how something is shared, or through which workspaces its reader has it. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { PassedKind } from "../../api/passing";
import type { JobShare, TakenName } from "../../api/types";
import { TwoLines } from "../ui";

interface Props {
  kind: PassedKind;
  of: { share: JobShare; may: readonly string[]; taken: TakenName[] };
}

/** Whether somebody has something only through a workspace that subscribes: how it is shared elsewhere is nothing to them. */
export const isTaken = (of: Props["of"]): boolean => of.taken.length > 0 && !of.may.includes("share");

export function SharedCell({ kind, of }: Props): ReactNode {
  const { t } = useTranslation();
  if (isTaken(of))
    return <TwoLines first={t("passing.subscribed")} second={of.taken.map((one) => one.workspace).join(", ")} />;
  return <span title={t(`${kind}s.share.${of.share}`)}>{t(`${kind}s.sharing.${of.share}`)}</span>;
}
