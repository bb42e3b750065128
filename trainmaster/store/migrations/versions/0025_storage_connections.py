"""Schema 25: storage connections of workspaces, their keys sealed."""

from alembic import op
from sqlalchemy import Column, Double, String, Text

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "storage_connection",
        Column("workspace", name, primary_key=True),
        Column("name", name, primary_key=True),
        Column("endpoint", name, nullable=False),
        Column("region", name, nullable=False),
        Column("bucket", name, nullable=False),
        Column("prefix", name, nullable=False),
        Column("key", name, nullable=False),
        Column("sealed", Text, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("changed_at", Double, nullable=False),
        Column("changed_by", name, nullable=False),
        Column("used_at", Double),
    )
