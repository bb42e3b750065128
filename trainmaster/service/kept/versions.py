"""What versions of models and data sets take: weighed when they are made, and when one before them is deleted.

All of it blocks: call it from a worker thread.
"""

import logging
import os
from collections.abc import Callable, Iterable

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import Use
from trainmaster.service.kept.kept import Kept
from trainmaster.storage.datasets.listing import ListedFile
from trainmaster.storage.datasets.weighing import LOOKED_AT, brought, contents_of, weighed
from trainmaster.storage.measuring import measured
from trainmaster.store.assets.versions import AssetKind
from trainmaster.store.kept.rows import KeptPlace, KeptRows

log = logging.getLogger("trainmaster.kept")


class KeptVersions:
    """One object per server."""

    def __init__(self, layout: Layout, rows: KeptRows, kept: Kept) -> None:
        self._layout, self._rows, self._kept = layout, rows, kept

    def would_take(self, entries: Iterable[ListedFile], asset: str | None) -> Use:
        """Return what a further version of a data set takes; None: the first one. O(files). Raises StorageFailed."""
        before = self._rows.versions_of(asset)[-LOOKED_AT:] if asset is not None else []
        return brought(entries, contents_of(self._layout, (one.path for one in before)))

    def added(self, asset: str, number: int, held: str) -> None:
        """Count a new version of a data set, for which room was set aside under `held`. Raises StorageFailed."""
        self._kept.keep_versions(asset, self._weighed(asset, lambda one: one == number), held)

    def removed(self, asset: str, number: int | None = None) -> None:
        """Count no more what a deleted version took, None: all of them; what later ones share with it is theirs now.
        A ledger that cannot be asked is asked again later.
        """
        try:
            later = [one.number for one in self._rows.versions_of(asset) if number is None or one.number > number]
            self._kept.keep_versions(asset, self._weighed(asset, lambda one: one in later[:LOOKED_AT]))
        except TrainmasterError as error:
            log.debug("what is kept is added up again later: %s", error)

    def _weighed(self, asset: str, wanted: Callable[[int], bool]) -> dict[int, Use]:
        there = self._rows.versions_of(asset)
        places = [one.path for one in there]
        return {one.number: weighed(self._layout, places, at) for at, one in enumerate(there) if wanted(one.number)}

    def measure(self, one: KeptPlace, go_on: Callable[[], None]) -> None:
        """Count a version that was not measured yet. `go_on` may raise. Raises StorageFailed."""
        if one.kind == AssetKind.DATASET:
            uses = self._weighed(one.asset, lambda number: number == one.number)
        else:
            uses = {one.number: measured(os.path.join(self._layout.bulk, one.path), go_on)}
        self._kept.keep_versions(one.asset, uses or {one.number: Use()})
