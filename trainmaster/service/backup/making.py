"""`tm backup`: one file with all that a restore needs, made beside the server that goes on. Writes nothing else.

The database comes first, as it was at one moment; then the folders of what it knows. So whatever it names is in the
folders, but for what was deleted in between; files of running jobs are as they are when it is their turn.
"""

import gzip
import os
import stat
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

import msgspec

from trainmaster._version import __version__
from trainmaster.core.errors import Conflict
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server import backup as saying
from trainmaster.messages.server import ledger
from trainmaster.service.backup import contents
from trainmaster.service.settings import load
from trainmaster.service.wiring import database_url, past_of
from trainmaster.storage.archive import ArchiveWriter, Moved, making
from trainmaster.storage.safe import MAX_DEPTH, folder, open_beneath, walk
from trainmaster.store import tables
from trainmaster.store.past import Mark
from trainmaster.store.portable import schema
from trainmaster.store.portable.dumping import StoreSnapshot, snapshot

MOST_NAMED: Final = 100
"""Files that are named of those that were passed over."""
_EVERYTHING: Final = sys.maxsize


@dataclass(slots=True)
class BackupMade:
    """What a backup has. `passed_over`: what could not be read, or is neither file, folder nor link, at most
    MOST_NAMED of them; `changed`: files that became shorter while they were read.
    """

    file: str
    made_at: float
    trainmaster: str
    database: str
    schema: int
    last_event: int
    left_out: list[str]
    size_bytes: int = 0
    jobs: int = 0
    versions: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    file_bytes: int = 0
    passed_over: list[str] = field(default_factory=list)
    passed_over_count: int = 0
    changed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def pass_over(self, name: str) -> None:
        """Note what is not in it."""
        self.passed_over_count += 1
        if len(self.passed_over) < MOST_NAMED:
            self.passed_over.append(name)


def home_of(home: str) -> tuple[Layout, str]:
    """Return where everything of a home lies, and the address of its database. Raises InvalidSpec; Conflict where there
    is nothing to back up, or a restore did not finish.
    """
    layout = Layout(os.path.abspath(home))
    if os.path.lexists(layout.restoring):
        raise Conflict(saying.restore_not_finished(layout.home))
    config = load(layout.config)
    data = config.server.data
    layout = Layout(layout.home, os.path.realpath(data) if data else "")
    url = database_url(layout, config)
    file = url.removeprefix("sqlite:///") if url.startswith("sqlite") else ""
    if not os.path.isdir(layout.home) or (file and not os.path.exists(file)):
        raise Conflict(saying.nothing_to_back_up(layout.home))
    return layout, url


def make(home: str, file: str, without: Collection[str], moved: Moved, total: Moved) -> BackupMade:
    """Back up `home` into `file`; return what is in it. `moved` is told of bytes, `total` once of how many there are.

    Raises Conflict where `file` exists, the database is damaged, behind what it was, or of another schema;
    StorageFailed where it cannot be written, Unavailable where the database does not answer.
    """
    began, now = time.monotonic(), time.time()
    layout, url = home_of(home)
    file = os.path.abspath(file)
    mark = past_of(layout).mark()  # before the database is read: it is never ahead of that
    about = {"trainmaster": __version__, "made_at": now, "left_out": sorted(without)}
    with making(file, about, moved) as archive, snapshot(url, f"{file}.database") as found:
        _demand_usable(found, mark)
        made = BackupMade(
            file, now, __version__, found.kind, found.schema, found.last_seq(), sorted(without), rows=found.counts()
        )
        made.jobs, made.versions = made.rows["job"], made.rows["asset_version"]
        total(2 * _weigh(layout, found, without))  # it is written, and then read again
        _write(archive, layout, found, without, made)
    made.size_bytes, made.seconds = os.path.getsize(file), round(time.monotonic() - began, 1)
    return made


