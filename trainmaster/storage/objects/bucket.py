"""What is known of a store, and the way to it. What talks to it (`wire`) is loaded with the first one that is opened.

Invariant: a key is in no text that this can be turned into.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from trainmaster.storage.objects.reaching import StoreReach

if TYPE_CHECKING:
    from trainmaster.storage.objects.wire import Bucket

OF_AWS: Final = re.compile(r"s3(\.dualstack)?(\.(?P<region>[a-z]{2,}(-[a-z]+)+-[0-9]+))?\.amazonaws\.com(\.cn)?")
"""The hosts at which AWS serves S3."""

GoOn = Callable[[], None]
"""Asked all the time; raises where nobody wants it any more."""


@dataclass(frozen=True, slots=True)
class StoreTarget:
    """A bucket of a store, and below which prefix. `endpoint`: scheme, host and port."""

    endpoint: str
    region: str
    bucket: str
    prefix: str
    key_id: str = field(repr=False)
    secret: str = field(repr=False)

    def place(self, path: str) -> str:
        """Return what a path below the connection is called in the bucket, without slashes around it."""
        return "/".join(part for part in (self.prefix.strip("/"), path.strip("/")) if part)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object of a bucket, as it was listed. `etag` without quotes."""

    key: str
    size: int
    etag: str


def region_of(endpoint: str, region: str) -> str:
    """Return where a bucket is: the region that its connection names, or the host of AWS; "" where neither does."""
    named = OF_AWS.fullmatch(urlsplit(endpoint).hostname or "")
    return region or (named["region"] if named is not None else None) or ""


def nothing_else() -> None:
    """Go on."""


def open_bucket(target: StoreTarget, reach: StoreReach, go_on: GoOn = nothing_else) -> "Bucket":
    """Return the way to a bucket; nothing is asked of it yet. Loads the client library at the first time (0.3 s)."""
    from trainmaster.storage.objects.wire import Bucket  # noqa: PLC0415 (the client library: see there)

    return Bucket(target, reach, go_on)
