"""What is said to a connection whose request never becomes one: too long, too slow, or no HTTP. One problem document,
then the end.
"""

from typing import Final

from trainmaster.api.problems import BadRequest, answer_error
from trainmaster.core.errors import TrainmasterError
from trainmaster.messages.server import requests

MOST_HEAD: Final = 64 * 1024
"""Bytes of a request without its body."""
MOST_ADDRESS: Final = 16 * 1024
MOST_HEADERS: Final = 100
HEAD_S: Final = 15.0
"""From when a request could begin until its head is there; a connection that was used before may rest longer."""
BODY_S: Final = 20.0
"""For how long a body may come more slowly than SLOWEST."""
SLOWEST: Final = 512.0
"""Bytes per second."""
STALLED_S: Final = 60.0
"""For how long nothing of an answer may be taken."""
LINGER_S: Final = 3.0
"""For how long what is still sent is thrown away behind a refusal: closed at once, the sender would never read it."""
REST_S: Final = 30.0
"""The same behind an answer that did not wait for the whole body."""
MOST_AHEAD: Final = 16
"""Requests that wait for the answers to earlier ones on the same connection."""


class AddressTooLong(TrainmasterError):
    """The request line is longer than any address of ours."""

    status = 414
    kind = "address_too_long"


class HeadTooLarge(TrainmasterError):
    """The head has more bytes or lines than any request needs."""

    status = 431
    kind = "head_too_large"


class TooSlow(TrainmasterError):
    """The request did not come within its time."""

    status = 408
    kind = "too_slow"


def address_too_long() -> AddressTooLong:
    """Return the refusal of a long address."""
    return AddressTooLong(requests.address_too_long(MOST_ADDRESS // 1024))


def head_too_large() -> HeadTooLarge:
    """Return the refusal of a large head."""
    return HeadTooLarge(requests.head_too_large(MOST_HEAD // 1024, MOST_HEADERS))


def head_too_slow() -> TooSlow:
    """Return the refusal of who is slow with a head."""
    return TooSlow(requests.head_too_slow(HEAD_S))


def body_too_slow() -> TooSlow:
    """Return the refusal of who is slow with a body."""
    return TooSlow(requests.body_too_slow(BODY_S))


def no_http() -> BadRequest:
    """Return the refusal of what cannot be parsed."""
    return BadRequest(requests.not_http())


def too_many_ahead() -> BadRequest:
    """Return the refusal of endless pipelining; it is not sent, for answers to earlier requests are still due."""
    return BadRequest(requests.too_many_ahead(MOST_AHEAD))


def wire(error: TrainmasterError) -> bytes:
    """Return the whole answer as it is sent."""
    answer = answer_error(error, "")
    head = b"".join(b"%s: %s\r\n" % pair for pair in answer.raw_headers)
    return b"HTTP/1.1 %d \r\n%sconnection: close\r\n\r\n%s" % (error.status, head, bytes(answer.body))
