"""What one person is shown first."""
