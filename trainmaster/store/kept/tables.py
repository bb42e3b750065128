"""What is known of the room that things take: rows beside those of jobs and of versions, written once it was measured.
See store/tables.py, which this is a part of.
"""

from sqlalchemy import BigInteger, Column, Integer, Table

from trainmaster.store.columns import BIG, META, TEXT

kept_job = Table(  # the folder of a job that ended
    "kept_job",
    META,
    Column("job", BIG, primary_key=True, autoincrement=False),
    Column("bytes", BigInteger, nullable=False),
    Column("files", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

kept_version = Table(  # a version of a model or a data set; of the latter what the versions before did not have
    "kept_version",
    META,
    Column("asset", TEXT, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("files", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
