"""Sweeps: what was submitted together, and how its entries do, by which some are stopped early."""
