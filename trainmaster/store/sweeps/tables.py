"""The tables of sweeps. Their entries are jobs: see store/tables.py, which this is a part of."""

from sqlalchemy import Column, Double, Index, Integer, Table, Text

from trainmaster.store.columns import BIG, META, TEXT

sweep = Table(  # written with its first entries, and never changed
    "sweep",
    META,
    Column("id", TEXT, primary_key=True),
    Column("name", TEXT, nullable=False),
    Column("workspace", TEXT, nullable=False),
    Column("owner", TEXT, nullable=False),
    Column("share", TEXT, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("metric", TEXT, nullable=False),  # what entries are judged by, "": nothing
    Column("goal", TEXT, nullable=False),  # min | max | ""
    Column("document", Text, nullable=False),  # as it was submitted, with the seed that was drawn
    Index("sweep_by_time", "created_at", "id"),
    Index("sweep_by_owner", "owner", "created_at", "id"),
    Index("sweep_in_workspace", "workspace", "created_at", "id"),
    Index("sweep_by_name", "name"),
)

sweep_mark = Table(  # how an entry did: see store/sweeps/marks.py
    "sweep_mark",
    META,
    Column("sweep", TEXT, primary_key=True),
    Column("job", BIG, primary_key=True, autoincrement=False),
    Column("rung", Integer, primary_key=True, autoincrement=False),
    Column("step", Double, nullable=False),
    Column("best", Double),
    Column("mean", Double),
    Column("final", Integer, nullable=False),
    Index("sweep_mark_of_job", "job"),
    sqlite_with_rowid=False,
)
