/** The answers of the server that pages share, and how long one stands. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client";

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      // The server may be on this very machine or in a closed network: only asking tells whether it answers.
      networkMode: "always",
      refetchOnWindowFocus: true,
      // A refusal stays a refusal; only silence is worth asking again.
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < 3,
      retryDelay: (count) => Math.min(1000 * 1.5 ** count, 15_000),
    },
  },
});
