"""The parts of notifications, joined: made once, for `wiring`."""

import asyncio
from dataclasses import dataclass

from trainmaster.core.config import Config
from trainmaster.service.context import Context
from trainmaster.service.folders.secret_files import webhooks_secret
from trainmaster.service.notices.addresses import AddressGuard
from trainmaster.service.notices.audience import Audience, NoticeTables
from trainmaster.service.notices.mailing import Mailer
from trainmaster.service.notices.posting import Poster
from trainmaster.service.notices.sending import Sender
from trainmaster.service.notices.telling import Teller
from trainmaster.service.notices.watching import NoticeWatch
from trainmaster.store.database import Database
from trainmaster.store.notices.deliveries import DeliveryRows
from trainmaster.store.notices.happened import HappenedRows
from trainmaster.store.notices.rows import NoticeRows
from trainmaster.store.notices.settings import NoticeSettingRows
from trainmaster.store.notices.webhooks import WebhookRows
from trainmaster.store.people.accounts import PeopleRows
from trainmaster.store.people.members import MemberRows


@dataclass(slots=True)
class NoticeParts:
    """One object per server."""

    tables: NoticeTables
    rows: NoticeRows
    audience: Audience
    guard: AddressGuard
    mailer: Mailer
    teller: Teller
    sender: Sender
    watch: NoticeWatch

    @classmethod
    def make(cls, context: Context, database: Database, people: PeopleRows, members: MemberRows) -> "NoticeParts":
        """Join the parts; nothing begins."""
        config, clock = context.config, context.clock
        settings, webhooks, deliveries = NoticeSettingRows(database), WebhookRows(database), DeliveryRows(database)
        tables = NoticeTables(people, members, settings, webhooks, deliveries)
        rows, base, mailer = NoticeRows(database), base_of(config), Mailer(config.mail)
        audience = Audience(tables, base, mailer.on, lambda: "msg_" + context.random_bytes(16).hex())
        guard = AddressGuard(config.webhooks.allow)
        teller = Teller(HappenedRows(database), rows, audience, context.feed, clock)
        sender = Sender(tables, audience, Poster(guard, config.webhooks.ca), mailer, teller, clock, base)
        watch = NoticeWatch(context, teller, rows, audience)
        teller.sends, teller.on_first = sender.wake, watch.begin
        context.followers.watchers.append(watch)
        return cls(tables, rows, audience, guard, mailer, teller, sender, watch)

    async def start(self, context: Context) -> None:
        """Read the secret of webhooks. Raises OSError."""
        self.sender.master = await asyncio.to_thread(webhooks_secret, context.layout)


def base_of(config: Config) -> str:
    """Return the console's address, as it stands in mails and in what webhooks are sent."""
    host = config.server.host
    shown = f"[{host}]" if ":" in host else host
    return config.mail.link.rstrip("/") or f"http://{shown}:{config.server.port}"
