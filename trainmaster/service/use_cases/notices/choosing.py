"""What a person wants to be told, and where: switches by kind, the address of their mails, which is theirs once they
have typed the code that was sent there.

Changes of one server come one after the other, so that tries at a code are counted right however many come at once.
"""

import asyncio
import hmac
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import MailTrouble, NoticeSettings, NoticeSwitches
from trainmaster.core.errors import Conflict, InvalidSpec, RateLimited, problem_of
from trainmaster.core.events import Changes, subject_of
from trainmaster.messages.said import Said
from trainmaster.messages.server import notices as said
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.notices.addresses import NotSent
from trainmaster.service.notices.kinds import KINDS, AskedAddress, Where, Wishes, wishes_of
from trainmaster.service.notices.letters import code_letter
from trainmaster.service.notices.mailing import ServerTrouble
from trainmaster.service.settings import MAILBOX
from trainmaster.store.notices.deliveries import FAILED, MAIL, WAITING
from trainmaster.store.people.accounts import digest

CODE_S: Final = 900.0
TRIES: Final = 5
MOST_CODES: Final = 5
"""Codes that are sent to one person's addresses in an hour."""
HOUR_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Switches:
    """What is to change of one kind; None: nothing."""

    console: bool | None = None
    mail: bool | None = None
    webhook: bool | None = None


