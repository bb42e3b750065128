"""What is asked of assets in the same way, whatever their kind: which one is meant, may this be done to it, and which
of them somebody marked for themselves.

Invariant: nothing is found or marked but what whoever asks may see.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.errors import Conflict, Forbidden, NotFound
from trainmaster.messages.said import Said
from trainmaster.service.context import Context
from trainmaster.service.naming import own_first
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader

_NAMED: Final = 4
"""Ids that are told of several that are meant."""


@dataclass(frozen=True, slots=True)
class LineWords:
    """How a kind is spoken of: what is not there, what means several (and their ids), what its owner shares for reading
    alone, and what is not one's own to share.
    """

    none: Callable[[str], Said]
    several: Callable[[str, str], Said]
    only_to_read: Callable[[str], Said]
    not_yours_to_share: Callable[[str], Said]


class Lines:
    """The assets of one kind. One object per kind and server."""

    def __init__(self, context: Context, assets: AssetReader, kind: AssetKind, words: LineWords) -> None:
        self._assets, self._favorites, self._kind, self._words = assets, context.asset_favorites, kind, words
        self._reads = f"{kind}s:read"

    async def find(self, ref: str, who: Principal, scope: str = "") -> Asset:
        """Return the asset that is meant by an id, the beginning of one, or a name. `scope`: what is to be done to it,
        "": it is read. Raises NotFound, Forbidden where `who` sees it and may not do this, Conflict where several are
        meant.
        """
        visible = decide(who, self._reads).demand()
        found = own_first(await asyncio.to_thread(self._assets.called, visible, self._kind, ref), ref, who)
        if not found:
            raise NotFound(self._words.none(repr(ref)))
        if len(found) > 1:
            raise Conflict(self._words.several(repr(ref), ", ".join(one.id[:12] for one in found[:_NAMED])))
        self.demand_right(who, scope or self._reads, found[0])
        return found[0]

    def demand_right(self, who: Principal, scope: str, line: Asset) -> None:
        """Return when `who`, who sees `line`, may do this to it. Raises Forbidden."""
        if not decide(who, scope, line).allowed:
            decide(who, scope).demand()
            words = self._words
            refusal = words.not_yours_to_share if scope.endswith(":share") else words.only_to_read
            raise Forbidden(refusal(line.owner))

    async def favor(self, ref: str, who: Principal, wanted: bool) -> Asset:
        """Make an asset one of one's own favorites, or no more; return it. Raises like `find`, StorageFailed."""
        line = await self.find(ref, who)
        await asyncio.to_thread(self._favorites.put, who.name, line.id, wanted)
        return line

    def favorites(self, who: Principal, lines: Iterable[Asset]) -> set[str]:
        """Return the ids of those of `lines` that `who` marked. Blocks: call it from a worker thread."""
        return self._favorites.among(who.name, [one.id for one in lines])
