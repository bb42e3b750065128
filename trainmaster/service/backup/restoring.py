"""`tm restore`: a home made of a backup, whole or not at all, on whichever kind of database its settings name.

First all of the backup is read and compared with its list; until then nothing is changed. Then a file `restoring` says
that what is here is not yet a home: no server starts beside it, and whoever restores again begins with nothing. The
database comes into being last, and with it the home. Invariant: nothing that was there before is changed.
"""

import gzip
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from trainmaster.core.config import Config
from trainmaster.core.errors import Conflict, ProblemList, StorageFailed
from trainmaster.core.folders.layout import BULK, OWN, Layout
from trainmaster.messages.server import backup as saying
from trainmaster.messages.server import ledger, settings
from trainmaster.service.backup import contents, unpacking
from trainmaster.service.folders.held import hold
from trainmaster.service.settings import load, parse
from trainmaster.service.wiring import database_url
from trainmaster.storage.archive import ABOUT, END, Archive, Moved, sync_folder
from trainmaster.store import tables
from trainmaster.store.portable import schema
from trainmaster.store.portable.dumping import file_of, shown
from trainmaster.store.portable.loading import Loading, loading

_CONFIG: Final = "home/config.toml"
_GROWS: Final = 2
"""A database takes so many times the bytes of its rows, with its indexes, at most."""


@dataclass(frozen=True, slots=True)
class BackupRestored:
    """What was restored. `own_settings`: config.toml was there already and stayed; that of the backup lies beside it.

    `migrates`: the first start brings the database up to date.
    """

    home: str
    made_at: float
    trainmaster: str
    database: str
    schema: int
    migrates: bool
    own_settings: bool
    left_out: list[str]
    jobs: int
    versions: int
    files: int
    file_bytes: int
    last_event: int


class _About(msgspec.Struct, frozen=True):
    """What a backup says of itself."""

    made_at: float
    trainmaster: str
    left_out: list[str]


class _End(msgspec.Struct, frozen=True):
    """What stands at the end of a backup. `rows`: how many each table has."""

    rows: dict[str, int]
    server_id: str
    last_event: int
    database_bytes: int
    files: int
    file_bytes: int


class _Stamp(msgspec.Struct, frozen=True):
    """Of which schema the database of a backup is; all else of it may be as this release does not know it."""

    schema: int


class _Tables(msgspec.Struct, frozen=True):
    """What makes the tables of a backup, for each kind of database, and the columns in which their rows come."""

    schema: int
    columns: dict[str, list[str]]
    statements: dict[str, list[str]]


class _Note(msgspec.Struct, frozen=True):
    """What a restore says beside the home that it fills. As good as empty: it was interrupted as it wrote this, and
    there is nothing else yet.
    """

    server_id: str = ""
    own_settings: bool = True
    database: str = ""
    data: str = ""


_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class _Target:
    """Where to: `url` of the database; `unfinished`: what an interrupted restore noted here, if there was one."""

    layout: Layout
    config: Config
    url: str
    own_settings: bool
    unfinished: _Note | None

    @property
    def file(self) -> str:
        """The file of the database, "" where it is none."""
        return file_of(self.url)

    @property
    def shown(self) -> str:
        """How people know the database; without a password."""
        return shown(self.url)


