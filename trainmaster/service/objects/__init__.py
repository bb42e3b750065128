"""Object storage: connections of workspaces, and what jobs were given of it."""
