"""Schema 1: the first, made whole by tables.META.create_all. Nothing leads to it; later revisions stand on it."""

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing to do: no store is older."""