def restore(home: str, file: str, moved: Moved, total: Moved) -> BackupRestored:
    """Restore the backup `file` into `home`, which is empty or has its config.toml alone. `moved`, `total`: as `make`.

    Raises Conflict where the backup is damaged or of a newer release, the home or its database is not empty, or a
    server runs there; InvalidSpec for settings, StorageFailed, Unavailable.
    """
    archive = Archive(os.path.abspath(file), file)
    about = _read(archive, archive.about(), _About, ABOUT)
    home = os.path.abspath(home)
    was_there = os.path.lexists(home)
    try:
        lock = hold(home)
    except OSError as error:
        raise StorageFailed(ledger.database_file_not_opened(error.strerror or str(error))) from error
    if lock is None:
        raise Conflict(saying.restore_beside_server(home))
    try:
        target = _target(home, archive)
        _demand_empty(target)
        total(2 * os.path.getsize(archive.path))  # it is read twice
        end = _read(archive, archive.verify(moved), _End, END)
        database = _database(archive)
        _demand_room(target, end)
        with _unfinished_until_whole(target, end):
            _fill(archive, target, database, end, moved)
        return _told(target, about, database, end)
    except BaseException:
        if not was_there:
            shutil.rmtree(home, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _read(archive: Archive, found: object, kind: type[_Kept], part: str) -> _Kept:
    """Return what a part of the backup says. Raises Conflict where it is not what `make` writes."""
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise Conflict(saying.backup_part_damaged(archive.shown, part)) from error


def _target(home: str, archive: Archive) -> _Target:
    layout, own = Layout(home), os.path.exists(Layout(home).config)
    unfinished = _noted(layout)
    if unfinished is not None and not unfinished.own_settings:
        own = False  # it is the one of the restore before
    config = load(layout.config) if own else _config_of(archive)
    data = config.server.data
    layout = Layout(home, os.path.realpath(data) if data else "")
    return _Target(layout, config, database_url(layout, config), own, unfinished)


def _noted(layout: Layout) -> _Note | None:
    try:
        with open(layout.restoring, "rb") as file:
            return msgspec.json.decode(file.read(), type=_Note)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError):
        return _Note()


def _config_of(archive: Archive) -> Config:
    for entry, content in archive.entries():
        if entry.name == _CONFIG:
            problems, document = ProblemList(), {}
            try:
                document = tomllib.loads(unpacking.whole(content).decode())
            except ValueError as error:
                problems.add(_CONFIG, settings.not_toml(str(error)))
            config = parse(document, problems)
            problems.raise_if_any(settings.config_not_valid)
            return config
        if entry.name.startswith("database/"):
            break
    return Config()


def _demand_empty(target: _Target) -> None:
    """Return where nothing is. An interrupted restore's own beginnings are nothing. Raises Conflict."""
    if target.unfinished is not None:
        return
    layout, file = target.layout, target.file
    found = [name for name in BULK if _has_something(os.path.join(layout.bulk, name))]
    found += ["secrets"] if _has_something(layout.path("secrets")) else []
    found += [os.path.basename(path) for path in (layout.mark, file) if path and _is_something(path)]
    if found:
        raise Conflict(saying.home_not_empty(layout.home, found))


def _has_something(folder: str) -> bool:
    return os.path.isdir(folder) and bool(os.listdir(folder))


