"""What the tasks of one node make in the folders of their job, `model` and `outputs`, as it comes to the server: a part
of `mirror`.

A file is fetched when size or time are not those that it has here, and has the node's time afterwards: so nothing is
remembered, and whoever is killed, the next one fetches what is missing. Believed is nothing: see `mirror_writing`.
"""

import contextlib
import json
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from trainmaster.agent.folder import Folder
from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.mirror import mirror_writing
from trainmaster.engines.slurm.mirror.mirror_writing import Changed, Failed, Trespass, sound
from trainmaster.engines.slurm.node.mirror import FILE, FOLDER, LINK, pwrite_all
from trainmaster.engines.slurm.wrong import Wrong
from trainmaster.messages.said import Said, verbatim

log = logging.getLogger("trainmaster.slurm")

PIECE: Final = 1 << 20
"""Bytes that are sent or asked for at once."""
QUIET_S: Final = 5.0
"""A file that was written to more recently is left for the next look, while the tasks run."""
MOST_FILES: Final = 256
"""Files that are asked for at once."""
MOST_ENTRIES: Final = 1_000_000
EVENTS: Final = ".tfevents."
"""In the name of a file that only grows, and is looked at while it does."""

Ask = Callable[..., tuple[dict[str, Any], bytes]]


@dataclass
class Shape:
    """What of an attempt is the same at the server and on its nodes. Relative paths lie below `data`, the folder of all
    jobs.

    `base`: how the roots on the nodes begin. `brings`: folders and files that its tasks read, our package first;
    `trees`: folders that its tasks write, brought before and fetched after. `request`: the file that says what is to be
    done; `text`: what stands in it for a root. `tasks`: names of the tasks of each component. `log_mib`: 0: no limit.
    """

    shared: Folder
    data: str
    base: str
    request: str
    text: Callable[[str], str]
    brings: tuple[str, ...]
    trees: tuple[str, ...] = ()
    tasks: tuple[tuple[str, ...], ...] = ((),)
    log_mib: int = 0
    givers: dict[str, int] | None = None  # which node a file or link was taken from; None: not yet read
    turn: threading.Lock = field(default_factory=threading.Lock)
    twice: set[str] = field(default_factory=set)  # paths that several nodes have written
    left_out: dict[str, Said] = field(default_factory=dict)  # links that were not made here, and why

    @property
    def folder(self) -> str:
        """The attempt's folder, relative."""
        return os.path.relpath(self.shared.path, self.data)

    def fetched(self, part: str) -> str:
        """Return what is there once all of a part was fetched."""
        return self.shared.file(f"fetched-{part}")

    def giver(self, path: str, order: int) -> bool:
        """Return whether `path` is taken from the node that is the `order`-th. Of several that write it, the first has
        it.
        """
        with self.turn:
            givers = self._givers()
            if (before := givers.get(path, order)) != order:
                self.twice.add(path)
            if before > order or path not in givers:
                givers[path] = order
                with open(self.shared.file("givers"), "a", encoding="utf-8") as file:
                    file.write(json.dumps([path, order]) + "\n")
            return before >= order

    def free(self, path: str, order: int) -> bool:
        """Return whether what lies at `path` may go for that node: none of it came from another one."""
        with self.turn:
            givers = self._givers()
            if (giver := givers.get(path)) is not None:
                return giver == order
            return all(giver == order for below, giver in givers.items() if below.startswith(path + "/"))

    def _givers(self) -> dict[str, int]:
        """Return them as this server or the one before has written them down."""
        if self.givers is None:
            self.givers = {}
            with contextlib.suppress(FileNotFoundError), open(self.shared.file("givers"), "r+b") as file:
                text = file.read()
                whole = text[: text.rfind(b"\n") + 1]
                file.truncate(len(whole))  # the last line, if its writer was killed
                self.givers.update(json.loads(line) for line in whole.splitlines())
        return self.givers


