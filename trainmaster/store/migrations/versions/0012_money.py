"""Schema 12: what attempts used and what it cost, credits and corrections; alarms of budgets."""

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Integer, String, Text, UniqueConstraint

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables. What ran until now was free: nobody had said a price."""
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "money_entry",
        Column("seq", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
        Column("at", Double, nullable=False),
        Column("kind", name, nullable=False),
        Column("workspace", name, nullable=False),
        Column("amount", BigInteger, nullable=False),
        Column("start_ms", BigInteger, nullable=False),
        Column("end_ms", BigInteger, nullable=False),
        Column("owner", name, nullable=False),
        Column("by", name, nullable=False),
        Column("pool", name, nullable=False),
        Column("job", name),
        Column("attempt", Integer),
        Column("role", Integer),
        Column("flavor", name, nullable=False),
        Column("machines", Integer, nullable=False),
        Column("gpu_milli", Integer, nullable=False),
        Column("price", BigInteger, nullable=False),
        Column("note", Text, nullable=False),
        Column("key", name),
        UniqueConstraint("job", "attempt", "role", name="money_of_role"),
        UniqueConstraint("workspace", "key", name="money_key"),
    )
    op.create_index("money_by_end", "money_entry", ["end_ms"])
    op.create_index("money_of_workspace", "money_entry", ["workspace", "seq"])
    op.create_table(
        "budget_alarm",
        Column("workspace", name, primary_key=True),
        Column("month", name, primary_key=True),
        Column("percent", Integer, primary_key=True, autoincrement=False),
        Column("at", Double, nullable=False),
        Column("spent", BigInteger, nullable=False),
        Column("budget", BigInteger, nullable=False),
    )
