"""Schema 19: templates are a kind of asset; assets are shared in the words of jobs, described, and used."""

from alembic import op
from sqlalchemy import Column, Double, Integer, Text

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Say of every model in the words of jobs what it said in its own: that it is not shared. It changed last when its
    last version was made.
    """
    op.alter_column("asset", "visibility", new_column_name="share")
    op.execute("UPDATE asset SET share = 'none'")
    op.add_column("asset", Column("description", Text, nullable=False, server_default=""))
    op.add_column("asset", Column("changed_at", Double, nullable=False, server_default="0"))
    op.add_column("asset", Column("used", Integer, nullable=False, server_default="0"))
    op.add_column("asset", Column("used_at", Double))
    op.execute(
        "UPDATE asset SET changed_at = coalesce("
        "(SELECT max(created_at) FROM asset_version WHERE asset_version.asset = asset.id), created_at)"
    )
