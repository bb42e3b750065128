"""Schema 23: sweeps, whose entries are jobs that know it, and how those do."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, text

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, and the columns by which a job knows its sweep: no job has one so far."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    number = BigInteger().with_variant(Integer(), "sqlite")
    op.add_column("job", Column("sweep", name))
    op.add_column("job", Column("sweep_index", Integer, nullable=False, server_default="0"))
    there = text("sweep IS NOT NULL")
    columns = ["sweep", "seq", "sweep_index"]
    op.create_index("job_of_sweep", "job", columns, sqlite_where=there, postgresql_where=there)
    op.create_table(
        "sweep",
        Column("id", name, primary_key=True),
        *(Column(one, name, nullable=False) for one in ("name", "workspace", "owner", "share")),
        Column("created_at", Double, nullable=False),
        Column("entries", Integer, nullable=False),
        *(Column(one, name, nullable=False) for one in ("metric", "goal")),
        Column("document", Text, nullable=False),
    )
    op.create_index("sweep_by_time", "sweep", ["created_at", "id"])
    op.create_index("sweep_by_owner", "sweep", ["owner", "created_at", "id"])
    op.create_index("sweep_in_workspace", "sweep", ["workspace", "created_at", "id"])
    op.create_index("sweep_by_name", "sweep", ["name"])
    op.create_table(
        "sweep_mark",
        Column("sweep", name, primary_key=True),
        Column("job", number, primary_key=True, autoincrement=False),
        Column("rung", Integer, primary_key=True, autoincrement=False),
        Column("step", Double, nullable=False),
        Column("best", Double),
        Column("mean", Double),
        Column("final", Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("sweep_mark_of_job", "sweep_mark", ["job"])
