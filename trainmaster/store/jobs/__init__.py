"""Jobs, attempts, tasks and events as rows: the only way they change, and how they are read."""
