"""Schema 5: jobs that have run are found by how long they did."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index of the list ordered by run time."""
    op.execute(
        "CREATE INDEX IF NOT EXISTS job_by_run ON job ((ended_at - started_at), seq) "
        "WHERE started_at IS NOT NULL AND ended_at IS NOT NULL"
    )
