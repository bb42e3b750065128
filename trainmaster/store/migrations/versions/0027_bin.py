"""Schema 27: what was deleted and can come back."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "bin_entry",
        Column("id", name, primary_key=True),
        Column("at", Double, nullable=False),
        Column("by", name, nullable=False),
        Column("number", Integer, nullable=False),
        Column("asset", name, nullable=False),
        Column("kind", name, nullable=False),
        Column("workspace", name, nullable=False),
        Column("name", name, nullable=False),
        Column("owner", name, nullable=False),
        Column("share", name, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("description", Text, nullable=False),
        Column("changed_at", Double, nullable=False),
        Column("used", Integer, nullable=False),
        Column("used_at", Double),
        Column("numbered", Integer, nullable=False),
    )
    op.create_index("bin_by_time", "bin_entry", ["at", "id"])
    op.create_index("bin_of_asset", "bin_entry", ["asset"])
    op.create_table(
        "binned_version",
        Column("entry", name, primary_key=True),
        Column("asset", name, nullable=False),
        Column("number", Integer, primary_key=True),
        Column("digest", name, nullable=False),
        Column("size_bytes", BigInteger, nullable=False),
        Column("files", Integer, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("source", name, nullable=False),
        Column("job", name),
        Column("attempt", Integer),
        Column("path", Text, nullable=False),
        Column("about", Text, nullable=False),
    )
