"""Sweeps: many jobs of one document. See `sweep`."""
