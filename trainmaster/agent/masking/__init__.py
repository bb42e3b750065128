"""Keeps the values of secrets out of what tasks print, and brings them to the tasks."""
