/** What the platform says of itself for forms and labels; it does not change while the page is open. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { readMeta } from "../api/cluster";
import type { Meta } from "../api/types";
import { useBilingual } from "../i18n";

export const useMetaQuery = (): UseQueryResult<Meta> =>
  useQuery({ queryKey: ["meta"], queryFn: readMeta, staleTime: Infinity });

export const useMeta = (): Meta | undefined => useMetaQuery().data;

/** A framework by its title; its code until the titles are known, and for one that is not known any more. */
export function useFrameworkTitle(): (kind: string) => string {
  const meta = useMeta();
  const pick = useBilingual();
  return useCallback((kind) => pick(meta?.frameworks.find((one) => one.kind === kind)?.title) || kind, [meta, pick]);
}
