"""Schema 24: what the folders of ended jobs and the versions of models and data sets take on the disk."""

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, String, Text

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, which a server fills by measuring what lies there."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    number = BigInteger().with_variant(Integer(), "sqlite")
    for table, key in (
        ("kept_job", [Column("job", number, primary_key=True, autoincrement=False)]),
        ("kept_version", [Column("asset", name, primary_key=True), Column("number", Integer, primary_key=True)]),
    ):
        op.create_table(
            table,
            *key,
            Column("bytes", BigInteger, nullable=False),
            Column("files", BigInteger, nullable=False),
            sqlite_with_rowid=False,
        )
