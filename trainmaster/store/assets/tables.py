"""What was deleted and can come back: assets and versions, moved here as they were (store/assets/bin.py); and which
assets somebody marked for themselves (store/assets/favorites.py); to whom they are offered beyond their workspace, and
which workspaces took them in (store/assets/subscriptions.py). See store/tables.py, which this is a part of.
"""

from sqlalchemy import BigInteger, Column, Double, Index, Integer, Table, Text, UniqueConstraint

from trainmaster.store.columns import META, TEXT

bin_entry = Table(  # one deletion; the columns from `kind` on are those of the asset
    "bin_entry",
    META,
    Column("id", TEXT, primary_key=True),
    Column("at", Double, nullable=False),
    Column("by", TEXT, nullable=False),
    Column("number", Integer, nullable=False),  # of the version that was deleted; 0: the asset with all its versions
    Column("asset", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("workspace", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("owner", TEXT, nullable=False),
    Column("share", TEXT, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("description", Text, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("used", Integer, nullable=False),
    Column("used_at", Double),
    Column("numbered", Integer, nullable=False),
    Index("bin_by_time", "at", "id"),
    Index("bin_of_asset", "asset"),
)

binned_version = Table(  # a version of such an entry; the columns from `asset` on are those of `asset_version`
    "binned_version",
    META,
    Column("entry", TEXT, primary_key=True),
    Column("asset", TEXT, nullable=False),
    Column("number", Integer, primary_key=True),
    Column("digest", TEXT, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("files", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("source", TEXT, nullable=False),
    Column("job", TEXT),
    Column("attempt", Integer),
    Column("path", Text, nullable=False),
    Column("about", Text, nullable=False),
)

asset_favorite = Table(  # also of an asset in the bin: it is one again when it comes back
    "asset_favorite",
    META,
    Column("user", TEXT, primary_key=True),
    Column("asset", TEXT, primary_key=True, index=True),
    sqlite_with_rowid=False,
)

asset_offer = Table(  # also of an asset in the bin, where it opens nothing
    "asset_offer",
    META,
    Column("asset", TEXT, primary_key=True),
    Column("workspace", TEXT, primary_key=True, index=True),  # "": everybody
    Column("at", Double, nullable=False),
    Column("by", TEXT, nullable=False),
    sqlite_with_rowid=False,
)

asset_subscription = Table(  # a name in a workspace, beside those of its own assets of that kind
    "asset_subscription",
    META,
    Column("workspace", TEXT, primary_key=True),
    Column("kind", TEXT, primary_key=True),
    Column("name", TEXT, primary_key=True),
    Column("asset", TEXT, nullable=False),
    Column("at", Double, nullable=False),
    Column("by", TEXT, nullable=False),
    UniqueConstraint("asset", "workspace", name="asset_subscription_once"),
    sqlite_with_rowid=False,
)
