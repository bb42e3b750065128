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
  if (!of.may.includes("share"))
    return <span title={t(`${words}.share.${of.share}`)}>{t(`${words}.sharing.${of.share}`)}</span>;
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
      labelRender={({ value }) => t(`${words}.sharing.${value as JobShare}`)}
      options={SHARES.map((value) => ({ value, label: t(`${words}.share.${value}`) }))}
      data-testid={`${one}-sharing`}
    />
  );
}
