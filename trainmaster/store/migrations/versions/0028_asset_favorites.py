"""Schema 28: which assets somebody marked for themselves."""

from alembic import op
from sqlalchemy import Column, String, Text

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "asset_favorite",
        Column("user", name, primary_key=True),
        Column("asset", name, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_asset_favorite_asset", "asset_favorite", ["asset"])
