"""Schema 21: jobs are versions of one another."""

from alembic import op
from sqlalchemy import Column, Integer, String, Text, text

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let every job be the first of its own."""
    family = Text().with_variant(String(collation="C"), "postgresql")
    op.add_column("job", Column("family", family))
    op.add_column("job", Column("family_version", Integer, nullable=False, server_default="1"))
    has = text("family IS NOT NULL")
    op.create_index("job_family", "job", ["family", "family_version"], sqlite_where=has, postgresql_where=has)
