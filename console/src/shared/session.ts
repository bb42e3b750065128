/** Who is signed in, and what that allows. */
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/client";
import { readSession } from "../api/session";
import type { Session } from "../api/types";

export function useSession(): Session | null | undefined {
  return useQuery<Session | null>({ queryKey: ["session"], queryFn: sessionOrNone, staleTime: 300_000 }).data;
}

/** The same, asked again when it is shown: others decide what somebody is a member of. */
export function useFreshSession(): Session | null | undefined {
  return useQuery<Session | null>({ queryKey: ["session"], queryFn: sessionOrNone }).data;
}

/** R170: very urgent is for administrators. */
export function useAllowedPriority(): (priority: string) => boolean {
  const admin = useSession()?.user.role === "admin";
  return (priority) => admin || priority !== "very_urgent";
}

/** The session, or null where nobody is signed in. Raises what else goes wrong. */
export async function sessionOrNone(): Promise<Session | null> {
  try {
    return await readSession();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}
