"""How much is kept for whom: what job folders and versions take on the disk, as rows."""
