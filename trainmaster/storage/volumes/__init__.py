"""Volumes on the disk: folders that jobs and people change, file by file."""
