"""Schema 29: jobs are found by the algorithm, the flavors and the places of results that they name."""

from collections.abc import Iterator

from alembic import op
from sqlalchemy import Column, Connection, Text, text

from trainmaster.store.finding import named

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_AT_ONCE = 1000


def upgrade() -> None:
    """Write what every job names. One look at each job and its document."""
    op.add_column("job", Column("named", Text, nullable=False, server_default=""))
    connection = op.get_bind()
    for some in _batches(connection):
        connection.execute(text("UPDATE job SET named = :named WHERE seq = :seq"), some)


def _batches(connection: Connection) -> Iterator[list[dict[str, object]]]:
    """Yield the new column of all jobs, some at once: the documents of a large store do not fit in memory."""
    after = -1
    wanted = text(
        "SELECT job.seq, id, name, document FROM job LEFT JOIN spec ON spec.digest = job.spec_digest"
        " WHERE job.seq > :after ORDER BY job.seq LIMIT :most"
    )
    while found := connection.execute(wanted, {"after": after, "most": _AT_ONCE}).all():
        yield [{"seq": row.seq, "named": named.written(row.id, row.name, row.document)} for row in found]
        after = found[-1].seq
