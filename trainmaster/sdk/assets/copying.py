"""Copies between this machine and the server, as `tm cp` does them: one side is a path here, the other
``volume:NAME/path``, ``job:ID/path``, ``dataset:NAME@VERSION/path`` or ``model:NAME@VERSION/path``.

Only volumes can be written. Invariant: nothing that is here is overwritten, and nothing is written outside of where it
was asked for (`sdk.downloads`).
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

from trainmaster import answers
from trainmaster.core.errors import InvalidSpec, NotFound, TooLarge, problem_of
from trainmaster.messages.server import client as said
from trainmaster.sdk.assets.models import segment
from trainmaster.sdk.downloads import to_file, unpacked

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client

Kind = Literal["volume", "job", "dataset", "model"]
KINDS: Final[tuple[Kind, ...]] = ("volume", "job", "dataset", "model")
MOST_LISTED: Final = 10_000
"""Entries of one folder that the server lists."""

Moved = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Remote:
    """A place on the server. `version` None: the last one; `path` "": all of it."""

    kind: Kind
    name: str
    version: int | None = None
    path: str = ""

    @classmethod
    def parsed(cls, text: str) -> Self | None:
        """Return the place that `text` names, None for a path of this machine. Raises InvalidSpec where it is neither:
        a kind without a name, a version that is no number.
        """
        kind, colon, rest = text.partition(":")
        if not colon or kind not in KINDS:
            return None
        named, _, path = rest.partition("/")
        name, at, number = named.partition("@")
        versioned = kind in ("dataset", "model")
        if not name or (at and not (versioned and number.isascii() and number.isdigit() and len(number) < 10)):
            raise InvalidSpec(said.not_a_place(text), problems=(problem_of("", said.places_are()),))
        return cls(kind, name, int(number) if at else None, path)


@dataclass(frozen=True, slots=True)
class Copied:
    """What was written, here or there, and which links were left out."""

    files: list[str]
    left_out: list[str] = field(default_factory=list)


def copy(
    client: "Client", source: str, target: str, *, on_total: Moved | None = None, on_bytes: Moved | None = None
) -> Copied:
    """Copy a file, or what is in a folder. Raises InvalidSpec unless exactly one side is on the server, Conflict where
    files of these names are here already, NotFound, Forbidden, Unavailable.
    """
    there, onto = Remote.parsed(source), Remote.parsed(target)
    if (there is None) == (onto is None):
        raise InvalidSpec(said.one_side_is_here(), problems=(problem_of("", said.places_are()),))
    if onto is not None:
        if onto.kind != "volume":
            raise InvalidSpec(said.only_volumes_are_written(target))
        left_out: list[str] = []
        sent = client.volumes.upload(
            source, onto.name, onto.path, on_total=on_total, on_bytes=on_bytes, left_out=left_out
        )
        return Copied([f"volume:{onto.name}/{path}" for path in sent], left_out)
    assert there is not None
    return Copied([str(one) for one in _Fetching(client, there, target, on_total, on_bytes).run()])


class _Fetching:
    """One copy to this machine."""

    def __init__(
        self, client: "Client", there: Remote, target: str, on_total: Moved | None, on_bytes: Moved | None
    ) -> None:
        self._client, self._there, self._target = client, there, target
        self._on_total, self._on_bytes = on_total, on_bytes
        path = there.path.strip("/")
        self._path = (path or "outputs") if there.kind == "job" else path

    def run(self) -> list[Path]:
        root = self._root()
        try:
            listed = self._listed(root, self._path)
        except NotFound:
            if not self._path:
                raise
            return [self._file(root, self._path, self._place())]
        if self._there.kind == "dataset" and not self._path:
            number = int(root.rpartition("/")[2])
            return self._client.datasets.download(self._there.name, number, self._target, on_bytes=self._on_bytes)
        archive = {"volume": "/files/download", "job": "/files/download", "model": "/download"}.get(self._there.kind)
        if archive is not None and not (self._there.kind == "model" and self._path):
            blocks = self._client.http.download(root + archive, params={"path": self._path})
            return unpacked(blocks, Path(self._target), self._on_bytes)
        found = [*self._below(root, listed)]
        if self._on_total is not None:
            self._on_total(sum(one.size for one in found))
        return [self._file(root, one.path, Path(self._target, one.path[len(self._path) + 1 :])) for one in found]

    def _root(self) -> str:
        """Return the address below which the files lie."""
        there, client = self._there, self._client
        if there.kind == "volume":
            return f"/volumes/{segment(there.name)}"
        if there.kind == "job":
            return f"/jobs/{segment(there.name)}"
        number = there.version
        if there.kind == "dataset":
            return f"/datasets/{segment(there.name)}/versions/{number or client.datasets.get(there.name).latest or 1}"
        number = number or max((one.version for one in client.model(there.name).versions), default=1)
        return f"/models/{segment(there.name)}/versions/{number}"

    def _listed(self, root: str, path: str) -> list[answers.File]:
        found = self._client.http.read(answers.Files, "GET", f"{root}/files", params={"path": path}).items
        if len(found) >= MOST_LISTED:  # there may be more, and what is left out must not look whole
            raise TooLarge(said.folder_too_large_to_copy(path or "/", MOST_LISTED))
        return found

    def _below(self, root: str, listed: list[answers.File]) -> Iterator[answers.File]:
        for one in listed:
            if one.kind == "folder":
                yield from self._below(root, self._listed(root, one.path))
            elif one.kind == "file":
                yield one

    def _place(self) -> Path:
        """Return where a single file goes."""
        name = self._path.rpartition("/")[2]
        inside = self._target.endswith(os.sep) or os.path.isdir(self._target)
        return Path(self._target, name) if inside else Path(self._target)

    def _file(self, root: str, path: str, place: Path) -> Path:
        blocks = self._client.http.download(f"{root}/files/content", params={"path": path})
        return to_file(blocks, place, self._on_bytes)
