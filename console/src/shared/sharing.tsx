/** With whom a thing that has a page is shared; who may decide it chooses here. */
import { Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { JobShare } from "../api/types";
import { useAct } from "./act";
import { SHARES } from "./people";

interface Props {
  /** Which part of the texts, and what is read again once it is changed. */
  words: "datasets" | "algorithms" | "volumes" | "images";
  of: { id: string; share: JobShare; may: readonly string[] };
  change: (id: string, share: JobShare) => Promise<unknown>;
}

export function Sharing({ words, of, change }: Props): ReactNode {
  const { t } = useTranslation();
  const one = words.slice(0, -1);
  const act = useAct([words, one]);
  const label = (level: JobShare): string =>
    level === "none"
      ? t(`${words}.sharing.none`)
      : t("listing.sharedAs", { what: t(`${words}.sharing.${level}`).toLowerCase() });
  if (!of.may.includes("share")) return <span title={t(`${words}.share.${of.share}`)}>{label(of.share)}</span>;
  return (
    <Select<JobShare>
      value={of.share}
      onChange={(level) =>
        void act(async () => {
          await change(of.id, level);
          return t(`${words}.share.changed`);
        })
      }
      aria-label={t(`${words}.shared`)}
      popupMatchSelectWidth={false}
      labelRender={({ value }) => label(value as JobShare)}
      options={SHARES.map((value) => ({ value, label: t(`${words}.share.${value}`) }))}
      data-testid={`${one}-sharing`}
    />
  );
}
