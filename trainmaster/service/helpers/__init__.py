"""Processes beside the server that do what takes more than a moment, and how much of its time a request takes."""
