"""How far a job may be shared: no further than what it uses is shared in its workspace (R224). Pure.

What a job uses is what people keep under a name: its algorithm, its image, its data sets and volumes. Who sees
a job sees its commands, logs and outputs, which tell of what it was made of; so its owner opens that first.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from trainmaster.core.states import JobShare

LEVELS: Final = (JobShare.NONE, JobShare.READ, JobShare.READ_WRITE)
"""From what opens nothing to what opens most."""


@dataclass(frozen=True, slots=True)
class UsedShare:
    """Something that a job uses, and how it is shared. `kind`: of `store.assets.versions.AssetKind`."""

    kind: str
    name: str
    share: JobShare = JobShare.NONE


def narrower(share: JobShare, used: Iterable[UsedShare]) -> list[UsedShare]:
    """Return those of `used` that are shared less than a job that is shared so: each of them forbids it."""
    return [one for one in used if LEVELS.index(one.share) < LEVELS.index(share)]
