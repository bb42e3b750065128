"""What people keep under a name for jobs to use: assets with versions, and what is special to each kind."""
