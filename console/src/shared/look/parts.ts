/**
 * A file read from its beginning, as far as somebody looks. A part is asked by its bytes, so a look at the first lines of
 * a file of any size costs these lines; who closes it ends what is on its way.
 */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Part } from "../../api/client";
import type { FileItem } from "../../api/types";
import { FIRST, isBinary, MORE, MOST_SHOWN } from "./kinds";

export type Read = (path: string, signal?: AbortSignal, part?: Part) => Promise<Blob>;

export interface Beginning {
  /** Undefined: not there yet. */
  text: string | undefined;
  binary: boolean;
  /** Whether the text ends where the file does. */
  whole: boolean;
  bytes: number;
  /** Reads more; undefined: there is no more, or no more is shown. */
  more: (() => void) | undefined;
  reads: boolean;
  query: { error: unknown; refetch: () => unknown };
}

const ends = (size: number): number => Math.min(size, MOST_SHOWN);

export function useBeginning(item: FileItem, id: readonly unknown[], read: Read): Beginning {
  const query = useInfiniteQuery({
    queryKey: ["beginning", ...id, item.path, item.modified_at, item.size],
    initialPageParam: 0,
    queryFn: async ({ pageParam: start, signal }) => {
      if (item.size === 0) return new Uint8Array();
      const end = Math.min(ends(item.size), start + (start === 0 ? FIRST : MORE));
      const got = new Uint8Array(await (await read(item.path, signal, { start, end })).arrayBuffer());
      return got.length > end - start ? got.subarray(0, end - start) : got;
    },
    getNextPageParam: (last, pages) => {
      const have = pages.reduce((sum, page) => sum + page.length, 0);
      return last.length > 0 && have < ends(item.size) ? have : undefined;
    },
    gcTime: 0,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const pages = query.data?.pages;
  const beginning = useMemo(() => joined(pages), [pages]);
  return {
    ...beginning,
    whole: beginning.bytes >= item.size || pages?.at(-1)?.length === 0,
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
    reads: query.isFetchingNextPage,
    query,
  };
}

/** Bytes as a text; a character that a part cuts in two is left for the next. */
export function joined(pages: Uint8Array[] | undefined): { text: string | undefined; binary: boolean; bytes: number } {
  if (pages === undefined) return { text: undefined, binary: false, bytes: 0 };
  const decoder = new TextDecoder();
  return {
    text: pages.map((page) => decoder.decode(page, { stream: true })).join(""),
    binary: isBinary(pages[0] ?? new Uint8Array()),
    bytes: pages.reduce((sum, page) => sum + page.length, 0),
  };
}
