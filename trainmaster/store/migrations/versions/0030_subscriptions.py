"""Schema 30: assets are offered to other workspaces, which take them in under a name."""

from alembic import op
from sqlalchemy import Column, Double, String, Text, UniqueConstraint

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_TEXT = Text().with_variant(String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the two tables. What is there is offered to nobody."""
    op.create_table(
        "asset_offer",
        Column("asset", _TEXT, primary_key=True),
        Column("workspace", _TEXT, primary_key=True),
        Column("at", Double, nullable=False),
        Column("by", _TEXT, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_asset_offer_workspace", "asset_offer", ["workspace"])
    op.create_table(
        "asset_subscription",
        Column("workspace", _TEXT, primary_key=True),
        Column("kind", _TEXT, primary_key=True),
        Column("name", _TEXT, primary_key=True),
        Column("asset", _TEXT, nullable=False),
        Column("at", Double, nullable=False),
        Column("by", _TEXT, nullable=False),
        UniqueConstraint("asset", "workspace", name="asset_subscription_once"),
        sqlite_with_rowid=False,
    )
