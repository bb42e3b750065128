"""Data sets: trees of files under a name, with versions. What `Client.datasets` offers.

An upload sends the list of files first, then only what the server lacks: small files together, large ones in pieces. It
goes on where it was when the line breaks, and can be taken up again by another process with its id.
"""

import builtins
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack
from urllib.parse import quote

from trainmaster import answers
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Unavailable, problem_of
from trainmaster.core.formats.frames import HEAD, frame
from trainmaster.messages.server import client as said
from trainmaster.sdk.assets.listing import AssetFilters, pages
from trainmaster.sdk.assets.subscriptions import PassingOn
from trainmaster.sdk.downloads import Received
from trainmaster.sdk.pack import tree_of

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client

PIECE: Final = 64 << 20
"""Bytes of a large file that go in one request."""
_BLOCK: Final = 1 << 20
_TRIES: Final = 6
_TIMEOUT_S: Final = 600.0
_BEGIN_S: Final = 300.0

Moved = Callable[[int], None]
"""Is told how many more bytes were hashed, or sent."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file that is to be uploaded, by its content."""

    path: str
    size: int


class DatasetCalls(PassingOn[answers.DatasetDetail]):
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound for what is not there or not shared, InvalidSpec with all problems, Conflict, Unavailable.
    """

    _kind = "dataset"
    _shows = answers.DatasetDetail

    def __init__(self, client: "Client") -> None:
        self._http = client.http

    def list(
        self, q: str = "", *, limit: int | None = 50, **filters: Unpack[AssetFilters]
    ) -> builtins.list[answers.DatasetView]:
        """Return data sets, what was changed last first; `limit` None: all. `q`: words in name, description, owner,
        id.
        """
        return [*self.iterate(q, limit=limit, **filters)]

    def iterate(
        self, q: str = "", *, limit: int | None = None, **filters: Unpack[AssetFilters]
    ) -> Iterator[answers.DatasetView]:
        """Yield data sets page by page, like `list`."""

        def read(asked: dict[str, object]) -> answers.DatasetPage:
            return self._http.read(answers.DatasetPage, "GET", "/datasets", params=asked)

        return pages(read, {"q": q, **filters}, limit)

    def get(self, ref: str) -> answers.DatasetDetail:
        """Return a data set with its versions."""
        return self._http.read(answers.DatasetDetail, "GET", self._at(ref))

    def describe(self, ref: str, description: str) -> answers.DatasetDetail:
        """Say what a data set is."""
        return self._http.read(
            answers.DatasetDetail, "PATCH", self._at(ref), json={"description": description}, repeat=True
        )

    def share(self, ref: str, share: str) -> answers.DatasetDetail:
        """Share a data set with the other members of its workspace, or no more."""
        return self._http.read(
            answers.DatasetDetail, "PUT", self._at(ref, "/share"), json={"share": share}, repeat=True
        )

    def favor(self, ref: str, wanted: bool = True) -> answers.DatasetDetail:
        """Make a data set one of one's own favorites, or no more."""
        return self._http.read(answers.DatasetDetail, "PUT" if wanted else "DELETE", self._at(ref, "/favorite"))

    def delete(self, ref: str, version: int | None = None) -> None:
        """Delete a version of a data set, or with None all of it. Raises Conflict while a job that has not ended needs
        it.
        """
        self._http.request("DELETE", self._at(ref, "" if version is None else f"/versions/{version}"), repeat=False)

    def files(self, ref: str, version: int | None = None, path: str = "") -> builtins.list[answers.File]:
        """Return what lies in a folder of a version (default: the newest)."""
        at = self._at(ref, f"/versions/{self._number(ref, version)}/files")
        return self._http.read(answers.Files, "GET", at, params={"path": path}).items

    def download(
        self,
        ref: str,
        version: int | None = None,
        to: str | os.PathLike[str] = ".",
        *,
        on_bytes: Received | None = None,
    ) -> builtins.list[Path]:
        """Download a version (default: the newest) into the folder `to`; return its files. What is there already and
        the same does not come again, so that a download which broke off goes on. Raises Conflict where something else
        is there; then nothing is written.
        """
        from trainmaster.sdk.assets.fetching import TreeDownload  # noqa: PLC0415 - few need it

        at = self._at(ref, f"/versions/{self._number(ref, version)}")
        return TreeDownload(self._http, at, ref, os.fspath(to), on_bytes or (lambda _: None)).run()

    def _number(self, ref: str, version: int | None) -> int:
        return version if version is not None else self.get(ref).latest or 1

    def upload(
        self,
        folder: str | os.PathLike[str],
        name: str,
        *,
        workspace: str | None = None,
        description: str = "",
        share: str = "none",
        on_hash: Moved | None = None,
        on_total: Moved | None = None,
        on_bytes: Moved | None = None,
        on_begin: Callable[[str], None] | None = None,
        upload: str | None = None,
    ) -> answers.MadeVersion:
        """Upload a folder, or one file, as the next version of the data set `name`, which is made by it where there is
        none; return the version. `description` and `share` are of one that is made.

        `on_total` is told how many bytes the server lacks, `on_bytes` of those that were sent, `on_begin` the id of the
        upload. `upload`: that of one that was begun before with the same files, to go on with. Raises InvalidSpec for
        what cannot be sent, and where a file changes meanwhile.
        """
        listed, contents = survey(folder, on_hash)
        if upload is None:
            body: dict[str, object] = {"name": name, "files": listed, "description": description, "share": share}
            body |= {} if workspace is None else {"workspace": workspace}
            begun = self._http.read(answers.DatasetUploadView, "POST", "/datasets/uploads", json=body, timeout=_BEGIN_S)
        else:
            try:
                begun = self.progress(upload)
            except NotFound:  # it is a version already, or gone
                return self._commit(upload)
        if on_begin is not None:
            on_begin(begun.id)
        if on_total is not None:
            missing = (contents[one].size for one in begun.missing if one in contents)
            on_total(sum(missing) - sum(begun.begun.values()))
        self._send(begun, contents, on_bytes or (lambda _: None))
        return self._commit(begun.id)

    def _commit(self, upload: str) -> answers.MadeVersion:
        path = f"/datasets/uploads/{quote(upload, safe='')}/commit"
        return self._http.read(answers.MadeVersion, "POST", path, repeat=True, timeout=_TIMEOUT_S)

    def progress(self, upload: str) -> answers.DatasetUploadView:
        """Return how far an upload is that was begun."""
        return self._http.read(answers.DatasetUploadView, "GET", f"/datasets/uploads/{quote(upload, safe='')}")

    def cancel(self, upload: str) -> None:
        """Remove an upload that was begun."""
        self._http.request("DELETE", f"/datasets/uploads/{quote(upload, safe='')}")

    def _send(self, begun: answers.DatasetUploadView, contents: dict[str, LocalFile], on_bytes: Moved) -> None:
        wanted = [(one, contents[one]) for one in begun.missing if one in contents]
        if len(wanted) != len(begun.missing):
            raise InvalidSpec(said.other_files_than_begun())
        small = [one for one in wanted if one[1].size <= begun.small_bytes]
        for name, file in (one for one in wanted if one[1].size > begun.small_bytes):
            self._send_large(begun.id, name, file, begun.begun.get(name, 0), on_bytes)
        with ThreadPoolExecutor(1, "upload") as ahead:  # the next batch is read while one is sent
            batches = _batches(small, begun.batch_bytes)
            following = ahead.submit(next, batches, None)
            while (batch := following.result()) is not None:
                following = ahead.submit(next, batches, None)
                body, size = batch
                self._http.request(
                    "POST", f"/datasets/uploads/{begun.id}/contents", content=body, repeat=True, timeout=_TIMEOUT_S
                )
                on_bytes(size)

    def _send_large(self, upload: str, name: str, file: LocalFile, offset: int, on_bytes: Moved) -> None:
        """Send a file piece by piece; where the line breaks, from where the server has it."""
        tries = 0
        while offset < file.size:
            try:
                answer = self._http.read(
                    answers.ReceivedView,
                    "PUT",
                    f"/datasets/uploads/{upload}/contents/{name}",
                    params={"offset": offset},
                    content=_piece(file, offset),
                    timeout=_TIMEOUT_S,
                )
                moved, tries = (answer.size_bytes or offset) - offset, 0
            except (Unavailable, Conflict):
                tries += 1
                if tries >= _TRIES:
                    raise
                time.sleep(min(0.2 * 2**tries, 5.0))
                state = self.progress(upload)
                moved = (state.begun.get(name, 0) if name in state.missing else file.size) - offset
            if moved == 0 and tries == 0:
                raise InvalidSpec(said.other_files_than_begun())  # it became shorter
            on_bytes(max(0, moved))
            offset += moved

    @staticmethod
    def _at(ref: str, after: str = "") -> str:
        return f"/datasets/{quote(ref, safe='') or '%20'}{after}"


