"""Which of several ids somebody means who gives the beginning of one, as for jobs (`store.jobs.read_jobs`). Pure.

Invariant: what two ids begin with names neither.
"""

from collections.abc import Iterable
from typing import Final

from trainmaster.core.errors import Conflict
from trainmaster.messages.server import people

LEAST: Final = 4
"""Characters that a beginning has at least."""
SHOWN: Final = 3


def whole_id(given: str, ids: Iterable[str]) -> str:
    """Return the one of `ids` that is `given`, or that begins so; `given` itself where there is none, for whoever looks
    it up to say so. Raises Conflict where several begin so.
    """
    there = sorted(ids)
    found = [one for one in there if one.startswith(given)]
    if given in there or len(given) < LEAST or not found:
        return given
    if len(found) > 1:
        raise Conflict(people.several_ids(given, [*found[:SHOWN], *["..." for _ in found[SHOWN : SHOWN + 1]]]))
    return found[0]
