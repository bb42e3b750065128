/** The button below a list that has another page. */
import type { InfiniteData } from "@tanstack/react-query";
import { Button } from "antd";
import { type ReactNode, useEffect, useState } from "react";

interface Paged {
  data: InfiniteData<unknown> | undefined;
  hasNextPage: boolean;
  isFetching: boolean;
  isError: boolean;
  isPlaceholderData: boolean;
  fetchNextPage: () => unknown;
}

/**
 * Asks for the next page until it is there: whatever reads the list anew meanwhile, such as the change of a job, cancels
 * the request for a page. Nothing where there is none.
 */
export function LoadMore(props: { query: Paged; testid?: string; className?: string; children: ReactNode }) {
  const { data, hasNextPage, isFetching, isError, isPlaceholderData, fetchNextPage } = props.query;
  const [wanted, want] = useState(0);
  const pages = data?.pages.length ?? 0;
  const missing = wanted > pages && hasNextPage && !isError;
  useEffect(() => {
    if (pages >= wanted || isPlaceholderData)
      want(0); // there, or the list is another one now
    else if (missing && !isFetching) void fetchNextPage();
  }, [pages, wanted, missing, isFetching, isPlaceholderData, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <Button className={props.className} loading={missing} onClick={() => want(pages + 1)} data-testid={props.testid}>
      {props.children}
    </Button>
  );
}
