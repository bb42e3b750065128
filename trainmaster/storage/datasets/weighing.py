"""What a version of a data set takes: the contents that the versions before it did not have, each once. What it shares
with them is theirs.

The last LOOKED_AT versions count as before, the same whose contents need not be sent again, so a version takes what was
sent for it. O(files): manifests are read, no folder is walked.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import Use
from trainmaster.storage.datasets.building import manifest_of
from trainmaster.storage.datasets.listing import ListedFile

LOOKED_AT: Final = 4
"""Versions whose contents need not be sent again."""


def brought(entries: Iterable[ListedFile], there: Iterable[str]) -> Use:
    """Return what these files take where the contents `there` (sha256) are kept already. Links and folders count as
    files without bytes.
    """
    known, bytes_, files = set(there), 0, 0
    for entry in entries:
        if entry.kind in "fx":
            if entry.sha256 in known:
                continue
            known.add(entry.sha256)
            bytes_ += entry.size
        files += 1
    return Use(bytes_, files)


def contents_of(layout: Layout, places: Iterable[str]) -> set[str]:
    """Return the contents (sha256) of the versions at these places."""
    found = set[str]()
    for place in places:
        manifest = manifest_of(layout, place)
        found.update(entry.sha256 for entry in (manifest.files if manifest is not None else ()) if entry.kind in "fx")
    return found


def weighed(layout: Layout, places: Sequence[str], at: int) -> Use:
    """Return what version number `at` of `places`, oldest first, takes; nothing where its manifest cannot be read."""
    manifest = manifest_of(layout, places[at])
    if manifest is None:
        return Use()
    return brought(manifest.files, contents_of(layout, places[max(0, at - LOOKED_AT) : at]))
