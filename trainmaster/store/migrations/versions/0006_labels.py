"""Schema 6: jobs are found by their labels."""

from alembic import op
from sqlalchemy import Column, Text, text

from trainmaster.store.jobs import labels, rows

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Move the labels of every job that has some out of its record, into a column. One look at each job."""
    op.add_column("job", Column("labels", Text, nullable=False, server_default=""))
    connection = op.get_bind()
    found = connection.execute(text("SELECT seq, record FROM job WHERE record LIKE '%\"labels\":[[%'"))
    moved = []
    for seq, written in found:
        try:
            record = rows.decode(written)
            value = labels.written([(key, value) for key, value in record.pop("labels")])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # malformed: its first reader will set it aside
        moved.append({"seq": seq, "labels": value, "record": rows.encode(record)})
    if moved:
        connection.execute(text("UPDATE job SET labels = :labels, record = :record WHERE seq = :seq"), moved)
