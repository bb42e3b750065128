/** What is free in each pool that one may use: cards by model, cores, memory. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { FreePool } from "../../api/types";
import { mib, number } from "../../shared/format";
import { Bar } from "../../shared/ui";
import { Part } from "./jobs";

const rounded = (value: number): string => number(Math.round(value * 100) / 100);

export function Free({ pools }: { pools: FreePool[] }): ReactNode {
  const { t } = useTranslation();
  return (
    <Part title={t("home.free")} test="home-free" none={pools.length === 0 && t("home.noPool")}>
      {pools.map((pool) => (
        <li key={pool.pool} className="tm-home-pool" data-testid={`home-pool-${pool.pool}`}>
          <div className="tm-home-pool-head">
            <b className="tm-break">{pool.pool}</b>
            <span className="tm-line">
              {t("home.nodes", { count: pool.nodes })} · {t("home.queued", { n: pool.waiting })}
            </span>
          </div>
          {pool.nodes > 0 && <Rooms pool={pool} />}
        </li>
      ))}
    </Part>
  );
}

/** A pool without nodes has nothing of which something could be free. */
function Rooms({ pool }: { pool: FreePool }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      {pool.cards.map((one) => (
        <Bar
          key={one.model}
          used={one.total - one.free}
          total={one.total}
          label={one.model}
          text={`${t("home.cards", { free: rounded(one.free), total: one.total, model: "" }).replace(/\s+/g, " ")}${
            one.most > 0 && one.most < one.free ? ` · ${t("home.most", { n: one.most })}` : ""
          }`}
          tone="violet"
        />
      ))}
      <Bar
        used={pool.cpu - pool.cpu_free}
        total={pool.cpu}
        label="CPU"
        text={t("home.cores", { free: rounded(pool.cpu_free), total: rounded(pool.cpu), count: pool.cpu })}
      />
      <Bar
        used={pool.memory_mib - pool.memory_free_mib}
        total={pool.memory_mib}
        label={t("admin.limits.names.memory_mib")}
        text={t("home.memory", { free: mib(pool.memory_free_mib), total: mib(pool.memory_mib) })}
      />
    </>
  );
}
