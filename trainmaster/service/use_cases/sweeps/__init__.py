"""Use cases on sweeps: many jobs of one document, submitted, looked at, stopped and tried again together."""
