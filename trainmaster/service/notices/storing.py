"""Which storage quotas are nearly used up, or all: told once a month, of each part that was reached, to who leads the
workspace, and to a person of their own.
"""

from collections.abc import Callable, Iterator
from typing import Final

from trainmaster.core.cluster import Workspace
from trainmaster.core.folders.room import Use
from trainmaster.messages.cluster import kept as said
from trainmaster.messages.cluster import queue
from trainmaster.messages.said import Said
from trainmaster.service.kept.kept import MIB, Kept
from trainmaster.service.notices.kinds import STORAGE, Happening

PARTS: Final = (80, 100)
"""At how many percent of a quota it is told."""


def storage_alarms(
    kept: Kept, one: Workspace, month: str, now: float, leaders: Callable[[str], tuple[str, ...]]
) -> Iterator[Happening]:
    """Yield what is to be told of the quotas of a workspace: the highest part that was reached of each."""
    people = kept.people(one.name) if one.storage_per_person or one.storage_people else []
    for person in (None, *people):
        whose = queue.account_of_workspace(one.name) if person is None else queue.account_of_member(person, one.name)
        for name, percent, words in _reached(whose, kept.used(one.name, person), one.storage_of(person)):
            key = f"{STORAGE}/{one.name}/{person or ''}/{name}/{month}/{percent}"
            persons = leaders(one.name) if person is None else (person,)
            yield Happening(STORAGE, key, now, words, one.name, person or "", once=True, persons=persons)


def _reached(whose: Said, used: Use, most: dict[str, float]) -> Iterator[tuple[str, int, Said]]:
    size, files = most.get("mib", 0), most.get("files", 0)
    percent = _part(used.bytes, size * MIB)
    if percent:
        yield "mib", percent, said.storage_alarm(whose, percent, -(-used.bytes // MIB), size)
    percent = _part(used.files, files)
    if percent:
        yield "files", percent, said.storage_alarm_of_files(whose, percent, used.files, int(files))


def _part(used: float, most: float) -> int:
    return max((percent for percent in PARTS if most and used * 100 >= most * percent), default=0)
