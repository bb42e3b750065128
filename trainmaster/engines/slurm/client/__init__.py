"""Talking to Slurm: its programs and its REST service, and what they say as records."""
