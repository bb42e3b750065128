"""Benchmarks of the platform beside what a user would take instead, in turn, in one run. Never part of the tests."""
