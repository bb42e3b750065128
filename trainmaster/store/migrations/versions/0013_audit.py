"""Schema 13: the audit tells who may read of what, how whoever did it reached the server, and is never changed."""

from alembic import op
from sqlalchemy import Column, String, Text

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_UNTIL = "coalesce((SELECT CAST(value AS {real}) FROM meta WHERE key = 'audit_until'), 0)"
_SQLITE = (
    (
        "CREATE TRIGGER audit_never_changed BEFORE UPDATE ON audit"
        " BEGIN SELECT RAISE(ABORT, 'the audit is never changed'); END"
    ),
    (
        f"CREATE TRIGGER audit_kept BEFORE DELETE ON audit WHEN OLD.at >= {_UNTIL.format(real='REAL')}"
        " BEGIN SELECT RAISE(ABORT, 'the audit is kept'); END"
    ),
)
_POSTGRESQL = (
    (
        "CREATE FUNCTION audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF TG_OP = 'DELETE' AND OLD.at < {_UNTIL.format(real='double precision')}"
        " THEN RETURN OLD; END IF; RAISE EXCEPTION 'the audit is never changed'; END $$"
    ),
    "CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_kept()",
    (
        "CREATE FUNCTION audit_whole() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'the audit is never changed'; END $$"
    ),
    "CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_whole()",
)


def upgrade() -> None:
    """Add what is told, as far as it is known of what was done before; then let nobody change it any more.

    Of jobs that are gone nobody knows the workspace: their entries stay the administrators' alone.
    """
    name = Text().with_variant(String(collation="C"), "postgresql")
    op.add_column("audit", Column("actor", name, nullable=False, server_default="person"))
    op.add_column("audit", Column("address", Text, nullable=False, server_default=""))
    op.add_column("audit", Column("through", Text, nullable=False, server_default=""))
    op.add_column("audit", Column("workspace", name, nullable=False, server_default=""))
    op.add_column("audit", Column("owner", name, nullable=False, server_default=""))
    op.add_column("audit", Column("title", Text, nullable=False, server_default=""))
    op.add_column("audit", Column("changes", Text, nullable=False, server_default=""))
    op.execute("""UPDATE audit SET actor = 'system' WHERE "by" IN ('system', 'scheduler', 'agent', 'engine')""")
    op.execute("UPDATE audit SET owner = subject WHERE subject_kind = 'person'")
    op.execute("UPDATE audit SET workspace = subject WHERE subject_kind = 'workspace'")
    sqlite = op.get_bind().dialect.name == "sqlite"
    before_slash = "substr(subject, 1, instr(subject, '/') - 1)" if sqlite else "split_part(subject, '/', 1)"
    op.execute(f"UPDATE audit SET workspace = {before_slash} WHERE subject_kind = 'flavor' AND subject LIKE '%/%'")
    op.execute(
        "UPDATE audit SET workspace = job.workspace, owner = job.owner, title = job.name"
        " FROM job WHERE job.id = audit.subject AND audit.subject_kind = 'job'"
    )
    address = "json_extract(data, '$.address')" if sqlite else "(data::json ->> 'address')"
    op.execute(f"UPDATE audit SET address = coalesce({address}, '') WHERE kind = 'signed_in'")
    op.create_index("audit_of_code", "audit", ["kind", "at", "seq"])
    op.create_index("audit_of_workspace", "audit", ["workspace", "at", "seq"])
    op.create_index("audit_of_person_there", "audit", ["workspace", "by", "at", "seq"])
    op.create_index("audit_of_owner", "audit", ["owner", "at", "seq"])
    for statement in _SQLITE if sqlite else _POSTGRESQL:
        op.execute(statement)