def _demand_usable(found: StoreSnapshot, mark: Mark | None) -> None:
    if found.schema != tables.SCHEMA:
        raise Conflict(saying.schema_not_backed_up(found.schema, tables.SCHEMA))
    if mark is not None and mark.ledger != found.server_id:
        raise Conflict(ledger.another_ledger())
    if mark is not None and mark.seq > found.last_seq():
        raise Conflict(ledger.ledger_behind(found.last_seq(), mark.seq, mark.at))


def _weigh(layout: Layout, found: StoreSnapshot, without: Collection[str]) -> int:
    """Return about how many bytes will be written. One look at each file, none into it."""
    size = found.size
    for tree in contents.trees(layout, found, without):
        for _, info in walk(tree.root, max_entries=_EVERYTHING):
            size += min(info.st_size, info.st_blocks * 512) if stat.S_ISREG(info.st_mode) else 0
    return size


def _write(
    archive: ArchiveWriter, layout: Layout, found: StoreSnapshot, without: Collection[str], made: BackupMade
) -> None:
    for name, path in contents.home_files(layout):
        with open(path, "rb") as file:
            archive.text(name, file.read(), mtime=os.fstat(file.fileno()).st_mtime)
    database_bytes = _rows(archive, found)
    for tree in contents.trees(layout, found, without):
        _tree(archive, tree, made)
    made.changed = archive.changed[:MOST_NAMED]
    archive.finish(
        {
            "rows": made.rows,
            "server_id": found.server_id,
            "last_event": made.last_event,
            "database_bytes": database_bytes,
            "files": made.files,
            "file_bytes": made.file_bytes,
        }
    )


def _rows(archive: ArchiveWriter, found: StoreSnapshot) -> int:
    """Write the database; return how many bytes its rows are."""
    about = {
        "schema": found.schema,
        "database": found.kind,
        "server_id": found.server_id,
        "columns": schema.columns(),
        "statements": schema.statements(),
    }
    archive.text(contents.SCHEMA, msgspec.json.encode(about))
    size = 0
    for table in tables.META.sorted_tables:
        for number, rows in enumerate(found.rows(table.name), 1):
            lines = b"\n".join(map(msgspec.json.encode, rows))
            size += len(lines)
            archive.text(f"database/{table.name}/{number:06}.jsonl.gz", gzip.compress(lines, 1, mtime=0))
    return size


def _tree(archive: ArchiveWriter, tree: contents.Tree, made: BackupMade) -> None:
    try:
        top = os.stat(tree.root, follow_symlinks=False)
    except OSError:
        return  # it never was, or is gone since
    if not stat.S_ISDIR(top.st_mode):
        made.pass_over(tree.name)
        return
    archive.folder(tree.name, stat.S_IMODE(top.st_mode), top.st_mtime)
    for path, info in walk(tree.root, max_entries=_EVERYTHING):
        name = f"{tree.name}/{path}"
        if stat.S_ISDIR(info.st_mode):
            archive.folder(name, stat.S_IMODE(info.st_mode), info.st_mtime)
            if path.count("/") >= MAX_DEPTH - 1:
                made.pass_over(f"{name}/")
        elif stat.S_ISREG(info.st_mode):
            _file(archive, tree.root, path, name, made)
        elif stat.S_ISLNK(info.st_mode):
            _link(archive, tree.root, path, name, info.st_mtime)
        else:
            made.pass_over(name)


def _file(archive: ArchiveWriter, root: str, path: str, name: str, made: BackupMade) -> None:
    try:
        fd = open_beneath(root, path)
    except FileNotFoundError:
        return
    except OSError:
        made.pass_over(name)
        return
    try:
        made.files += 1
        made.file_bytes += archive.file(name, fd)
    finally:
        os.close(fd)


def _link(archive: ArchiveWriter, root: str, path: str, name: str, mtime: float) -> None:
    above, _, last = path.rpartition("/")
    try:
        with folder(root, above) as fd:
            target = os.readlink(last, dir_fd=fd)
    except OSError:
        return  # gone, or something else by now
    archive.link(name, target, mtime)
