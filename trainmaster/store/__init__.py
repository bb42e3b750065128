"""Floor 2: what the platform remembers. SQLite by default, PostgreSQL by configuration; one writer, many readers.

Read in this order: tables, rows, writer, database, ledger, read_jobs; people and assets (models first) stand beside
them. Imports core only. Invariant: nothing is answered before it is durable, and `fold(reduce, events) == rows` for
every job.
"""
