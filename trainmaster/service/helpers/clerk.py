"""A clerk: ``python -m trainmaster.service.helpers.clerk``, started by `clerks`. Does what it is given; knows nothing
of the server.
"""

import logging
import pickle
from typing import Final

from trainmaster.service.helpers.child import answer_all

MAX_MEMORY: Final = 1 << 30
IDLE_S: Final = 120.0
"""A start takes half a second of a core."""


def answer(asked: bytes) -> bytes:
    """Return (True, what the work returns) or (False, what it raises)."""
    work, args, given = pickle.loads(asked)
    try:
        return pickle.dumps((True, work(*args, **given)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    answer_all(answer, MAX_MEMORY, IDLE_S)
