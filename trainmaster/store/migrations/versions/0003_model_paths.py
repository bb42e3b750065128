"""Schema 3: where a model version lies is told from the home folder on, which may be moved."""

from alembic import op
from sqlalchemy import Integer, Text, column, table

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep of every absolute path what `Layout.model` makes below the home: models, the model, the number."""
    versions = table("model_version", column("model", Text), column("version", Integer), column("path", Text))
    connection = op.get_bind()
    for model, number, path in connection.execute(versions.select()).all():
        one = (versions.c.model == model) & (versions.c.version == number)
        below = "/".join(path.split("/")[-3:])
        connection.execute(versions.update().where(one).values(path=below))
