"""Whether a cluster has all that jobs need, looked at before any is sent."""
