"""Schema 16: tags, notes, favorites and saved views; what a person sees has an index for each of its parts."""

from alembic import op
from sqlalchemy import BigInteger, Column, Connection, Double, Integer, String, Text, text

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_AT_ONCE = 1000


def upgrade() -> None:
    """Add the columns, let the text of each job name its owner, and make the indexes.

    The index of texts is no part of the schema: a server makes it (`store/finding/index.py`).
    """
    name = Text().with_variant(String(collation="C"), "postgresql")
    number = BigInteger().with_variant(Integer(), "sqlite")
    for column in ("tags", "remarks"):
        op.add_column("job", Column(column, Text, nullable=False, server_default=""))
    _name_owners(op.get_bind())
    op.create_table(
        "favorite",
        Column("user", name, primary_key=True),
        Column("job", number, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_favorite_job", "favorite", ["job"])
    op.create_table(
        "saved_view",
        Column("owner", name, primary_key=True),
        Column("name", name, primary_key=True),
        Column("workspace", name, nullable=False),
        Column("query", Text, nullable=False),
        Column("at", Double, nullable=False),
    )
    op.create_index("ix_saved_view_workspace", "saved_view", ["workspace"])
    op.create_index("job_by_owner_shown", "job", ["owner", "shown", "submitted_at", "seq"])
    op.create_index("job_in_workspace", "job", ["workspace", "submitted_at", "seq"])
    op.create_index("job_in_workspace_shown", "job", ["workspace", "shown", "submitted_at", "seq"])
    shared = text("share <> 'none'")
    for index, by in (("job_shared", []), ("job_shared_shown", ["shown"])):
        columns = ["workspace", *by, "submitted_at", "seq"]
        op.create_index(index, "job", columns, sqlite_where=shared, postgresql_where=shared)


def _name_owners(connection: Connection) -> None:
    after = -1
    wanted = text("SELECT seq, search, owner FROM job WHERE seq > :after ORDER BY seq LIMIT :most")
    while found := connection.execute(wanted, {"after": after, "most": _AT_ONCE}).all():
        changed = [{"seq": row.seq, "search": f"{row.search}\n{row.owner.casefold()}"} for row in found]
        connection.execute(text("UPDATE job SET search = :search WHERE seq = :seq"), changed)
        after = found[-1].seq
