"""Routes of what people keep for jobs to use."""