def survey(
    folder: str | os.PathLike[str], on_hash: Moved | None = None
) -> tuple[builtins.list[dict[str, object]], dict[str, LocalFile]]:
    """Return the list of files of a folder, or of one file, as an upload begins with it, and a file for each content.
    Raises InvalidSpec with everything that cannot be sent. O(bytes).
    """
    listed: builtins.list[dict[str, object]] = []
    contents: dict[str, LocalFile] = {}
    for path, kind, place, target in tree_of(os.fspath(folder)):
        if kind == "l":
            listed.append({"path": path, "link": target})
        elif kind == "d":
            listed.append({"path": path, "folder": True})
        else:
            name, size = _digest(place, path, on_hash)
            listed.append({"path": path, "size": size, "sha256": name} | ({"executable": True} if kind == "x" else {}))
            contents.setdefault(name, LocalFile(place, size))
    return listed, contents


def _digest(place: str, path: str, on_hash: Moved | None) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    try:
        with open(place, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
                if on_hash is not None:
                    on_hash(len(block))
    except OSError as error:
        found = problem_of(path, said.file_not_read(error.strerror or str(error)))
        raise InvalidSpec(said.files_not_read(), problems=(found,)) from error
    return digest.hexdigest(), size


def _batches(files: Sequence[tuple[str, LocalFile]], most: int) -> Iterator[tuple[bytes, int]]:
    """Yield (body, bytes of contents) of requests with many small files each."""
    parts: builtins.list[bytes] = []
    size = 0
    for name, file in files:
        try:
            with open(file.path, "rb") as opened:
                content = opened.read(file.size + 1)
            parts.append(frame(name, content))
        except (OSError, ValueError) as error:
            found = problem_of(file.path, said.file_not_read(str(error)))
            raise InvalidSpec(said.files_not_read(), problems=(found,)) from error
        size += len(content)
        if size + HEAD.size * len(parts) >= most:
            yield b"".join(parts), size
            parts, size = [], 0
    if parts:
        yield b"".join(parts), size


def _piece(file: LocalFile, offset: int) -> Iterator[bytes]:
    left = PIECE
    with open(file.path, "rb", buffering=0) as opened:
        opened.seek(offset)
        while left > 0 and (block := opened.read(min(_BLOCK, left))):
            left -= len(block)
            yield block
