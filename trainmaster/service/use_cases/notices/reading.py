"""Notifications of whoever asks: listed, and marked as read. Nobody sees those of others."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import NoticePage, NoticeView, UnreadView
from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.messages.server import notices as said
from trainmaster.service.beginnings import whole_id
from trainmaster.service.context import Context
from trainmaster.service.control.feed import notices_changed
from trainmaster.service.notices.kinds import KINDS, words_of
from trainmaster.service.secrets.seals import NotSealedHere
from trainmaster.store.notices.rows import MOST, Notice

LAST = 2**62
_NOTICE: Final = "notice"


class Notifications:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context

    async def page(
        self, who: Principal, limit: int, cursor: str | None, kinds: Sequence[str] = (), unread: bool = False
    ) -> NoticePage:
        """Return one page, newest first, and how many are not read. `cursor`: the number it begins below. Raises
        Forbidden, InvalidSpec.
        """
        visible, rows = self._visible(who), self._ctx.notices.rows
        problems: list[Problem] = []
        for kind in kinds:
            if kind not in KINDS:
                problems.append(problem_of("kind", said.no_such_notice_kind(kind, KINDS), kind))
        before = int(cursor) if cursor is not None else None
        if problems:
            raise InvalidSpec(said.notices_not_answerable(), problems=tuple(problems))
        wanted = partial(rows.page, visible, who.name, limit + 1, before, kinds=kinds, unread=unread)
        found, left = await asyncio.gather(
            asyncio.to_thread(wanted), asyncio.to_thread(rows.unread, visible, who.name)
        )  # fmt: skip
        following = str(found[limit - 1].seq) if len(found) > limit else None
        return NoticePage(items=[self._view(one) for one in found[:limit]], unread=left, next_cursor=following)

    async def unread(self, who: Principal) -> UnreadView:
        """Return how many are not read. Raises Forbidden."""
        visible = self._visible(who)
        return UnreadView(unread=await asyncio.to_thread(self._ctx.notices.rows.unread, visible, who.name))

    async def read(self, who: Principal, ids: Sequence[str] | None) -> UnreadView:
        """Mark these as read, None: all; return how many are left. The beginning of an id will do. That one has gone
        meanwhile is no mistake. Raises Forbidden, InvalidSpec naming what is no id of any, Conflict where several begin
        so.
        """
        visible, rows = self._visible(who), self._ctx.notices.rows
        numbers = None if ids is None else await asyncio.to_thread(self._numbers, visible, who.name, ids)
        if ids is not None and numbers is not None:
            bad = [(at, one) for at, (one, number) in enumerate(zip(ids, numbers, strict=True)) if number is None]
            if bad:
                problems = tuple(problem_of(f"ids.{at}", said.no_such_notice(one), one) for at, one in bad)
                raise InvalidSpec(said.notices_not_answerable(), problems=problems)
        known = None if numbers is None else [one for one in numbers if one is not None]
        await asyncio.to_thread(rows.mark, visible, who.name, self._ctx.clock(), known, LAST)
        self._ctx.feed.publish(notices_changed(self._ctx.feed.seq, who.name))
        return await self.unread(who)

    @staticmethod
    def _visible(who: Principal) -> Visible:
        """Return of which workspaces somebody may know how they stand, with what their token is for."""
        mine = decide(who, "notices:self").demand()
        budgets = decide(who, "balance:read").visible
        return replace(budgets, within=mine.within)

    def _numbers(self, visible: Visible, user: str, ids: Sequence[str]) -> list[int | None]:
        """Return the numbers of notifications, None for what is no id and begins none of `user`. Raises Conflict where
        several begin so. Blocking; only beginnings make it read what there is.
        """
        numbers = [self._number(one) for one in ids]
        if None not in numbers:
            return numbers
        there = {
            self._ctx.seals.id(_NOTICE, one.seq): one.seq for one in self._ctx.notices.rows.page(visible, user, MOST)
        }
        return [
            there.get(whole_id(one, there)) if number is None else number
            for one, number in zip(ids, numbers, strict=True)
        ]

    def _number(self, id_: str) -> int | None:
        try:
            return self._ctx.seals.number(_NOTICE, id_)
        except NotSealedHere:
            return None

    def _view(self, one: Notice) -> NoticeView:
        return NoticeView(
            id=self._ctx.seals.id(_NOTICE, one.seq),
            at=one.at,
            kind=one.kind,
            text=words_of(one.record),
            job=one.job,
            job_name=str(one.record.get("title") or "") or None,
            workspace=one.workspace,
            read=one.read_at is not None,
        )
