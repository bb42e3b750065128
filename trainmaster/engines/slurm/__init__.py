"""A Slurm cluster as an engine: one batch job for each attempt, an agent on each of its nodes."""
