"""Who is who, as rows: accounts with their sessions and tokens, and members of workspaces."""
