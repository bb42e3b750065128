"""The schema, as SQLAlchemy Core tables. Owns names, keys and indexes; holds no logic and talks to no database.

Every fact about a job lies in exactly one place: a field of `Job`, `Attempt` or `Task` is either a column here or a
key of the row's `record` (JSON of all fields without a column), never both. `event` is appended to and never edited.
Below `job` the key is its number (`seq`), not its random id: rows of a group then lie side by side, and a commit
writes few pages. Raising SCHEMA needs a file in migrations/versions that brings an older database here.
"""

from typing import Final

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    Double,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy import (
    event as when,
)

from trainmaster.store.assets.tables import (
    asset_favorite,
    asset_offer,
    asset_subscription,
    bin_entry,
    binned_version,
)
from trainmaster.store.columns import BIG as _BIG
from trainmaster.store.columns import META
from trainmaster.store.columns import TEXT as _TEXT
from trainmaster.store.kept.tables import kept_job, kept_version
from trainmaster.store.notices import tables as notices  # theirs are part of the schema
from trainmaster.store.people.tables import (
    favorite,
    identity,
    invitation,
    member,
    saved_view,
    secret,
    sessions,
    ssh_key,
    storage_connection,
    tokens,
    users,
)
from trainmaster.store.sending.tables import send_file, send_target
from trainmaster.store.sweeps.tables import sweep, sweep_mark

__all__ = [
    "META", "SCHEMA", "asset_favorite", "asset_offer", "asset_subscription", "bin_entry", "binned_version", "favorite",
    "identity", "invitation", "kept_job", "kept_version", "member", "notices", "saved_view", "secret", "send_file",
    "send_target", "sessions", "ssh_key", "storage_connection", "sweep", "sweep_mark", "tokens", "users",
]  # fmt: skip

SCHEMA: Final = 31
"""The stamp in `meta`. A database with a higher one was written by a newer Trainmaster and is refused."""

meta = Table("meta", META, Column("key", _TEXT, primary_key=True), Column("value", Text, nullable=False))

