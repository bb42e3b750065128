"""Sends what is due, by e-mail and to webhooks: each receiver by itself, so that a slow one delays no other and nobody
waits for any.

At least once: what was sent and not yet noted when the server was killed is sent again, under the same id. A try that
fails is repeated with growing pauses, TRIES times; a webhook of which OFF_AFTER tries in a row failed is switched off,
and its owner is told. Costs nothing while nothing is due.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import groupby
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.events import did_itself
from trainmaster.messages.server import notices as said
from trainmaster.service.notices.addresses import NotSent, target_of
from trainmaster.service.notices.audience import Audience, NoticeTables, subject_webhook
from trainmaster.service.notices.kinds import WEBHOOK, Happening, wishes_of
from trainmaster.service.notices.letters import letter
from trainmaster.service.notices.mailing import Mailer, ServerTrouble
from trainmaster.service.notices.posting import Poster
from trainmaster.service.notices.signing import headers, secret_of
from trainmaster.service.notices.telling import Teller
from trainmaster.store.notices.deliveries import DROPPED, FAILED, MAIL, SENT, Delivery
from trainmaster.store.notices.settings import record_of
from trainmaster.store.notices.webhooks import ON, Webhook

log = logging.getLogger("trainmaster.notices")

PAUSES_S: Final = (5.0, 30.0, 120.0, 600.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0)
"""After the first try that failed, the second, ...: sixteen hours in all."""
TRIES: Final = len(PAUSES_S) + 1
OFF_AFTER: Final = 10
AT_ONCE: Final = 8
"""Receivers that are sent to at the same time."""
MAILS_REST_S: Final = 60.0
"""After the mail server failed nothing is asked of it for so long."""
AGAIN_S: Final = 5.0


def pause_after(tries: int) -> float:
    """Return how long to wait after so many tries that failed."""
    return PAUSES_S[min(max(tries, 1), len(PAUSES_S)) - 1]


def _receiver(one: Delivery) -> tuple[str, str]:
    return one.channel, one.target


class Sender:
    """One object per server; in the loop's thread. `master`: the secret of which those of webhooks are made."""

    def __init__(
        self,
        tables: NoticeTables,
        audience: Audience,
        poster: Poster,
        mailer: Mailer,
        teller: Teller,
        clock: Callable[[], float],
        base: str,
    ) -> None:
        self._tables, self._audience, self._poster, self._mailer = tables, audience, poster, mailer
        self._teller, self._clock, self._base = teller, clock, base
        self._woken, self._places, self._mails = asyncio.Event(), asyncio.Semaphore(AT_ONCE), asyncio.Lock()
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._mails_rest_until = 0.0
        self.master = ""

    def wake(self) -> None:
        """Look what is due."""
        self._woken.set()

    async def follow(self) -> None:
        """Send, again and again."""
        try:
            while True:
                self._woken.clear()
                try:
                    wait_s = await self._begin()
                except TrainmasterError as error:
                    log.warning("what is to be sent could not be read; tried again later: %s", error)
                    wait_s = AGAIN_S
                try:
                    async with asyncio.timeout(wait_s):
                        await self._woken.wait()
                except TimeoutError:
                    pass
        finally:
            for task in list(self._busy.values()):
                task.cancel()
            await asyncio.gather(*self._busy.values(), return_exceptions=True)

    async def _begin(self) -> float | None:
        """Begin to send what is due; return in how many seconds something else is, None: when somebody says so."""
        deliveries, now = self._tables.deliveries, self._clock()
        due = await asyncio.to_thread(deliveries.due, now, list(self._busy))
        for (_, target), ones in groupby(sorted(due, key=_receiver), key=_receiver):
            if target in self._busy:
                continue
            task = asyncio.get_running_loop().create_task(self._serve(list(ones)))
            self._busy[target] = task
            task.add_done_callback(lambda _, target=target: self._left(target))  # type: ignore[misc]
        at = await asyncio.to_thread(deliveries.next_at, list(self._busy))
        return None if at is None else min(max(at - self._clock(), 0.05), 3600.0)

    def _left(self, target: str) -> None:
        self._busy.pop(target, None)
        self._woken.set()

    async def _serve(self, ones: list[Delivery]) -> None:
        try:
            if ones[0].channel == MAIL:
                async with self._mails:
                    await self._mail(ones[0].target)
                return
            async with self._places:
                for one in sorted(ones, key=lambda one: (one.tries, one.seq)):
                    if not await self._message(one):
                        return  # what waits behind it was put off
        except TrainmasterError as error:
            log.warning("%s to %s could not be noted: %s", ones[0].channel, ones[0].target, error)
            await asyncio.sleep(AGAIN_S)
        except Exception:  # one receiver's trouble must not keep the others from theirs
            log.exception("%s to %s could not be sent", ones[0].channel, ones[0].target)
            await asyncio.to_thread(self._tables.deliveries.later, ones, self._clock() + pause_after(TRIES))

    # -- webhooks --------------------------------------------------------------------------------------------------

    async def post(self, one: Delivery, hook: Webhook) -> int:
        """Send one message now; return the status. Raises NotSent."""
        target, body = target_of(hook.url), one.body.encode()
        if target is None:
            raise NotSent(said.webhook_not_url())
        signed = headers(secret_of(self.master, hook.id), one.id, int(self._clock()), body)
        return await self._poster.post(target, body, signed)

    async def _message(self, one: Delivery) -> bool:
        """Try one message; return whether others to the same receiver may follow."""
        hook = await asyncio.to_thread(self._tables.webhooks.find, one.target)
        deliveries = self._tables.deliveries
        if hook is None or hook.state != ON:
            await asyncio.to_thread(
                deliveries.done, [one], DROPPED, self._clock(), None, said.delivery_switched_off()
            )  # fmt: skip
            return True
        if not await asyncio.to_thread(self._audience.may_send, one, hook):
            await asyncio.to_thread(deliveries.done, [one], DROPPED, self._clock(), None, said.delivery_not_visible())
            return True
        try:
            status = await self.post(one, hook)
        except NotSent as error:
            await self._failed(one, hook, error)
            return False
        await asyncio.to_thread(self._tables.webhooks.went_well, hook.id, self._clock())
        await asyncio.to_thread(deliveries.done, [one], SENT, self._clock(), status)
        return True

    async def _failed(self, one: Delivery, hook: Webhook, error: NotSent) -> None:
        now, deliveries, webhooks = self._clock(), self._tables.deliveries, self._tables.webhooks
        if one.tries + 1 >= TRIES:
            await asyncio.to_thread(deliveries.done, [one], FAILED, now, error.status, error.said)
        else:
            next_at = now + pause_after(one.tries + 1)
            await asyncio.to_thread(deliveries.later, [one], next_at, error.status, error.said)
        failures = hook.failures + 1
        failures = await asyncio.to_thread(webhooks.went_wrong, hook.id, now + pause_after(failures), error.said)
        if failures < OFF_AFTER:
            return
        audit_event = did_itself(subject_webhook(hook), said.webhook_off(hook.name, hook.id, failures), now)
        if await asyncio.to_thread(webhooks.switch_off, hook.id, now, audit_event):
            words = said.notice_webhook_off(hook.name, failures, error.said)
            key = f"{WEBHOOK}/{hook.id}/{now:.0f}"
            await self._teller.tell(Happening(WEBHOOK, key, now, words, hook.workspace, hook.owner, once=True))

    # -- mails -----------------------------------------------------------------------------------------------------

    async def _mail(self, user: str) -> None:
        """Send all that waits for somebody as one mail."""
        deliveries, now = self._tables.deliveries, self._clock()
        ones = await asyncio.to_thread(deliveries.waiting_for, MAIL, user)
        if not ones:
            return
        if now < self._mails_rest_until <= now + MAILS_REST_S:
            await asyncio.to_thread(deliveries.later, ones, self._mails_rest_until, None, None, 0)
            return
        wishes = wishes_of((await asyncio.to_thread(self._tables.settings.of, [user])).get(user))
        if not wishes.address or not self._mailer.on:
            await asyncio.to_thread(deliveries.done, ones, DROPPED, now, None, said.delivery_no_address())
            return
        seen = await asyncio.to_thread(lambda: [self._audience.may_send(one) for one in ones])
        hidden = [one for one, may in zip(ones, seen, strict=True) if not may]
        if hidden:
            await asyncio.to_thread(deliveries.done, hidden, DROPPED, now, None, said.delivery_not_visible())
        ones = [one for one, may in zip(ones, seen, strict=True) if may]
        if not ones:
            return
        mail = letter(wishes, [record_of(one.body) for one in ones], self._base, ones[0].id, now)
        try:
            await asyncio.to_thread(self._mailer.send, mail)
        except NotSent as error:
            await self._not_mailed(ones, error, now)
            return
        await asyncio.to_thread(deliveries.done, ones, SENT, self._clock())

    async def _not_mailed(self, ones: list[Delivery], error: NotSent, now: float) -> None:
        log.warning("a mail to %s was not sent: %s", ones[0].target, error.said.code)
        trouble = isinstance(error, ServerTrouble)
        if trouble:
            self._mails_rest_until = now + MAILS_REST_S
        for_good = not trouble and (error.status or 0) >= 500
        over = [one for one in ones if for_good or one.tries + 1 >= TRIES]
        again = [one for one in ones if one not in over]
        if over:
            await asyncio.to_thread(self._tables.deliveries.done, over, FAILED, now, error.status, error.said)
        if again:
            next_at = now + pause_after(1 + min(one.tries for one in again))
            await asyncio.to_thread(self._tables.deliveries.later, again, next_at, error.status, error.said)
