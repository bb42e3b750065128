"""Schema 4: a session is known by two secrets together, so those known by one have ended; its CSRF token is no more."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """End all sessions: everybody signs in once more."""
    op.execute("DELETE FROM sessions")
    op.drop_column("sessions", "csrf")
