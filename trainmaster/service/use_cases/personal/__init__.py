"""What one person is shown first: their home, and what stands on it."""
