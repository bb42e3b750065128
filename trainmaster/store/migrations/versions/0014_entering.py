"""Schema 14: invitations, who a sign-in provider means, public keys of people."""

from alembic import op
from sqlalchemy import Column, Double, Integer, String, Text, UniqueConstraint

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "invitation",
        Column("id", name, primary_key=True),
        Column("secret_hash", name, nullable=False, unique=True),
        Column("workspace", name, nullable=False),
        Column("role", name, nullable=False),
        Column("made_by", name, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("expires_at", Double, nullable=False),
        Column("used_at", Double),
        Column("used_by", name),
    )
    op.create_index("ix_invitation_workspace", "invitation", ["workspace"])
    op.create_table(
        "identity",
        Column("issuer", name, primary_key=True),
        Column("subject", name, primary_key=True),
        Column("user", name, nullable=False),
        Column("linked_at", Double, nullable=False),
        Column("given", Text, nullable=False),
        UniqueConstraint("issuer", "user", name="identity_of_user"),
    )
    op.create_table(
        "ssh_key",
        Column("fingerprint", name, primary_key=True),
        Column("user", name, nullable=False),
        Column("kind", name, nullable=False),
        Column("bits", Integer, nullable=False),
        Column("key", Text, nullable=False),
        Column("comment", Text, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("address", Text, nullable=False),
    )
    op.create_index("ix_ssh_key_user", "ssh_key", ["user"])
