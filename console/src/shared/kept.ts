/**
 * The last answer to a question that changes: what was on the page stays there until a newer answer comes, and what is the matter is
 * said until then. A query forgets both: a refused question has no data, and an error goes when it is asked again.
 */
import type { UseInfiniteQueryResult, UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";

export interface Kept<T> {
  data: T | undefined;
  dataUpdatedAt: number;
  error: unknown;
  refetch: () => unknown;
  /** `data` is the answer to an earlier question. */
  earlier: boolean;
}

export function useKept<T>(query: UseQueryResult<T> | UseInfiniteQueryResult<T>): Kept<T> {
  const { data, dataUpdatedAt, isPlaceholderData } = query;
  const fresh = data !== undefined && !isPlaceholderData;
  const trouble: unknown = query.error ?? query.failureReason;
  const [last, setLast] = useState<{ data: T; at: number }>();
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (fresh) setLast({ data, at: dataUpdatedAt });
  }, [fresh, data, dataUpdatedAt]);
  useEffect(() => {
    if (trouble) setError(trouble);
    else if (fresh) setError(null);
  }, [trouble, fresh]);
  return {
    data: data ?? last?.data,
    dataUpdatedAt: fresh ? dataUpdatedAt : (last?.at ?? dataUpdatedAt),
    error: trouble ?? (fresh ? null : error),
    refetch: query.refetch,
    earlier: !fresh,
  };
}
