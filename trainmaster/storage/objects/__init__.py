"""Object storage (S3): where we connect to, what is asked there, and what was fetched of it."""
