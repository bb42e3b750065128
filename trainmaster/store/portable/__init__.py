"""A database as rows that any database can take: read whole at one moment, and made again elsewhere."""