class Trees:
    """Those of one node, the `order`-th of its attempt. `ask`: asks the node; `meanwhile` is called after each piece of
    them.
    """

    def __init__(self, shape: Shape, part: str, order: int, ask: Ask, meanwhile: Callable[[], None]) -> None:
        self.shape, self.part, self.order, self.ask, self.meanwhile = shape, part, order, ask, meanwhile
        self._missing: dict[str, tuple[str, Said]] = {}  # path -> its kind, and why the last look could not fetch it

    def complete(self) -> None:
        """Say which links were left out. Raises Failed where a file or folder was: the node has the only copy of it."""
        self.shape.left_out.update({path: why for path, (kind, why) in self._missing.items() if kind == LINK})
        rest = [(path, why) for path, (kind, why) in self._missing.items() if kind != LINK]
        for path, why in rest:
            raise Failed(say.files_not_fetched(len(rest), escape_path(path), why))

    def collect(self, final: bool) -> None:
        """Fetch what the tasks have made or changed since it was brought, oldest first. `final`: they write no more,
        all of it.
        """
        self._missing = {}
        files: list[Sequence[Any]] = []
        at, more = 0, bool(self.shape.trees)
        while more:
            said, body = self.ask("made", trees=self.shape.trees, at=at)
            page = json.loads(body)
            more = said["more"] and bool(page)
            at += len(page)
            if at > MOST_ENTRIES:
                raise Trespass(say.too_many_to_fetch(MOST_ENTRIES))
            for entry in page:
                try:
                    if self._take(entry, final, int(said["now"])):
                        files.append(entry)
                except Trespass as error:
                    log.warning("%s of %s: %s: %s", self.part, self.shape.base, escape_path(entry[0]), error)
                    self._left_out(entry, error.said)
            for batch in batches(files):
                self._fetch(batch)
            files.clear()

    def _left_out(self, entry: Sequence[Any], why: Said) -> None:
        if entry[1]:  # an entry without a kind is gone on the node
            self._missing[entry[0]] = entry[1], why

    def _take(self, entry: Sequence[Any], final: bool, now: int) -> bool:
        """Do what one entry asks for; return whether it is a file that has to be fetched. Raises Trespass for what may
        not be written.
        """
        path, kind, size, mtime, _, target = entry
        tree = next((tree for tree in self.shape.trees if path.startswith(tree + "/")), None)
        if tree is None or not sound(path):
            raise Trespass(say.path_not_taken())
        if kind == FOLDER:
            self._folder(path)
            return False
        if kind == "":
            if final:
                mirror_writing.remove(self.shape.data, path, lambda: self.shape.free(path, self.order))
            return False
        if kind == LINK:
            if not within(tree, path, target):
                raise Trespass(say.link_leads_elsewhere())
            if self._mine(path):
                mirror_writing.link(self.shape.data, path, target)
            return False
        if kind != FILE:
            raise Trespass(verbatim(str(target)[:200]) if target else say.no_file_folder_or_link())
        if not final and EVENTS not in path and now - mtime < QUIET_S * 1e9:
            return False
        if not self._mine(path):
            return False
        here = mirror_writing.look_up(self.shape.data, path)
        return here is None or not stat.S_ISREG(here.st_mode) or (here.st_size, here.st_mtime_ns) != (size, mtime)

    def _folder(self, path: str) -> None:
        """Make a folder, also in place of what is none. Raises Trespass where that came from another node."""
        here = mirror_writing.look_up(self.shape.data, path)
        if here is not None and not stat.S_ISDIR(here.st_mode) and not self.shape.free(path, self.order):
            raise Trespass(say.file_of_another_node())
        mirror_writing.folder(self.shape.data, path)

    def _mine(self, path: str) -> bool:
        """Return whether a file or link is taken from this node. Raises Trespass where a folder with files of another
        node lies.
        """
        here = mirror_writing.look_up(self.shape.data, path)
        if here is not None and stat.S_ISDIR(here.st_mode) and not self.shape.free(path, self.order):
            raise Trespass(say.folder_of_another_node())
        return self.shape.giver(path, self.order)

    def _fetch(self, files: Sequence[Sequence[Any]]) -> None:
        """Fetch files that fit into one answer, or one that is as long as it is: each there whole or not at all."""
        if len(files) == 1:
            self._fetch_one(files[0])
            return
        asked = [(str(entry[0]), 0, int(entry[2])) for entry in files]
        for entry, (piece, size, mtime, _) in zip(files, self._pieces(asked), strict=True):
            if (size, mtime) == (entry[2], entry[3]) and len(piece) == size:
                with self._whole(entry) as fd:
                    pwrite_all(fd, piece, 0)
            else:
                self._left_out(entry, _why_not(size))

    def _fetch_one(self, entry: Sequence[Any]) -> None:
        path, _, size, mtime, *_ = entry
        at = 0
        with self._whole(entry) as fd:
            while True:
                ((piece, now, changed, at),) = self._pieces([(path, at, PIECE)], holes=True)
                pwrite_all(fd, piece, at)
                at += len(piece)
                if now < 0 or (EVENTS not in path and (now, changed) != (size, mtime)):
                    self._left_out(entry, _why_not(now))
                    raise Changed
                if not piece or at >= size:
                    os.truncate(fd, at)  # a hole at the end counts to its size, too
                    return

    def _pieces(self, asked: Sequence[tuple[str, int, int]], holes: bool = False) -> list[tuple[bytes, int, int, int]]:
        found = list(pieces(self.ask, ".", asked, holes))
        self.meanwhile()
        return found

    def _whole(self, entry: Sequence[Any]) -> AbstractContextManager[int]:
        path, _, _, mtime, mode, _ = entry
        return mirror_writing.writing_whole(
            self.shape.data, path, self.shape.shared.file(f".mirror-{self.part}"), mode, mtime
        )


