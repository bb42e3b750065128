"""What running tasks use and write."""
