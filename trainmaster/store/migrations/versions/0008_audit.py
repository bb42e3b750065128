"""Schema 8: what people did to anything is found by time, by subject and by person."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, text

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

BY_PEOPLE = text("kind <> 'submitted' AND actor NOT IN ('system', 'scheduler', 'agent', 'engine')")


def upgrade() -> None:
    """Add the table, empty: of before, only who changed a setting last is known. One look at each event of a job, for the index."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "audit",
        Column("seq", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
        Column("at", Double, nullable=False),
        Column("by", name, nullable=False),
        Column("subject_kind", name, nullable=False),
        Column("subject", name, nullable=False),
        Column("kind", name, nullable=False),
        Column("data", Text, nullable=False),
    )
    op.create_index("audit_by_time", "audit", ["at", "seq"])
    op.create_index("audit_of_kind", "audit", ["subject_kind", "at", "seq"])
    op.create_index("audit_of_subject", "audit", ["subject_kind", "subject", "at", "seq"])
    op.create_index("audit_of_person", "audit", ["by", "at", "seq"])
    op.create_index(
        "event_by_people", "event", ["at", "seq", "actor", "kind"], sqlite_where=BY_PEOPLE, postgresql_where=BY_PEOPLE
    )
