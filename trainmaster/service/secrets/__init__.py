"""Secrets of workspaces: how their values are kept. And how what answers carry is sealed."""
