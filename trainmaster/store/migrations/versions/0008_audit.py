"""Schema 8: what people did to anything is found by time, by subject and by person."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, text

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table, with what people did to jobs; of settings only who changed them last is known. One look at each
    event.
    """
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
    op.execute(
        text(
            'INSERT INTO audit (at, "by", subject_kind, subject, kind, data)'
            " SELECT event.at, event.actor, 'job', job.id, event.kind, event.data"
            " FROM event JOIN job ON job.seq = event.job"
            " WHERE event.kind <> 'submitted' AND event.actor NOT IN ('system', 'scheduler', 'agent', 'engine')"
            " ORDER BY event.seq"
        )
    )
