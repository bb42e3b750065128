"""What volumes take: counted by walking them, and what is on its way or came since by its size until the next walk.

Invariant: what came is counted at every moment, by its size or in what was measured or for a moment in both, so that
of any number of uploads at once no more end than the storage quota has room for. Thread safe; `measure` blocks.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import Use
from trainmaster.messages.said import Said
from trainmaster.service.kept.kept import Kept
from trainmaster.storage.measuring import measured
from trainmaster.store.assets.volumes import VolumePlace
from trainmaster.store.kept.rows import Account

_NOTHING: Final = Use()
_ONLY: Final = 1
"""The number of the one version that a volume has."""


@dataclass(slots=True)
class _Room:
    """`came`: since the walk with the number `walks` began. `past`: under which names what came before is set aside."""

    walks: int = 0
    came: Use = _NOTHING
    past: list[str] = field(default_factory=list)


class KeptVolumes:
    """One object per server. `token`: what names a file on its way."""

    def __init__(self, layout: Layout, kept: Kept) -> None:
        self._layout, self._kept = layout, kept
        self._rooms: dict[str, _Room] = {}
        self._lock = threading.Lock()

    def hold(self, volume: VolumePlace, token: str, use: Use) -> Said | None:
        """Set aside room for a file on its way, in place of what was set aside for it; return why not, None when it is
        done.
        """
        return self._kept.hold(_name(volume.id, token), _account(volume), use)

    def end(self, volume: VolumePlace, token: str, came: Use | None) -> None:
        """Take note that so much came of what was on its way, None: nothing did."""
        if came is None:
            self._kept.let_go(_name(volume.id, token))
            return
        with self._lock:
            room = self._rooms.setdefault(volume.id, _Room())
            room.came = Use(room.came.bytes + came.bytes, room.came.files + came.files)
            since = (_account(volume), room.came)
            self._kept.change_held({_name(volume.id, token): None, _name(volume.id, room.walks): since})

    def measure(self, volume: VolumePlace, go_on: Callable[[], None]) -> Use:
        """Count what the volume takes now; return it. `go_on` may raise. Raises StorageFailed, Unavailable."""
        with self._lock:
            room = self._rooms.setdefault(volume.id, _Room())
            room.past.append(_name(volume.id, room.walks))
            room.walks, room.came, past = room.walks + 1, _NOTHING, [*room.past]
        use = measured(os.path.join(self._layout.version_files(volume.path)), go_on)
        self._kept.keep_versions(volume.id, {_ONLY: use}, *past)
        with self._lock:
            room.past = [name for name in room.past if name not in past]
        return use

    def removed(self, volume: str) -> None:
        """Count a deleted volume no more. Raises StorageFailed, Unavailable."""
        with self._lock:
            self._rooms.pop(volume, None)
        self._kept.keep_versions(volume, {}, *self._kept.held(_name(volume, "")))


def _account(volume: VolumePlace) -> Account:
    return volume.workspace, volume.owner


def _name(volume: str, of: str | int) -> str:
    return f"volume:{volume}:{of}"
