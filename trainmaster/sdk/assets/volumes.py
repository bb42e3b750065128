"""Volumes: folders under a name, which jobs mount to read or to write. What `Client.volumes` offers.

A file that is sent is there when all of it came; one that breaks off on its way is sent again, since until then the
server has what it had.
"""

import builtins
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

from trainmaster import answers
from trainmaster.core.errors import InvalidSpec, NotFound, Unavailable, problem_of
from trainmaster.messages.server import client as said
from trainmaster.sdk.assets.listing import AssetFilters, pages
from trainmaster.sdk.assets.models import segment
from trainmaster.sdk.downloads import Received, to_file, unpacked
from trainmaster.sdk.pack import tree_of

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client

SMALL: Final = 1 << 20
"""Files of at most so many bytes are sent several at once."""
AT_ONCE: Final = 4
_BLOCK: Final = 1 << 20
_TRIES: Final = 5
_TIMEOUT_S: Final = 600.0

Moved = Callable[[int], None]
"""Is told how many more bytes were sent; fewer, where a file has to be sent again."""


@dataclass(frozen=True, slots=True)
class _Local:
    """A file or an empty folder (`size` -1) of this machine, and where it is to lie."""

    place: str
    path: str
    size: int
    executable: bool


class VolumeCalls:
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound for what is not there or not shared, InvalidSpec with all problems, Conflict, Unavailable.
    """

    def __init__(self, client: "Client") -> None:
        self._http = client.http

    # -- volumes -----------------------------------------------------------------------------------------------

    def list(
        self, q: str = "", *, limit: int | None = 50, **filters: Unpack[AssetFilters]
    ) -> builtins.list[answers.VolumeView]:
        """Return volumes, what was changed last first; `limit` None: all. `q`: words in name, description, owner,
        id.
        """
        return [*self.iterate(q, limit=limit, **filters)]

    def iterate(
        self, q: str = "", *, limit: int | None = None, **filters: Unpack[AssetFilters]
    ) -> Iterator[answers.VolumeView]:
        """Yield volumes page by page, like `list`."""

        def read(asked: dict[str, object]) -> answers.VolumePage:
            return self._http.read(answers.VolumePage, "GET", "/volumes", params=asked)

        return pages(read, {"q": q, **filters}, limit)

    def get(self, ref: str) -> answers.VolumeDetail:
        """Return a volume, with the jobs that mount it."""
        return self._http.read(answers.VolumeDetail, "GET", _at(ref))

    def create(
        self, name: str, *, workspace: str | None = None, description: str = "", share: str = "none"
    ) -> answers.VolumeDetail:
        """Make a volume, with nothing in it."""
        body: dict[str, object] = {"name": name, "workspace": workspace, "description": description, "share": share}
        return self._http.read(answers.VolumeDetail, "POST", "/volumes", json=body)

    def change(self, ref: str, *, name: str | None = None, description: str | None = None) -> answers.VolumeDetail:
        """Name a volume otherwise, or say what it is for. Raises Conflict while a job that has not ended mounts it."""
        body: dict[str, object] = {"name": name, "description": description}
        return self._http.read(answers.VolumeDetail, "PATCH", _at(ref), json=body)

    def share(self, ref: str, share: str) -> answers.VolumeDetail:
        """Share a volume with the other members of its workspace, or no more."""
        return self._http.read(answers.VolumeDetail, "PUT", _at(ref, "/share"), json={"share": share}, repeat=True)

    def favor(self, ref: str, wanted: bool = True) -> answers.VolumeDetail:
        """Make a volume one of one's own favorites, or no more."""
        return self._http.read(answers.VolumeDetail, "PUT" if wanted else "DELETE", _at(ref, "/favorite"))

    def delete(self, ref: str) -> None:
        """Delete a volume with all that is in it. Raises Conflict while a job that has not ended mounts it."""
        self._http.request("DELETE", _at(ref), repeat=False)

    # -- what is in them ---------------------------------------------------------------------------------------

    def files(self, ref: str, path: str = "") -> builtins.list[answers.File]:
        """Return what lies in a folder of a volume."""
        return self._http.read(answers.Files, "GET", _at(ref, "/files"), params={"path": path}).items

    def download(
        self, ref: str, path: str = "", to: str | os.PathLike[str] = ".", *, on_bytes: Received | None = None
    ) -> builtins.list[Path]:
        """Download a file, or what is in a folder, into the folder `to`; return the files. Raises Conflict where files
        of these names are there already; then nothing is written.
        """
        params, name = {"path": path}, path.rstrip("/").rpartition("/")[2]
        try:
            self._http.request("GET", _at(ref, "/files"), params=params)
        except NotFound:  # not a folder: a file, or nothing
            blocks = self._http.download(_at(ref, "/files/content"), params=params)
            return [to_file(blocks, Path(to, name), on_bytes)]
        return unpacked(self._http.download(_at(ref, "/files/download"), params=params), Path(to), on_bytes)

    def upload(
        self,
        source: str | os.PathLike[str],
        ref: str,
        path: str = "",
        *,
        on_total: Moved | None = None,
        on_bytes: Moved | None = None,
        left_out: builtins.list[str] | None = None,
    ) -> builtins.list[str]:
        """Send a file, or what is in a folder, to a volume; return the paths there. A file goes to `path`, by its own
        name where that is a folder, ends with ``/`` or is empty; what is in a folder goes below `path`. Each replaces
        what has its path. Links are not sent: `left_out` is told of them.
        """
        found = self._found(os.fspath(source), ref, path, [] if left_out is None else left_out)
        (on_total or _nothing)(sum(max(0, one.size) for one in found))
        for one in found:
            if one.size < 0:
                self.make_folder(ref, one.path, there=True)
        told, small = on_bytes or _nothing, [one for one in found if 0 <= one.size <= SMALL]
        with ThreadPoolExecutor(AT_ONCE, "upload") as senders:
            for sent in senders.map(partial(self._send_small, ref), small):
                told(sent)
        for one in found:
            if one.size > SMALL:
                self._send_large(ref, one, told)
        return [one.path for one in found]

    def _found(self, source: str, ref: str, path: str, left_out: builtins.list[str]) -> builtins.list[_Local]:
        below, found = path.strip("/"), builtins.list[_Local]()
        tree = tree_of(source)
        if os.path.isfile(source):
            [(name, kind, place, _)] = tree
            if path == "" or path.endswith("/") or self._is_folder(ref, path):
                below = f"{below}/{name}" if below else name
            return [_Local(place, below, os.path.getsize(place), kind == "x")]
        for name, kind, place, _ in tree:
            if kind == "l":
                left_out.append(name)
                continue
            where = f"{below}/{name}" if below else name
            found.append(_Local(place, where, -1 if kind == "d" else os.path.getsize(place), kind == "x"))
        return found

    def _is_folder(self, ref: str, path: str) -> bool:
        try:
            self.files(ref, path)
        except NotFound:
            return False
        return True

    def put(self, ref: str, path: str, content: bytes, *, executable: bool = False) -> answers.File:
        """Store `content` as the file at `path`."""
        asked = {"path": path, "executable": executable}
        return self._http.read(
            answers.File, "PUT", _at(ref, "/files/content"), params=asked, content=content, repeat=True,
            timeout=_TIMEOUT_S,
        )  # fmt: skip

    def _send_small(self, ref: str, one: _Local) -> int:
        try:
            content = Path(one.place).read_bytes()
        except OSError as error:
            raise _not_read(one.place, error) from error
        self.put(ref, one.path, content, executable=one.executable)
        return len(content)

    def _send_large(self, ref: str, one: _Local, told: Moved) -> None:
        asked, headers = {"path": one.path, "executable": one.executable}, {"content-length": str(one.size)}
        for turn in range(_TRIES):
            sent = 0

            def counted(size: int) -> None:
                nonlocal sent
                sent += size
                told(size)

            try:
                self._http.request(
                    "PUT", _at(ref, "/files/content"), params=asked, headers=headers, content=_blocks(one, counted),
                    timeout=_TIMEOUT_S, repeat=False,
                )  # fmt: skip
            except Unavailable:
                if turn == _TRIES - 1:
                    raise
                told(-sent)
                time.sleep(min(0.2 * 2**turn, 5.0))
            else:
                return

    def make_folder(self, ref: str, path: str, *, there: bool = False) -> None:
        """Make a folder, with those on the way. `there`: it may be there already, which else raises Conflict."""
        if not (there and self._is_folder(ref, path)):
            self._http.request("POST", _at(ref, "/folders"), json={"path": path})

    def move(self, ref: str, path: str, to: str) -> None:
        """Give a file or folder another name or place. Raises Conflict where something is already."""
        self._http.request("POST", _at(ref, "/moves"), json={"path": path, "to": to})

    def remove(self, ref: str, path: str) -> None:
        """Delete a file, or a folder with all that is in it."""
        self._http.request("DELETE", _at(ref, "/files"), params={"path": path}, repeat=False)


def _at(ref: str, after: str = "") -> str:
    return f"/volumes/{segment(ref)}{after}"


def _nothing(_: int) -> None:
    pass


def _blocks(one: _Local, told: Moved) -> Iterable[bytes]:
    left = one.size
    with open(one.place, "rb", buffering=0) as file:
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            left -= len(block)
            yield block
            told(len(block))
    if left > 0:  # it became shorter meanwhile
        raise InvalidSpec(said.other_files_than_begun())


def _not_read(place: str, error: OSError) -> InvalidSpec:
    found = problem_of(place, said.file_not_read(error.strerror or str(error)))
    return InvalidSpec(said.files_not_read(), problems=(found,))
