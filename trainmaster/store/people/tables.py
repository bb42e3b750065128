"""The tables of people: accounts, members, how they come in, and what is theirs alone. See store/tables.py."""

from sqlalchemy import Boolean, Column, Double, Integer, Table, Text, UniqueConstraint

from trainmaster.store.columns import BIG, META, TEXT

users = Table(
    "users",
    META,
    Column("name", TEXT, primary_key=True),
    Column("password_hash", Text, nullable=False),
    Column("role", TEXT, nullable=False),
    Column("must_change_password", Boolean, nullable=False),
    Column("locale", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("state", TEXT, nullable=False),  # a deleted user's name stays, so that nobody else gets it
)

member = Table(
    "member",
    META,
    Column("workspace", TEXT, primary_key=True),
    Column("user", TEXT, primary_key=True, index=True),
    Column("role", TEXT, nullable=False),
    Column("since", Double, nullable=False),
)

sessions = Table(
    "sessions",
    META,
    Column("id_hash", TEXT, primary_key=True),
    Column("user", TEXT, nullable=False, index=True),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("id", TEXT, nullable=False),  # what it is called by: the mark is told to nobody
    Column("address", TEXT, nullable=False),
    Column("browser", TEXT, nullable=False),
)

tokens = Table(
    "tokens",
    META,
    Column("id", TEXT, primary_key=True),
    Column("token_hash", TEXT, nullable=False, unique=True),
    Column("name", TEXT, nullable=False),
    Column("owner", TEXT, nullable=False, index=True),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("last_used_at", Double),
    Column("scopes", Text),  # with blanks between; null: whatever the owner may
    Column("workspace", TEXT),
)

invitation = Table(  # a link by which one person becomes a member; its secret is known to whoever has the link
    "invitation",
    META,
    Column("id", TEXT, primary_key=True),
    Column("secret_hash", TEXT, nullable=False, unique=True),
    Column("workspace", TEXT, nullable=False, index=True),
    Column("role", TEXT, nullable=False),
    Column("made_by", TEXT, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("used_at", Double),
    Column("used_by", TEXT),
)

identity = Table(  # whom a sign-in provider means: never found by an address or a name
    "identity",
    META,
    Column("issuer", TEXT, primary_key=True),
    Column("subject", TEXT, primary_key=True),
    Column("user", TEXT, nullable=False),
    Column("linked_at", Double, nullable=False),
    Column(
        "given", Text, nullable=False
    ),  # what its groups gave, to be taken away again: see store/people/identities.py
    UniqueConstraint("issuer", "user", name="identity_of_user"),
)

ssh_key = Table(
    "ssh_key",
    META,
    Column("fingerprint", TEXT, primary_key=True),
    Column("user", TEXT, nullable=False, index=True),
    Column("kind", TEXT, nullable=False),
    Column("bits", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("address", Text, nullable=False),
)

secret = Table(  # of a workspace; the value is sealed: see service/secrets/vault.py
    "secret",
    META,
    Column("workspace", TEXT, primary_key=True),
    Column("name", TEXT, primary_key=True),
    Column("key", TEXT, nullable=False),  # which of the server's keys seals it
    Column("sealed", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("changed_by", TEXT, nullable=False),
    Column("used_at", Double),
)

storage_connection = Table(  # of a workspace, to a bucket; the keys are sealed: see service/objects/connections.py
    "storage_connection",
    META,
    Column("workspace", TEXT, primary_key=True),
    Column("name", TEXT, primary_key=True),
    Column("endpoint", TEXT, nullable=False),
    Column("region", TEXT, nullable=False),
    Column("bucket", TEXT, nullable=False),
    Column("prefix", TEXT, nullable=False),
    Column("key", TEXT, nullable=False),  # which of the server's keys seals them
    Column("sealed", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("changed_by", TEXT, nullable=False),
    Column("used_at", Double),
)

favorite = Table(  # what somebody marked for themselves
    "favorite",
    META,
    Column("user", TEXT, primary_key=True),
    Column("job", BIG, primary_key=True, autoincrement=False, index=True),
    sqlite_with_rowid=False,
)

saved_view = Table(  # a list of jobs that somebody named: see store/people/views.py
    "saved_view",
    META,
    Column("owner", TEXT, primary_key=True),
    Column("name", TEXT, primary_key=True),
    Column("workspace", TEXT, nullable=False, index=True),  # whose members see it; "": nobody else
    Column("query", Text, nullable=False),
    Column("at", Double, nullable=False),
)
