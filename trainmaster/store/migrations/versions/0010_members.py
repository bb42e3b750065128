"""Schema 10: members of workspaces, and accounts that are locked or deleted."""

from alembic import op
from sqlalchemy import Column, Double, String, Text

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table. Whoever there was belongs to the workspace that always exists, where they submitted until now."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.add_column("users", Column("state", name, nullable=False, server_default="active"))
    op.create_table(
        "member",
        Column("workspace", name, primary_key=True),
        Column("user", name, primary_key=True),
        Column("role", name, nullable=False),
        Column("since", Double, nullable=False),
    )
    op.create_index("ix_member_user", "member", ["user"])
    op.execute(
        'INSERT INTO member (workspace, "user", role, since)'
        " SELECT 'default', name, CASE role WHEN 'admin' THEN 'owner' ELSE 'member' END, created_at FROM users"
    )
