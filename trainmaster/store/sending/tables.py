"""The tables of outputs on their way to object storage (store/sending/rows.py). See store/tables.py, which this is a
part of.
"""

from sqlalchemy import BigInteger, Column, Double, Index, Integer, Table, Text, text

from trainmaster.store.columns import BIG, META, TEXT

send_target = Table(  # a place that a folder of a job goes to
    "send_target",
    META,
    Column("job", BIG, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("job_id", TEXT, nullable=False),
    Column("workspace", TEXT, nullable=False),
    Column("place", TEXT, nullable=False),
    Column("folder", TEXT, nullable=False),
    Column("if_exists", TEXT, nullable=False),
    Column("empty", Integer, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("open", Integer, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("left_files", BigInteger, nullable=False),
    Column("left_bytes", BigInteger, nullable=False),
    Column("left_out", BigInteger, nullable=False),
    Column("said", Text, nullable=False),  # JSON, "": nothing
    Column("tries", Integer, nullable=False),
    Column("next_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
)
Index(  # those alone that there is something to do for
    "send_target_open",
    send_target.c.job,
    send_target.c.number,
    sqlite_where=text("open = 1"),
)

send_file = Table(  # a file of one of them, until all of them are there
    "send_file",
    META,
    Column("job", BIG, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("path", TEXT, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("ctime_ns", BigInteger, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("said", Text, nullable=False),
    sqlite_with_rowid=False,
)