def _why_not(size: int) -> Said:
    """Return why a file was not taken that is not as it was listed. `size` below 0: it could not be read."""
    return say.unreadable_on_node() if size < 0 else say.changed_while_read()


def within(tree: str, path: str, target: str) -> bool:
    """Return whether a link at `path` leads to something below `tree`, wherever other links here lead: up first, then
    only down.
    """
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = sum(part == ".." for part in parts)
    to = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return not os.path.isabs(target) and ".." not in parts[up:] and to.startswith(tree + "/")


def escape_path(path: str) -> str:
    """Return a path as it can be shown: what is no text in it is escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


def batches(files: Sequence[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    """Yield the files, in their order, by what fits into one answer; one that grows or does not fit, alone."""
    batch: list[Sequence[Any]] = []
    total = 0
    for entry in files:
        alone = entry[2] > PIECE or EVENTS in entry[0]
        if batch and (alone or total + entry[2] > PIECE or len(batch) >= MOST_FILES):
            yield batch
            batch, total = [], 0
        batch.append(entry)
        total += entry[2]
        if alone:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def pieces(
    ask: Ask, folder: str, asked: Sequence[tuple[str, int, int]], holes: bool = False
) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield of each ``(name, at, most)`` in `folder` what is there, size and time of the file, and where it begins:
    with `holes` where something was written from `at` on. Raises what `ask` does, ValueError.
    """
    said, body = ask("get", folder=folder, files=asked, holes=holes)
    got, begins = said["got"], 0
    if len(got) != len(asked) or sum(one[0] for one in got) != len(body):
        raise Wrong(say.answer_does_not_fit())
    for (_, wanted, most), (length, size, mtime, at) in zip(asked, got, strict=True):
        if not 0 <= length <= most:
            raise Wrong(say.more_than_asked_for())
        if at != wanted and not (holes and wanted <= at <= size):
            raise Wrong(say.another_place_than_asked_for())
        yield body[begins : begins + length], int(size), int(mtime), int(at)
        begins += length
