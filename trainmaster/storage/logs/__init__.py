"""Logs of tasks: windows, search, metrics in them, following."""
