"""Money as rows: what was used and what it cost, credits, corrections, and the alarms of budgets."""
