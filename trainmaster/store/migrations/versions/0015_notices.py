"""Schema 15: notifications, what is sent of them, their settings, webhooks."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, UniqueConstraint

revision = "0015"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables. What happened before is told to nobody."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    number = BigInteger().with_variant(Integer(), "sqlite")
    op.create_table(
        "notice",
        Column("seq", number, primary_key=True),
        Column("user", name, nullable=False),
        Column("key", name, nullable=False),
        Column("at", Double, nullable=False),
        Column("kind", name, nullable=False),
        Column("job", name),
        Column("workspace", name, nullable=False),
        Column("record", Text, nullable=False),
        Column("read_at", Double),
        UniqueConstraint("user", "key", name="notice_key"),
    )
    op.create_index("notice_of_user", "notice", ["user", "seq"])
    op.create_table("notice_once", Column("key", name, primary_key=True), Column("at", Double, nullable=False))
    op.create_index("ix_notice_once_at", "notice_once", ["at"])
    op.create_table(
        "notice_delivery",
        Column("seq", number, primary_key=True),
        Column("id", name, nullable=False, unique=True),
        Column("channel", name, nullable=False),
        Column("target", name, nullable=False),
        Column("user", name, nullable=False),
        Column("kind", name, nullable=False),
        Column("owner", name, nullable=False),
        Column("workspace", name, nullable=False),
        Column("body", Text, nullable=False),
        Column("state", name, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("next_at", Double, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("done_at", Double),
        Column("status", Integer),
        Column("error", Text, nullable=False),
    )
    op.create_index("delivery_due", "notice_delivery", ["state", "next_at"])
    op.create_index("delivery_of_target", "notice_delivery", ["channel", "target", "seq"])
    op.create_table("notice_setting", Column("user", name, primary_key=True), Column("record", Text, nullable=False))
    op.create_table(
        "webhook",
        Column("id", name, primary_key=True),
        Column("owner", name, nullable=False),
        Column("workspace", name, nullable=False),
        Column("name", name, nullable=False),
        Column("url", Text, nullable=False),
        Column("kinds", Text, nullable=False),
        Column("state", name, nullable=False),
        Column("failures", Integer, nullable=False),
        Column("resume_at", Double, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("error", Text, nullable=False),
    )
    op.create_index("ix_webhook_owner", "webhook", ["owner"])
    op.create_index("ix_webhook_workspace", "webhook", ["workspace"])
