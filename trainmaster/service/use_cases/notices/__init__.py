"""What people ask and decide of notifications."""
