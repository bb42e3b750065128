/** The engines, as they tell of themselves: what each is called and can do. The console knows no kind of engine by name. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { listEngines } from "../api/cluster";
import type { Engine, Job } from "../api/types";

const REFRESH_MS = 15_000;
const KNOWN_MS = 60_000;

/** `live`: whether they answer is shown, so they are asked again and again. */
export function useEngines(live = false): UseQueryResult<{ items: Engine[] }> {
  return useQuery({
    queryKey: ["engines"],
    queryFn: listEngines,
    staleTime: live ? 0 : KNOWN_MS,
    refetchInterval: live ? REFRESH_MS : false,
  });
}

/** The engine that a pool lives on; undefined until the engines have told. */
export function useEngineOf(): (pool: string) => Engine | undefined {
  const items = useEngines().data?.items;
  return useCallback((pool) => items?.find((one) => one.pools.includes(pool)), [items]);
}

/** Whether a job's priority still decides something: while it is queued, here or in a queue of the engine that can be told. */
export function useRanks(): (job: Pick<Job, "state" | "pool">) => boolean {
  const engineOf = useEngineOf();
  return ({ state, pool }) => state === "queued" || (state === "pending" && engineOf(pool)?.can.adjusts === true);
}

/** Whether what waits in the engine's own queue or runs there keeps the limit and the priority with which it was handed over. Pure. */
export const keepsWhatItWasTold = ({ can }: Pick<Engine, "can">): boolean => can.owns_queue && !can.adjusts;

const OF_A_QUEUE = ["estimates", "adjusts"] as const;
const OF_ALL = ["attaches", "measures"] as const;
export type Ability = (typeof OF_A_QUEUE | typeof OF_ALL)[number];

/** What an engine does and what it lacks, in the order in which people ask. Where the platform keeps the queue, that foresees and changes. Pure. */
export function abilitiesOf({ can }: Pick<Engine, "can">): {
  does: (Ability | "owns_queue" | "queue")[];
  lacks: Ability[];
} {
  const asked: Ability[] = can.owns_queue ? [...OF_A_QUEUE, ...OF_ALL] : [...OF_ALL];
  return {
    does: [can.owns_queue ? "owns_queue" : "queue", ...asked.filter((one) => can[one])],
    lacks: asked.filter((one) => !can[one]),
  };
}
