"""Schema 7: models are a kind of asset."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, UniqueConstraint

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Move every model and every version as it is. Metrics that cannot be read stay unreadable, and nothing else
    does.
    """
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "asset",
        Column("id", name, primary_key=True),
        Column("kind", name, nullable=False),
        Column("workspace", name, nullable=False),
        Column("name", name, nullable=False),
        Column("owner", name, nullable=False),
        Column("visibility", name, nullable=False),
        Column("created_at", Double, nullable=False),
        UniqueConstraint("kind", "workspace", "name", name="asset_name"),
    )
    op.create_table(
        "asset_version",
        Column("asset", name, primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("digest", name, nullable=False),
        Column("size_bytes", BigInteger, nullable=False),
        Column("files", Integer, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("source", name, nullable=False),
        Column("job", name),
        Column("attempt", Integer),
        Column("path", Text, nullable=False),
        Column("about", Text, nullable=False),
        UniqueConstraint("job", "attempt", name="asset_version_of_attempt"),
    )
    op.execute(
        "INSERT INTO asset (id, kind, workspace, name, owner, visibility, created_at) "
        "SELECT id, 'model', workspace, name, owner, 'workspace', created_at FROM model"
    )
    op.execute(
        "INSERT INTO asset_version "
        "(asset, number, digest, size_bytes, files, created_at, source, job, attempt, path, about) "
        "SELECT model, version, digest, size_bytes, files, created_at, 'job', job, attempt, path, "
        "'{\"metrics\":' || metrics || '}' FROM model_version"
    )
    op.drop_table("model_version")
    op.drop_table("model")
