"""Use cases on what people keep under a name for jobs to use."""
