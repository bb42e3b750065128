"""What this engine says, by code."""
