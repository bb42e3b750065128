"""Schema 2: what administrators decide about the cluster."""

from alembic import op
from sqlalchemy import Column, Double, String, Text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table, empty: an older store has one public pool and one workspace without limits."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "cluster_setting",
        Column("kind", name, primary_key=True),
        Column("name", name, primary_key=True),
        Column("record", Text, nullable=False),
        Column("at", Double, nullable=False),
        Column("by", Text, nullable=False),
    )