class Choosing:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._changing = asyncio.Lock()
        self._asked: defaultdict[str, deque[float]] = defaultdict(deque)

    async def settings(self, who: Principal) -> NoticeSettings:
        """Return what somebody chose. Raises Forbidden."""
        decide(who, "notices:self").demand()
        return await self._view(who.name, await self._wishes(who.name))

    async def change(
        self, who: Principal, kinds: Mapping[str, Switches], language: str | None = None
    ) -> NoticeSettings:
        """Change switches of some kinds, and the language of mails. Raises Forbidden, InvalidSpec."""
        decide(who, "notices:self").demand()
        bad = [
            problem_of(f"kinds.{one}", said.no_such_notice_kind(one, KINDS), one) for one in kinds if one not in KINDS
        ]
        if bad:
            raise InvalidSpec(said.notice_settings_not_accepted(), problems=tuple(bad))
        async with self._changing:
            wishes = await self._wishes(who.name)
            where = {**wishes.where, **{kind: _changed(wishes.where[kind], one) for kind, one in kinds.items()}}
            after = replace(wishes, where=where, language=language or wishes.language)
            await self._store(who, wishes, after, said.notice_settings_changed())
        return await self._view(who.name, after)

    async def ask(self, who: Principal, address: str, language: str | None = None) -> NoticeSettings:
        """Send a code to an address, which is used once the code was typed. Raises Forbidden, InvalidSpec where it is
        none or the mail server refuses it, Conflict where no mails are sent, RateLimited.
        """
        decide(who, "notices:self").demand()
        if not MAILBOX.fullmatch(address):
            _refuse("address", said.not_an_address(), address)
        if not self._ctx.notices.mailer.on:
            raise Conflict(said.mail_not_set_up())
        self._count(who.name)
        code = f"{int.from_bytes(self._ctx.random_bytes(8), 'big') % 10**6:06}"
        async with self._changing:
            wishes = await self._wishes(who.name)
            asked = AskedAddress(address, _mark(who.name, code), self._ctx.clock() + CODE_S, TRIES)
            after = replace(wishes, asked=asked, language=language or wishes.language)
            await self._store(who, wishes, after, said.address_asked(address))
        id_ = "code_" + self._ctx.random_bytes(16).hex()
        mail = code_letter(address, who.name, code, CODE_S, after.language, id_, self._ctx.clock())
        try:
            await asyncio.to_thread(self._ctx.notices.mailer.send, mail)
        except ServerTrouble as error:
            raise Conflict(said.mail_not_sent(error.said)) from None
        except NotSent as error:
            _refuse("address", said.mail_not_sent(error.said), address)
        return await self._view(who.name, after)

    async def confirm(self, who: Principal, code: str) -> NoticeSettings:
        """Use the address to which this code was sent. Raises Forbidden, Conflict where none waits, InvalidSpec for
        another code.
        """
        decide(who, "notices:self").demand()
        async with self._changing:
            wishes = await self._wishes(who.name)
            asked = wishes.asked
            if asked is None or self._ctx.clock() > asked.until or asked.left <= 0:
                raise Conflict(said.no_code_asked(CODE_S))
            if not hmac.compare_digest(asked.digest, _mark(who.name, code.strip())):
                left = replace(asked, left=asked.left - 1)
                await self._store(who, wishes, replace(wishes, asked=left), None)
                _refuse("code", said.code_wrong(left.left))
            after = replace(wishes, address=asked.address, asked=None)
            await self._store(who, wishes, after, said.address_confirmed(asked.address))
        return await self._view(who.name, after)

    async def remove(self, who: Principal) -> NoticeSettings:
        """Send no more mails, and forget the address. Raises Forbidden."""
        decide(who, "notices:self").demand()
        async with self._changing:
            wishes = await self._wishes(who.name)
            after = replace(wishes, address="", asked=None)
            gone = wishes.address or (wishes.asked.address if wishes.asked else "")
            if gone:
                await self._store(who, wishes, after, said.address_removed(gone))
        return await self._view(who.name, after)

    # -- inside --------------------------------------------------------------------------------------------------

    async def _wishes(self, name: str) -> Wishes:
        return wishes_of((await asyncio.to_thread(self._ctx.notices.tables.settings.of, [name])).get(name))

    async def _store(self, who: Principal, before: Wishes, after: Wishes, words: Said | None) -> None:
        changes = _changes(before, after)
        if after == before:
            return
        told = [] if words is None else [who.did(subject_of("person", who.name), words, self._ctx.clock(), changes)]
        await asyncio.to_thread(self._ctx.notices.tables.settings.put, who.name, after.to_json(), told)

    def _count(self, name: str) -> None:
        asked, now = self._asked[name], time.monotonic()
        while asked and asked[0] < now - HOUR_S:
            asked.popleft()
        if len(asked) >= MOST_CODES:
            raise RateLimited(said.too_many_codes(MOST_CODES))
        asked.append(now)

    async def _view(self, name: str, wishes: Wishes) -> NoticeSettings:
        asked, trouble = wishes.asked, None
        sent = await asyncio.to_thread(self._ctx.notices.tables.deliveries.newest, MAIL, [name], 1)
        if sent and sent[0].error is not None and sent[0].state in (FAILED, WAITING):
            trouble = MailTrouble(text=both(sent[0].error), at=sent[0].done_at or sent[0].created_at)
        waits = asked is not None and self._ctx.clock() <= asked.until and asked.left > 0
        return NoticeSettings(
            kinds={
                kind: NoticeSwitches(console=one.console, mail=one.mail, webhook=one.webhook)
                for kind, one in wishes.where.items()
            },
            language="zh" if wishes.language == "zh" else "en",
            address=wishes.address or None,
            asked=asked.address if asked is not None and waits else None,
            sends_mail=self._ctx.notices.mailer.on,
            trouble=trouble,
        )


def _changed(before: Where, wanted: Switches) -> Where:
    given = {"console": wanted.console, "mail": wanted.mail, "webhook": wanted.webhook}
    return replace(before, **{name: value for name, value in given.items() if value is not None})


def _changes(before: Wishes, after: Wishes) -> Changes:
    found: list[tuple[str, object, object]] = []
    for kind in KINDS:
        for name in ("console", "mail", "webhook"):
            was, now = getattr(before.where[kind], name), getattr(after.where[kind], name)
            found += [(f"notices.{kind}.{name}", was, now)] if was != now else []
    for name in ("address", "language"):
        was, now = getattr(before, name), getattr(after, name)
        found += [(f"notices.{name}", was or None, now or None)] if was != now else []
    return tuple(found)


def _mark(user: str, code: str) -> str:
    return digest(f"{user} {code}")


def _refuse(path: str, words: Said, value: str | None = None) -> NoReturn:
    raise InvalidSpec(said.notice_settings_not_accepted(), problems=(problem_of(path, words, value),))
