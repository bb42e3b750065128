"""Schema 9: jobs are found by everything that was written of them, and ordered by every column of the list."""

from collections.abc import Iterator

from alembic import op
from sqlalchemy import Column, Connection, Double, Text, text

from trainmaster.store.jobs import labels, rows, search

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_AT_ONCE = 1000


def upgrade() -> None:
    """Write the search text and the cards of every job. One look at each job and its document."""
    op.add_column("job", Column("gpus", Double, nullable=False, server_default="0"))
    op.add_column("job", Column("search", Text, nullable=False, server_default=""))
    connection = op.get_bind()
    for some in _batches(connection):
        connection.execute(text("UPDATE job SET gpus = :gpus, search = :search WHERE seq = :seq"), some)
    op.create_index("job_by_gpus", "job", ["gpus", "seq"])
    for index, name in (("owners", "owner"), ("workspace", "workspace"), ("pool", "pool"), ("framework", "framework")):
        op.create_index(f"job_by_{index}", "job", [text(f"coalesce({name}, '')"), "seq"])


def _batches(connection: Connection) -> Iterator[list[dict[str, object]]]:
    """Yield the new columns of all jobs, some at once: the documents of a large store do not fit in memory."""
    after = -1
    wanted = text(
        "SELECT job.seq, name, slug, id, description, labels, record, document FROM job"
        " LEFT JOIN spec ON spec.digest = job.spec_digest WHERE job.seq > :after ORDER BY job.seq LIMIT :most"
    )
    while found := connection.execute(wanted, {"after": after, "most": _AT_ONCE}).all():
        yield [
            {
                "seq": row.seq,
                "gpus": _gpus(row.record),
                "search": search.written(
                    (row.name, row.slug, row.id, row.description),
                    [(pair[0], pair[-1]) for pair in labels.read(row.labels) if pair],
                    row.document,
                ),
            }
            for row in found
        ]
        after = found[-1].seq


def _gpus(record: str) -> float:
    try:
        return rows.gpus_of(rows.roles_of(record))
    except rows.MalformedRow:
        return 0.0  # its first reader will set it aside
