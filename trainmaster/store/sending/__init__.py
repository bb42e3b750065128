"""Outputs on their way to object storage, as rows."""
