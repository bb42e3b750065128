"""Schema 18: the last value of each metric of a job, by which lists are ordered, and the order by tags."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, text

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table, which a server fills from the summaries that lie beside jobs, and the index."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    number = BigInteger().with_variant(Integer(), "sqlite")
    op.create_table(
        "job_metric",
        Column("job", number, primary_key=True, autoincrement=False),
        Column("name", name, primary_key=True),
        Column("value", Double, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("job_metric_by_value", "job_metric", ["name", "value", "job"])
    tagged = text("tags <> ''")
    columns = ["tags", "seq", "owner", "workspace"]
    where = {"sqlite_where": tagged, "postgresql_where": tagged}
    op.create_index("job_by_tags", "job", columns, postgresql_include=["share"], **where)  # type: ignore[arg-type]
