"""What is done to people: accounts, and members of workspaces."""
