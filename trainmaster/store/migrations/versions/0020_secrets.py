"""Schema 20: secrets of workspaces, sealed."""

from alembic import op
from sqlalchemy import Column, Double, String, Text

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "secret",
        Column("workspace", name, primary_key=True),
        Column("name", name, primary_key=True),
        Column("key", name, nullable=False),
        Column("sealed", Text, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("changed_at", Double, nullable=False),
        Column("changed_by", name, nullable=False),
        Column("used_at", Double),
    )
