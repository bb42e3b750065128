"""Schema 12: held for another change of the same release; the merge puts that in its place."""

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change nothing."""