event = Table(
    "event",
    META,
    Column("seq", _BIG, primary_key=True, autoincrement=False),
    Column("job", _BIG, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("kind", _TEXT, nullable=False),
    Column("at", Double, nullable=False),
    Column("actor", Text, nullable=False),
    Column("data", Text, nullable=False),
    Index("event_of_job", "job", "seq"),
)

audit = Table(  # what people did, to whatever it was; appended to and never edited
    "audit",
    META,
    Column("seq", _BIG, primary_key=True),
    Column("at", Double, nullable=False),
    Column("by", _TEXT, nullable=False),
    Column("subject_kind", _TEXT, nullable=False),
    Column("subject", _TEXT, nullable=False),
    Column("kind", _TEXT, nullable=False),  # the code of what was said; of a job's event its kind
    Column("data", Text, nullable=False),  # its arguments; of a job's event its data
    Column("actor", _TEXT, nullable=False, server_default="person"),  # core.events.ActorKind
    Column("address", Text, nullable=False, server_default=""),
    Column("through", Text, nullable=False, server_default=""),
    Column("workspace", _TEXT, nullable=False, server_default=""),
    Column("owner", _TEXT, nullable=False, server_default=""),
    Column("title", Text, nullable=False, server_default=""),
    Column("changes", Text, nullable=False, server_default=""),  # [[field, before, after], ...]
    Index("audit_by_time", "at", "seq"),
    Index("audit_of_kind", "subject_kind", "at", "seq"),
    Index("audit_of_subject", "subject_kind", "subject", "at", "seq"),
    Index("audit_of_person", "by", "at", "seq"),
    Index("audit_of_code", "kind", "at", "seq"),
    Index("audit_of_workspace", "workspace", "at", "seq"),
    Index("audit_of_person_there", "workspace", "by", "at", "seq"),
    Index("audit_of_owner", "owner", "at", "seq"),
)

AUDIT_UNTIL: Final = "audit_until"
"""Under this name `meta` notes until when the audit may be removed: see AUDIT_KEPT."""

AUDIT_KEPT: Final[dict[str, tuple[str, ...]]] = {
    "sqlite": (
        (
            "CREATE TRIGGER audit_never_changed BEFORE UPDATE ON audit"
            " BEGIN SELECT RAISE(ABORT, 'the audit is never changed'); END"
        ),
        (
            "CREATE TRIGGER audit_kept BEFORE DELETE ON audit WHEN OLD.at >="
            f" coalesce((SELECT CAST(value AS REAL) FROM meta WHERE key = '{AUDIT_UNTIL}'), 0)"
            " BEGIN SELECT RAISE(ABORT, 'the audit is kept'); END"
        ),
    ),
    "postgresql": (
        (
            "CREATE FUNCTION audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF TG_OP = 'DELETE' AND OLD.at <"
            f" coalesce((SELECT value::double precision FROM meta WHERE key = '{AUDIT_UNTIL}'), 0)"
            " THEN RETURN OLD; END IF;"
            " RAISE EXCEPTION 'the audit is never changed'; END $$"
        ),
        "CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_kept()",
        (
            "CREATE FUNCTION audit_whole() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION 'the audit is never changed'; END $$"
        ),
        "CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_whole()",
    ),
}
"""By database, what refuses every change of a row of the audit, and its removal but for rows older than was noted."""

for _name, _texts in AUDIT_KEPT.items():
    for _one in _texts:
        when.listen(audit, "after_create", DDL(_one).execute_if(dialect=_name))  # type: ignore[no-untyped-call]

job = Table(
    "job",
    META,
    Column("seq", _BIG, primary_key=True, autoincrement=False),
    Column("id", _TEXT, nullable=False, unique=True),
    Column("name", _TEXT, nullable=False),
    Column("slug", _TEXT),
    Column("workspace", _TEXT, nullable=False),
    Column("owner", _TEXT, nullable=False),
    Column("pool", _TEXT, nullable=False),
    Column("framework", _TEXT, nullable=False),
    Column("dialect", _TEXT, nullable=False),
    Column("description", Text, nullable=False),
    Column("labels", Text, nullable=False),  # see store/jobs/labels.py
    Column("spec_digest", _TEXT, nullable=False),
    Column("submitted_at", Double, nullable=False),
    Column("family", _TEXT),  # id of the first of its versions, null: it is that
    Column("family_version", Integer, nullable=False),
    Column("sweep", _TEXT),  # see store/sweeps
    Column("sweep_index", Integer, nullable=False, server_default="0"),
    # From here on the columns change; the ledger updates exactly these.
    Column("state", _TEXT, nullable=False),
    Column("shown", _TEXT, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("attempts_used", Integer, nullable=False),
    Column("model", Text),
    Column("version", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Column("gpus", Double, nullable=False),  # of all replicas
    Column("share", _TEXT, nullable=False),
    Column("tags", Text, nullable=False),  # see store/jobs/labels.py
    Column("remarks", Text, nullable=False),  # see store/jobs/search.py
    Column("search", Text, nullable=False),  # see store/jobs/search.py; never changes
    Column("named", Text, nullable=False),  # see store/finding/named.py; never changes
)

LIVE: Final = text("state IN ('queued', 'active')")  # written out, so that the databases see that the index answers it
_HAS_SLUG: Final = text("slug IS NOT NULL")
_IN_FAMILY: Final = text("family IS NOT NULL")
# What PostgreSQL is told is added by `add_postgresql`: to name it here would load that dialect at each start.
Index("job_live", job.c.seq, sqlite_where=LIVE)
Index("job_slug", job.c.workspace, job.c.slug, unique=True, sqlite_where=_HAS_SLUG)
Index("job_family", job.c.family, job.c.family_version, sqlite_where=_IN_FAMILY)
# One index per list order: the first page costs the same with ten jobs and with a million. A missing time sorts as 0.
Index("job_by_submitted", job.c.submitted_at, job.c.seq)
# Behind the order stands whose a job is, so that a member's page passes over the jobs of others without a look at their
# rows. Not how it is shared: SQLite writes an index anew when a statement names a column of it, and every change does.
_WHOSE: Final = (job.c.owner, job.c.workspace)
_HOW: Final = {"include": ["share"]}  # PostgreSQL, which compares before it writes
Index("job_by_started", func.coalesce(job.c.started_at, text("0.0")), job.c.seq, *_WHOSE, info=_HOW)
ENDED_AT: Final = func.coalesce(job.c.ended_at, text("0.0"))
Index("job_by_ended", ENDED_AT, job.c.seq, *_WHOSE, info=_HOW)
_RAN: Final = text("started_at IS NOT NULL AND ended_at IS NOT NULL")
Index("job_by_run", job.c.ended_at - job.c.started_at, job.c.seq, *_WHOSE, info=_HOW, sqlite_where=_RAN)
Index("job_by_name", job.c.name, job.c.seq, *_WHOSE, info=_HOW)
Index("job_by_priority", job.c.priority, job.c.seq, *_WHOSE, info=_HOW)
Index("job_by_shown", job.c.shown, job.c.submitted_at, job.c.seq)
# What a person sees is walked in parts, each by an index of its own: what is theirs, what lies in a workspace, and what
# is shared there; all of it, or in one state.
_SHARED: Final = text("share <> 'none'")
Index("job_by_owner", job.c.owner, job.c.submitted_at, job.c.seq)
Index("job_by_owner_shown", job.c.owner, job.c.shown, job.c.submitted_at, job.c.seq)
Index("job_in_workspace", job.c.workspace, job.c.submitted_at, job.c.seq)
Index("job_in_workspace_shown", job.c.workspace, job.c.shown, job.c.submitted_at, job.c.seq)
for _name, _by in (("", ()), ("_shown", (job.c.shown,))):
    _columns = (job.c.workspace, *_by, job.c.submitted_at, job.c.seq)
    Index(f"job_shared{_name}", *_columns, sqlite_where=_SHARED)
Index("job_spec", job.c.spec_digest)
Index("job_of_sweep", job.c.sweep, job.c.seq, job.c.sweep_index, sqlite_where=text("sweep IS NOT NULL"))
Index("job_by_gpus", job.c.gpus, job.c.seq, *_WHOSE, info=_HOW)
# Expressions, so that these serve their order alone: who filters by one of them walks the order asked for, and a
# database that took such an index instead would have to sort what it found.
_NO_TEXT: Final = text("''")
_TAGGED: Final = text("tags <> ''")
Index("job_by_tags", job.c.tags, job.c.seq, *_WHOSE, info=_HOW, sqlite_where=_TAGGED)
Index("job_by_owners", func.coalesce(job.c.owner, _NO_TEXT), job.c.seq, *_WHOSE, info=_HOW)
Index("job_by_workspace", func.coalesce(job.c.workspace, _NO_TEXT), job.c.seq, *_WHOSE, info=_HOW)
Index("job_by_pool", func.coalesce(job.c.pool, _NO_TEXT), job.c.seq, *_WHOSE, info=_HOW)
Index("job_by_framework", func.coalesce(job.c.framework, _NO_TEXT), job.c.seq, *_WHOSE, info=_HOW)

attempt = Table(
    "attempt",
    META,
    Column("job", _BIG, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("cause", _TEXT, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("phase", _TEXT, nullable=False),
    Column("why", _TEXT),
    Column("started_at", Double),
    Column("draining_at", Double),
    Column("retained_at", Double),
    Column("ended_at", Double),
    Column("record", Text, nullable=False),
    sqlite_with_rowid=False,
)

task = Table(  # one replica with its place: `Task` and `Assignment` of the same position in the attempt
    "task",
    META,
    Column("job", _BIG, primary_key=True, autoincrement=False),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("role", Integer, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("node", _TEXT, nullable=False),
    Column("host", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("phase", _TEXT, nullable=False),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("record", Text),
    Index("task_on_node", "node", "job"),
    sqlite_with_rowid=False,
)

spec = Table("spec", META, Column("digest", _TEXT, primary_key=True), Column("document", Text, nullable=False))

idempotency = Table(
    "idempotency",
    META,
    Column("workspace", _TEXT, primary_key=True),
    Column("key", _TEXT, primary_key=True),
    Column("body_digest", _TEXT, nullable=False),
    Column("jobs", Text, nullable=False),
    Column("created_at", Double, nullable=False),
)

deleted = Table(  # what is left of a deleted job: its numbers are never given out again
    "deleted",
    META,
    Column("job", _TEXT, primary_key=True),
    Column("seq", _BIG, nullable=False, index=True),
    Column("last_event", _BIG, nullable=False, index=True),
)

quarantine = Table(
    "quarantine",
    META,
    Column("job", _TEXT, primary_key=True),
    Column("at", Double, primary_key=True),
    Column("seq", _BIG, nullable=False, index=True),
    Column("error", Text, nullable=False),
    Column("raw", Text, nullable=False),
)

asset = Table(  # a named line of versions, of some kind: see store/assets/versions.py
    "asset",
    META,
    Column("id", _TEXT, primary_key=True),
    Column("kind", _TEXT, nullable=False),
    Column("workspace", _TEXT, nullable=False),
    Column("name", _TEXT, nullable=False),
    Column("owner", _TEXT, nullable=False),
    Column("share", _TEXT, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("description", Text, nullable=False, server_default=""),
    Column("changed_at", Double, nullable=False, server_default="0"),
    Column("used", Integer, nullable=False, server_default="0"),
    Column("used_at", Double),
    Column("numbered", Integer, nullable=False, server_default="0"),
    UniqueConstraint("kind", "workspace", "name", name="asset_name"),
)
_LISTED: Final = (asset.c.kind, asset.c.changed_at.desc(), asset.c.id)  # and whose it is, as in the indexes of jobs
Index("asset_by_change", *_LISTED, asset.c.owner, asset.c.workspace, asset.c.share)

asset_version = Table(  # written once, never changed
    "asset_version",
    META,
    Column("asset", _TEXT, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("digest", _TEXT, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("files", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("source", _TEXT, nullable=False),
    Column("job", _TEXT),
    Column("attempt", Integer),
    Column("path", Text, nullable=False),
    Column("about", Text, nullable=False),
    UniqueConstraint("job", "attempt", name="asset_version_of_attempt"),  # any number of versions may have no job
)

cluster_setting = (
    Table(  # what administrators decided: pools, virtual clusters, workspaces, flavors, nodes, the queue's policy
        "cluster_setting",
        META,
        Column("kind", _TEXT, primary_key=True),
        Column("name", _TEXT, primary_key=True),
        Column("record", Text, nullable=False),
        Column("at", Double, nullable=False),
        Column("by", Text, nullable=False),
    )
)

money_entry = Table(  # what changed the balance of a workspace; appended to and never edited
    "money_entry",
    META,
    Column("seq", _BIG, primary_key=True),
    Column("at", Double, nullable=False),
    Column("kind", _TEXT, nullable=False),  # see store/money/entries.py
    Column("workspace", _TEXT, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("start_ms", BigInteger, nullable=False),
    Column("end_ms", BigInteger, nullable=False),
    Column("owner", _TEXT, nullable=False),
    Column("by", _TEXT, nullable=False),
    Column("pool", _TEXT, nullable=False),
    Column("job", _TEXT),
    Column("attempt", Integer),
    Column("role", Integer),
    Column("flavor", _TEXT, nullable=False),
    Column("machines", Integer, nullable=False),
    Column("gpu_milli", Integer, nullable=False),
    Column("price", BigInteger, nullable=False),
    Column("note", Text, nullable=False),
    Column("key", _TEXT),
    UniqueConstraint("job", "attempt", "role", name="money_of_role"),  # an attempt is charged once
    UniqueConstraint("workspace", "key", name="money_key"),
    Index("money_by_end", "end_ms"),
    Index("money_of_workspace", "workspace", "seq"),
)

budget_alarm = Table(
    "budget_alarm",
    META,
    Column("workspace", _TEXT, primary_key=True),
    Column("month", _TEXT, primary_key=True),
    Column("percent", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("spent", BigInteger, nullable=False),
    Column("budget", BigInteger, nullable=False),
)

job_metric = Table(  # the last value of each metric, by which lists are ordered: see store/jobs/results.py
    "job_metric",
    META,
    Column("job", _BIG, primary_key=True, autoincrement=False),
    Column("name", _TEXT, primary_key=True),
    Column("value", Double, nullable=False),
    sqlite_with_rowid=False,
)
Index("job_metric_by_value", job_metric.c.name, job_metric.c.value, job_metric.c.job)


def add_postgresql() -> None:
    """Give each index in PostgreSQL the WHERE that it has in SQLite, and the columns that only PostgreSQL includes."""
    for index in (index for table in META.tables.values() for index in table.indexes):
        options = index.dialect_options["postgresql"]
        options["where"] = index.dialect_options["sqlite"]["where"]
        options["include"] = index.info.get("include")
