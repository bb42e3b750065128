"""Schema 22: of an asset whose versions can be removed, up to which number that was done."""

from alembic import op
from sqlalchemy import Column, Integer

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column: of no asset was a version removed so far that somebody may name."""
    op.add_column("asset", Column("numbered", Integer, nullable=False, server_default="0"))
