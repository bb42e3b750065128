"""The tables of notifications: what people were told, what is sent, what they chose, webhooks. See store/tables.py."""

from sqlalchemy import Column, Double, Index, Integer, Table, Text, UniqueConstraint

from trainmaster.store.columns import BIG, META, TEXT

notice = Table(  # what somebody was told in the console: see store/notices
    "notice",
    META,
    Column("seq", BIG, primary_key=True),
    Column("user", TEXT, nullable=False),
    Column("key", TEXT, nullable=False),  # of what happened: it is told somebody once
    Column("at", Double, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("job", TEXT),
    Column("workspace", TEXT, nullable=False),
    Column("record", Text, nullable=False),
    Column("read_at", Double),
    UniqueConstraint("user", "key", name="notice_key"),
    Index("notice_of_user", "user", "seq"),
)

notice_once = Table(  # what was told that no event of a job says
    "notice_once", META, Column("key", TEXT, primary_key=True), Column("at", Double, nullable=False, index=True)
)

notice_delivery = Table(  # what goes out by e-mail or to a webhook, and what became of it
    "notice_delivery",
    META,
    Column("seq", BIG, primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("channel", TEXT, nullable=False),
    Column("target", TEXT, nullable=False),  # of a mail the user, else the webhook
    Column("user", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("owner", TEXT, nullable=False),
    Column("workspace", TEXT, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_at", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("done_at", Double),
    Column("status", Integer),
    Column("error", Text, nullable=False),
    Index("delivery_due", "state", "next_at"),
    Index("delivery_of_target", "channel", "target", "seq"),
)

notice_setting = Table(
    "notice_setting", META, Column("user", TEXT, primary_key=True), Column("record", Text, nullable=False)
)

webhook = Table(  # without its secret, which is made of its id: see service/notices/signing.py
    "webhook",
    META,
    Column("id", TEXT, primary_key=True),
    Column("owner", TEXT, nullable=False, index=True),
    Column("workspace", TEXT, nullable=False, index=True),  # "": of its owner's own
    Column("name", TEXT, nullable=False),
    Column("url", Text, nullable=False),
    Column("kinds", Text, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("resume_at", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("error", Text, nullable=False),
)
