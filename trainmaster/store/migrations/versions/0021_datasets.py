"""Schema 21: of an asset whose versions can be removed, up to which number that was done."""

from alembic import op
from sqlalchemy import Column, Integer

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column: of no asset was a version removed so far that somebody may name."""
    op.add_column("asset", Column("numbered", Integer, nullable=False, server_default="0"))
