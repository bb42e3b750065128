"""What is asked of assets in the same way, whatever their kind: which one is meant, may this be done to it, what may it
be called, which of them somebody marked for themselves, and where else they are used.

Invariant: nothing is found or marked but what whoever asks may see.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import TakenName
from trainmaster.core.errors import Conflict, Forbidden, NotFound
from trainmaster.core.events import Subject
from trainmaster.messages.assets import algorithms, datasets, images, templates, volumes
from trainmaster.messages.jobs import files
from trainmaster.messages.said import Said
from trainmaster.service.context import Context
from trainmaster.service.naming import own_first
from trainmaster.spec.job import NAME
from trainmaster.spec.lower import IMAGE_NAME, OWN_ENVIRONMENT
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader

_NAMED: Final = 4
"""Ids that are told of several that are meant."""
TO_ALL: Final = "*"
"""Who stands for everybody in an address: no workspace is called so."""
_NAME: Final = re.compile(NAME)
_NOT_A_NAME: Final = {
    AssetKind.DATASET: datasets.not_a_dataset_name,
    AssetKind.ALGORITHM: algorithms.not_an_algorithm_name,
    AssetKind.TEMPLATE: templates.not_a_template_name,
    AssetKind.VOLUME: volumes.not_a_volume_name,
    AssetKind.IMAGE: images.not_an_image_name,
    AssetKind.MODEL: files.not_a_model_name,
}


def subject_of(line: Asset) -> Subject:
    """Return what the audit calls an asset."""
    return Subject(line.kind.value, line.id, line.workspace, line.owner, line.name)


def wrong_name(kind: AssetKind, name: str) -> Said | None:
    """Return why something of a kind cannot have this name, None where it can."""
    pattern = IMAGE_NAME if kind is AssetKind.IMAGE else _NAME
    if pattern.fullmatch(name) and not (kind is AssetKind.IMAGE and name in OWN_ENVIRONMENT):
        return None
    return _NOT_A_NAME[kind]()


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
        self._reads, self._passed_on = f"{kind}s:read", context.passed_on

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

    # -- beyond its workspace ----------------------------------------------------------------------------------

    def taken(self, who: Principal, line: Asset) -> list[TakenName]:
        """Return which workspaces took something in, as far as `who` may be told."""
        sees = decide(who, self._reads).visible
        return [TakenName(workspace=place, name=name) for place, name in line.taken if sees.looks_into(place)]

    def known_as(self, who: Principal, line: Asset) -> list[tuple[str, str]]:
        """Return (workspace, name) of all that jobs mean by something, as far as `who` may be told."""
        return [(line.workspace, line.name), *((one.workspace, one.name) for one in self.taken(who, line))]

    def beyond(self, line: Asset, shares: bool) -> dict[str, Any]:
        """Return for a detail to whom something is offered, and which workspaces subscribe; nothing for who may not
        share it. Blocks.
        """
        if not shares:
            return {"offers": [], "subscribers": []}
        offers = [one or TO_ALL for one in self._passed_on.offers_of(line.id)]
        return {"offers": offers, "subscribers": [TakenName(workspace=place, name=name) for place, name in line.taken]}

    def used_as(self, line: Asset) -> list[tuple[str, str]]:
        """Return (workspace, name) of all that jobs may mean by something, also where no offer covers it any more: for
        the platform to ask what is in use. Blocks.
        """
        taken = self._passed_on.taken_from(line.id)
        return [(line.workspace, line.name), *((one.workspace, one.name) for one in taken)]
