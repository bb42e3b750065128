"""Packing a code folder for upload: a tar.gz as a stream, the same bytes for the same content. Standard library only.

What a job never needs is left out (version control, caches, virtual environments), and what `.trainmasterignore` in the
folder names, in the language of .gitignore. Links that leave the folder are refused by name before anything is sent.
"""

import gzip
import hashlib
import io
import os
import re
import stat
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from trainmaster.core.errors import InvalidSpec, Problem, ProblemList, TooLarge, problem_of
from trainmaster.core.folders.tree import TreeEntry, folded, inside, link_digest, tree_digest
from trainmaster.messages.assets import datasets
from trainmaster.messages.jobs import uploads

IGNORE_FILE: Final = ".trainmasterignore"
ALWAYS: Final = (
    ".git", ".hg/", ".svn/", "__pycache__/", "*.pyc", ".venv/", "venv/", "node_modules/", ".DS_Store",
    ".mypy_cache/", ".ruff_cache/", ".pytest_cache/", ".ipynb_checkpoints/",
)  # fmt: skip
"""Left out unless a line ``!name`` in `.trainmasterignore` asks for it."""
_BLOCK: Final = 1 << 20
_IN_SET: Final = re.compile(r"[][\\^&|~]")
"""What an expression reads as more than a character between its brackets; the ignore file does not."""
_AS_IT_IS: Final = r"\\\g<0>"


@dataclass(frozen=True, slots=True)
class _Rule:
    expression: re.Pattern[str]
    keep: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class _Found:
    path: str
    kind: str
    target: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Survey:
    """What a folder holds: how many files are sent, their bytes, and what is left out, by its path."""

    files: int
    size: int
    left_out: tuple[str, ...]


def survey(folder: str | Path) -> Survey:
    """Return what would be sent of `folder`. Raises InvalidSpec like `pack`. O(files)."""
    left_out: list[str] = []
    found = _collect(os.fspath(folder), left_out)
    return Survey(sum(entry.kind in "fx" for entry in found), sum(entry.size for entry in found), tuple(left_out))


def demand_small(folder: str | os.PathLike[str], limit_mib: int) -> None:
    """Return when `folder` may be sent to a server that takes `limit_mib` MiB. Raises TooLarge, InvalidSpec.

    Packs it only where its files have more bytes than that.
    """
    root, limit = os.fspath(folder), limit_mib << 20
    found = _collect(root)
    size, packed = sum(entry.size for entry in found), 0
    if size <= limit:
        return
    for block in _stream(root, found):
        packed += len(block)
        if packed > limit:
            large = sorted(found, key=lambda entry: -entry.size)[:3]
            names = [f"{entry.path} ({_mib(entry.size)})" for entry in large]
            raise TooLarge(uploads.code_folder_too_large(root, _mib(size), limit_mib, names))


def _mib(size: int) -> str:
    return f"{size / 2**20:.0f} MiB" if size >= 2**20 else f"{size / 1024:.0f} KiB"


def pack(folder: str | Path) -> Iterator[bytes]:
    """Yield `folder` as tar.gz. Raises InvalidSpec, naming every entry that cannot be sent, before the first bytes."""
    root = os.fspath(folder)
    found = _collect(root)
    return _stream(root, found)


def folder_problems(folder: str | Path) -> tuple[Problem, ...]:
    """Return everything in `folder` that cannot be sent. Looks at names and rights only. O(files)."""
    try:
        _collect(os.fspath(folder))
    except InvalidSpec as error:
        return error.problems
    return ()


def tree_of(root: str) -> list[tuple[str, str, str, str]]:
    """Return (path, kind, place on this machine, target of a link) of all that lies in the folder `root`, nothing left
    out; of a file just that. Raises InvalidSpec, naming everything that cannot be sent. O(files).
    """
    problems = ProblemList()
    found: list[_Found] = []
    if os.path.isfile(root):
        info = os.stat(root)
        return [(os.path.basename(root), "x" if info.st_mode & stat.S_IXUSR else "f", root, "")]
    if os.path.isdir(root):
        _visit(root, "", [], found, problems, [])
    else:
        problems.add(root, uploads.nothing_there())
    problems.raise_if_any(datasets.listing_not_usable)
    found.sort(key=lambda entry: entry.path.encode())
    return [(entry.path, entry.kind, os.path.join(root, entry.path), entry.target) for entry in found]


