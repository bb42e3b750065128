"""Routes about sweeps."""
