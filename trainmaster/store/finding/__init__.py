"""By what jobs are found: pieces of what was written of them, and the index of these. The ledger keeps it."""