def _is_something(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _database(archive: Archive) -> _Tables:
    """Return what the backup says of its database. Raises Conflict for one of a newer release."""
    for entry, content in archive.entries():
        if entry.name == contents.SCHEMA:
            return _tables(archive, unpacking.whole(content))
    raise Conflict(saying.backup_cut_off(archive.shown))


def _tables(archive: Archive, text: bytes) -> _Tables:
    try:
        stamp = msgspec.json.decode(text, type=_Stamp).schema
        if stamp > tables.SCHEMA:
            raise Conflict(saying.backup_schema_too_new(archive.shown, stamp, tables.SCHEMA))
        if stamp == tables.SCHEMA:
            return _Tables(stamp, schema.columns(), schema.statements())
        found = msgspec.json.decode(text, type=_Tables)
    except msgspec.DecodeError as error:
        raise Conflict(saying.backup_member_refused(archive.shown, contents.SCHEMA)) from error
    if not schema.is_usable(msgspec.structs.asdict(found)):
        raise Conflict(saying.backup_member_refused(archive.shown, contents.SCHEMA))
    return found


def _demand_room(target: _Target, end: _End) -> None:
    """Raise Conflict where the disks are too small."""
    needed = {target.layout.bulk: end.file_bytes}
    if target.file:
        folder = os.path.dirname(target.file)
        needed[folder] = needed.get(folder, 0) + _GROWS * end.database_bytes
    for folder, size in needed.items():
        there = folder
        while not os.path.exists(there):
            there = os.path.dirname(there)
        room = os.statvfs(there)
        free = room.f_bavail * room.f_frsize
        if size > free:
            raise Conflict(saying.no_room_to_restore(folder, size / 2**20, free / 2**20))


@contextmanager
def _unfinished_until_whole(target: _Target, end: _End) -> Iterator[None]:
    """Say beside the home that it is none yet; at the end take that away, or everything."""
    layout = target.layout
    if target.unfinished is not None:
        _clear(target)
    _write_note(layout, _Note(end.server_id, target.own_settings, target.shown, layout.data))
    try:
        yield
    except BaseException:
        _clear(target)
        _forget_note(layout)
        raise
    _forget_note(layout)


def _write_note(layout: Layout, note: _Note) -> None:
    with open(os.open(layout.restoring, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(note))
        file.flush()
        os.fsync(file.fileno())
    sync_folder(layout.home)


def _forget_note(layout: Layout) -> None:
    os.unlink(layout.restoring)
    sync_folder(layout.home)


def _clear(target: _Target) -> None:
    """Remove what a restore that did not end has made, here and where it was to put the data."""
    layout = target.layout
    before = target.unfinished or _Note()
    bulk = {layout.bulk, before.data or layout.home}
    for folder in (layout.path("secrets"), *(os.path.join(one, name) for one in bulk for name in BULK)):
        with suppress(FileNotFoundError):
            unpacking.empty(folder)
    files = [layout.path(name) for name in ("shares.json", "forecast.json", "config.backup.toml", "trainmaster.mark")]
    if not target.own_settings:
        files.append(layout.config)
    if target.file:
        files += [target.file + end for end in ("", "-wal", "-shm", ".restoring")]
    for path in files:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _fill(archive: Archive, target: _Target, database: _Tables, end: _End, moved: Moved) -> None:
    layout = target.layout
    for folder in (*map(layout.path, OWN), *(os.path.join(layout.bulk, name) for name in BULK)):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    again = target.unfinished.server_id if target.unfinished is not None else ""
    columns = database.columns
    names = [*columns, "alembic_version"]
    with loading(target.url, again=again, names=names, config=layout.config) as made:
        made.make(database.statements)
        unpacked = unpacking.Unpacking(archive.shown, layout, target.own_settings)
        for entry, content in archive.entries():
            if entry.name.startswith("database/"):
                if entry.name != contents.SCHEMA:
                    _add_rows(made, archive, entry.name, unpacking.whole(content), columns)
            else:
                unpacked.take(entry, content)
            moved(entry.size)
        unpacked.finish()
        _demand_same(made.counts([*end.rows]), end.rows)
        made.keep()


def _add_rows(made: Loading, archive: Archive, name: str, packed: bytes, columns: Mapping[str, list[str]]) -> None:
    table = name.split("/")[1]
    if table not in columns:
        raise Conflict(saying.backup_member_refused(archive.shown, name))
    lines = gzip.decompress(packed).split(b"\n")
    made.add(table, columns[table], [msgspec.json.decode(line) for line in lines])


def _demand_same(found: Mapping[str, int], wanted: Mapping[str, int]) -> None:
    notes = {"meta"}  # those of the server that made it are left out
    wrong = [f"{name}: {found[name]} != {count}" for name, count in wanted.items() if found[name] != count]
    wrong = [one for one in wrong if one.split(":")[0] not in notes]
    if wrong:
        raise Conflict(saying.restored_differs("; ".join(wrong)))


def _told(target: _Target, about: _About, database: _Tables, end: _End) -> BackupRestored:
    return BackupRestored(
        home=target.layout.home,
        made_at=about.made_at,
        trainmaster=about.trainmaster,
        database=target.shown,
        schema=database.schema,
        migrates=database.schema < tables.SCHEMA,
        own_settings=target.own_settings,
        left_out=about.left_out,
        jobs=end.rows.get("job", 0),
        versions=end.rows.get("asset_version", 0),
        files=end.files,
        file_bytes=end.file_bytes,
        last_event=end.last_event,
    )
