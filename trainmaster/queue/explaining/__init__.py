"""Why a job waits, and what would let it start sooner."""
