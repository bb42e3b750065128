/** Sign out. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { signOut } from "../../api/session";

/** The pages go with the session, and what they knew of it. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await signOut();
    // The session itself stays in the cache: clearing it under this page would leave the page looking at the old one.
    client.setQueryData(["session"], null);
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== "session" });
    await navigate({ to: "/jobs", search: {} });
  };
}