def folder_digest(folder: str | Path) -> str:
    """Return the digest the server will give `folder` (sha256 hex). Raises InvalidSpec like `pack`. O(bytes)."""
    root = os.fspath(folder)
    return tree_digest(TreeEntry(entry.path, entry.kind, _content_digest(root, entry)) for entry in _collect(root))


def _content_digest(root: str, entry: _Found) -> str:
    if entry.kind == "l":
        return link_digest(entry.target)
    digest = hashlib.sha256()
    if entry.kind in "fx":
        with open(os.path.join(root, entry.path), "rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _collect(root: str, left_out: list[str] | None = None) -> list[_Found]:
    """Return what is to be sent: files, links and empty folders, sorted by path. Notes in `left_out` what is not."""
    problems = ProblemList()
    if not os.path.isdir(root):
        problems.add("code.path", uploads.no_code_folder(root), value=root)
        problems.raise_if_any(uploads.code_not_sent)
    rules = _rules(root)
    found: list[_Found] = []
    _visit(root, "", rules, found, problems, [] if left_out is None else left_out)
    _note_collisions(found, problems)
    problems.raise_if_any(uploads.code_not_sent)
    return sorted(found, key=lambda entry: entry.path.encode())


def _note_collisions(found: list[_Found], problems: ProblemList) -> None:
    """Note what some systems would take for another: a folder with it cannot be unpacked everywhere."""
    known: dict[str, str] = {}
    for entry in sorted(found, key=lambda entry: entry.path.encode()):
        parts = entry.path.split("/")
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            if (other := known.setdefault(folded(path), path)) != path:
                problems.add(path, uploads.names_collide(other))
                break


def _visit(
    root: str, here: str, rules: list[_Rule], found: list[_Found], problems: ProblemList, left_out: list[str]
) -> bool:
    """Note what lies in `here`; return whether anything did."""
    any_sent = False
    try:
        entries = sorted(os.scandir(os.path.join(root, here)), key=lambda entry: entry.name)
    except OSError as error:
        problems.add(here or ".", uploads.folder_not_readable(error.strerror or str(error)))
        return True
    for entry in entries:
        path = f"{here}/{entry.name}" if here else entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if _ignored(rules, path, is_folder):
            left_out.append(f"{path}/" if is_folder else path)
            continue
        any_sent = True
        if is_folder:
            if not _visit(root, path, rules, found, problems, left_out):
                found.append(_Found(path, "d"))
        else:
            _note(entry, path, found, problems)
    return any_sent


def _note(entry: "os.DirEntry[str]", path: str, found: list[_Found], problems: ProblemList) -> None:
    try:
        info = entry.stat(follow_symlinks=False)
        target = os.readlink(entry.path) if stat.S_ISLNK(info.st_mode) else ""
    except FileNotFoundError:
        return  # removed meanwhile
    except OSError as error:
        problems.add(ascii(path), uploads.entry_not_readable(error.strerror or str(error)))
        return
    try:
        (path + target).encode()
    except UnicodeError:
        problems.add(ascii(path), uploads.entry_not_utf8())
        return
    if stat.S_ISLNK(info.st_mode):
        if not inside(path, target):
            problems.add(path, uploads.link_leaves_folder(), value=target)
            return
        found.append(_Found(path, "l", target))
    elif not stat.S_ISREG(info.st_mode):
        problems.add(path, uploads.cannot_be_sent())
    elif not os.access(entry.path, os.R_OK):
        problems.add(path, uploads.file_not_readable())
    else:
        found.append(_Found(path, "x" if info.st_mode & stat.S_IXUSR else "f", size=info.st_size))


def _stream(root: str, found: list[_Found]) -> Iterator[bytes]:
    sink = io.BytesIO()
    with gzip.GzipFile(fileobj=sink, mode="wb", compresslevel=6, mtime=0, filename="") as packed:
        for entry in found:
            yield from _member(root, entry, packed, sink)
        packed.write(tarfile.NUL * (2 * tarfile.BLOCKSIZE))
    yield sink.getvalue()


def _member(root: str, entry: _Found, packed: gzip.GzipFile, sink: io.BytesIO) -> Iterator[bytes]:
    header = tarfile.TarInfo(entry.path)
    header.mode = 0o644 if entry.kind == "f" else 0o755
    header.type = {"d": tarfile.DIRTYPE, "l": tarfile.SYMTYPE}.get(entry.kind, tarfile.REGTYPE)
    header.linkname = entry.target
    if entry.kind not in "fx":
        packed.write(header.tobuf(tarfile.PAX_FORMAT))
        return
    with _opened(root, entry.path) as file:
        left = header.size = os.fstat(file.fileno()).st_size
        packed.write(header.tobuf(tarfile.PAX_FORMAT))
        while left > 0:
            # A file that shrank meanwhile is padded to the announced size.
            block = file.read(min(_BLOCK, left)) or tarfile.NUL * min(_BLOCK, left)
            left -= len(block)
            packed.write(block)
            if sink.tell():
                yield sink.getvalue()
                sink.seek(0)
                sink.truncate()
        packed.write(tarfile.NUL * (-header.size % tarfile.BLOCKSIZE))


def _opened(root: str, path: str) -> IO[bytes]:
    try:
        return open(os.path.join(root, path), "rb")
    except OSError as error:
        found = problem_of(path, uploads.file_changed(error.strerror or str(error)))
        raise InvalidSpec(uploads.code_changed(), problems=(found,)) from error


def _rules(root: str) -> list[_Rule]:
    lines = list(ALWAYS)
    with suppress(OSError):
        lines += Path(root, IGNORE_FILE).read_text("utf-8", "replace").splitlines()
    return [rule for rule in map(_rule, lines) if rule is not None]


def _rule(line: str) -> _Rule | None:
    """Read one line of the ignore file: ``#`` comments, ``!`` keeps, ``/`` in front anchors, ``*``, ``?``, ``**``,
    ``[]``, ``\\``.
    """
    text = line.rstrip()
    if not text or text.startswith("#"):
        return None
    keep = text.startswith("!")
    text = text[1:] if keep else text
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    anywhere = "" if "/" in text else "(?:.*/)?"
    try:
        expression = re.compile(anywhere + _expression(text.lstrip("/")) + r"\Z")
    except re.error:  # an empty range such as [z-a] matches no name
        return None
    return _Rule(expression, keep, folders_only)


def _expression(text: str) -> str:
    out, at = "", 0
    while at < len(text):
        if text.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif text.startswith("**", at):
            out, at = out + ".*", at + 2
        elif text[at] == "\\" and at + 1 < len(text):
            out, at = out + re.escape(text[at + 1]), at + 2
        elif text[at] == "[" and (end := text.find("]", at + 2 + text.startswith(("!", "^"), at + 1))) > 0:
            body = text[at + 1 : end]
            but, body = ("^", body[1:]) if body[0] in "!^" else ("", body)
            out, at = f"{out}[{but}{_IN_SET.sub(_AS_IT_IS, body)}]", end + 1
        else:
            out, at = out + {"*": "[^/]*", "?": "[^/]"}.get(text[at], re.escape(text[at])), at + 1
    return out


def _ignored(rules: list[_Rule], path: str, is_folder: bool) -> bool:
    """Return what the last rule that matches says; what lies in an ignored folder is never looked at."""
    for rule in reversed(rules):
        if (is_folder or not rule.folders_only) and rule.expression.match(path):
            return not rule.keep
    return False
