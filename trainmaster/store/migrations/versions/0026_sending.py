"""Schema 26: outputs on their way to object storage."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, text

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    number = BigInteger().with_variant(Integer(), "sqlite")
    name = Text().with_variant(String(collation="C"), "postgresql")
    numbers = ("files", "size_bytes", "left_files", "left_bytes", "left_out")
    op.create_table(
        "send_target",
        Column("job", number, primary_key=True, autoincrement=False),
        Column("number", Integer, primary_key=True, autoincrement=False),
        *(Column(one, name, nullable=False) for one in ("job_id", "workspace", "place", "folder", "if_exists")),
        Column("empty", Integer, nullable=False),
        Column("state", name, nullable=False),
        Column("open", Integer, nullable=False),
        *(Column(one, BigInteger, nullable=False) for one in numbers),
        Column("said", Text, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("next_at", Double, nullable=False),
        Column("changed_at", Double, nullable=False),
    )
    is_open = text("open = 1")
    op.create_index(
        "send_target_open", "send_target", ["job", "number"], sqlite_where=is_open, postgresql_where=is_open
    )
    op.create_table(
        "send_file",
        Column("job", number, primary_key=True, autoincrement=False),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("path", name, primary_key=True),
        *(Column(one, BigInteger, nullable=False) for one in ("size", "mtime_ns", "ctime_ns")),
        Column("state", name, nullable=False),
        Column("said", Text, nullable=False),
        sqlite_with_rowid=False,
    )
