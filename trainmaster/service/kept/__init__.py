"""How much is kept for whom, and whether there may be more: storage quotas."""
