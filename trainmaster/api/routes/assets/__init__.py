"""Routes about what people keep under a name for jobs to use."""
