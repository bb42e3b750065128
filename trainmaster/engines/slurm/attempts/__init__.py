"""Attempts on a cluster: handed over, followed, taken out."""
