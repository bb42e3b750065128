"""Backups of a home: made beside a server, restored where there is nothing yet; and an upgrade rehearsed on a copy."""
