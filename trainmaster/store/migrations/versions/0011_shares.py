"""Schema 11: jobs are shared, tokens carry less than their holder may, and sessions are told apart."""

from alembic import op
from sqlalchemy import Column, String, Text

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns. No job was shared so far, and every token carries all that its holder may."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.add_column("job", Column("share", name, nullable=False, server_default="none"))
    op.add_column("tokens", Column("scopes", Text))
    op.add_column("tokens", Column("workspace", name))
    for column in ("id", "address", "browser"):
        op.add_column("sessions", Column(column, name, nullable=False, server_default=""))
    op.execute("UPDATE sessions SET id = substr(id_hash, 1, 16)")
