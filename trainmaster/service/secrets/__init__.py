"""Secrets of workspaces: how their values are kept."""
