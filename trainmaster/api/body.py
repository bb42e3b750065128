"""What every body is read by: one JSON document in UTF-8, whose keys stand once, of a size that can be looked at in
passing.

msgspec reads it, which refuses lone surrogates, bad UTF-8 and numbers that are none. A key given twice is found by
writing the document again: each one lost takes a colon with it. Invariant: how much is built is decided before anything
is, and what is read here can be written as JSON again.
"""

import asyncio
import json
from itertools import chain
from typing import Any, Final, NoReturn

import msgspec

from trainmaster.api.problems import InvalidRequest, unreadable
from trainmaster.core.errors import TooLarge, problem_of
from trainmaster.messages.said import Said, verbatim
from trainmaster.messages.server import requests
from trainmaster.service.helpers.meter import counting

MOST_VALUES: Final = 50_000
"""Values that a body may hold where the route says nothing else: a job of 64 roles with 64 ports each has 17,000."""
MOST_DEPTH: Final = 64
ASIDE: Final = 64 * 1024
"""A body of more bytes is read in a thread."""


async def decoded(raw: bytes, values: int = MOST_VALUES) -> Any:
    """Return the document in `raw`. Raises InvalidRequest for what is not JSON, TooLarge for more than `values`
    values.
    """
    return decode(raw, values) if len(raw) <= ASIDE else await asyncio.to_thread(counting, decode, raw, values)


def decode(raw: bytes, values: int = MOST_VALUES) -> Any:
    """Do the same at once. O(size)."""
    opened = raw.count(b"{") + raw.count(b"[")
    if raw.count(b",") + opened > values:
        raise TooLarge(requests.too_many_values_in_body(values))
    try:
        document = msgspec.json.decode(raw)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors, and so is bad UTF-8
        raise unreadable(_detail(error)) from None
    if opened > MOST_DEPTH and _deeper(document, MOST_DEPTH):  # before what follows, which recurses as deep
        _refuse("", requests.nested_deeper_than(MOST_DEPTH))
    if raw.count(b":") != msgspec.json.encode(document).count(b":") or b"\\u003" in raw:
        _refuse_doubles(raw)
    return document


def _detail(error: Exception) -> Said:
    if isinstance(error, RecursionError):
        return requests.nested_too_deeply()
    return requests.not_utf8() if isinstance(error, UnicodeDecodeError) else verbatim(str(error))


def _refuse_doubles(raw: bytes) -> None:
    """Raise InvalidRequest where an object has a key twice. Colons written as ``\\u003a`` make this the only way to
    know.
    """

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        document: dict[str, object] = {}
        for key, value in found:
            if key in document:
                _refuse(key[:200], requests.given_twice())
            document[key] = value
        return document

    json.loads(raw, object_pairs_hook=pairs)


def _deeper(value: Any, levels: int) -> bool:
    """Return whether lists and objects lie in one another more than `levels` deep. O(values), without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inside = chain.from_iterable(item.values() if isinstance(item, dict) else item for item in level)
        level = [item for item in inside if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _refuse(path: str, said: Said) -> NoReturn:
    raise InvalidRequest(requests.body_not_json(), problems=(problem_of(path, said),))
