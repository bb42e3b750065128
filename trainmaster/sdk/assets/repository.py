"""The files of a commit, fetched by the git of this computer, for the person who asks, with that person's rights.

Nothing of a repository is obeyed: no hook, no filter, no attribute and no submodule of it, for no working tree is made.
Git brings the objects; every path is judged here before its first byte is written. Invariant: nothing is written
outside the folder that goes again at the end.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from trainmaster.core.errors import InvalidSpec, Problem, Unavailable, problem_of
from trainmaster.core.folders.tree import inside
from trainmaster.messages.assets import algorithms as said
from trainmaster.messages.jobs import uploads
from trainmaster.spec.algorithms.origins import Origin

_OWN: Final = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_SSL_", "GIT_PROXY_", "GIT_CONFIG_")
"""Variables of git that say how somebody gets somewhere; the others say of which repository it is."""
_SETTINGS: Final = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "protocol.file.allow": "never",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
}
_EVERYTHING: Final = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_HIDDEN: Final = re.compile(r"(?<=://)[^/\s\"'@]+@")
_BLOCK: Final = 1 << 20
_MOST: Final = 50
_SUBMODULE: Final = "160000"
_LINK: Final = "120000"
_EXECUTABLE: Final = "100755"


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    object: str
    path: str


@contextmanager
def fetched(origin: Origin) -> Iterator[Path]:
    """Give the files of a commit, in a folder that goes again. Raises InvalidSpec with what speaks against it,
    Unavailable where git cannot fetch it or is not here.
    """
    with tempfile.TemporaryDirectory(prefix="trainmaster-git-") as room:
        git, files = _Git(os.path.join(room, "git")), Path(room, "files")
        files.mkdir()
        git.do("init", "--quiet", "--bare", "--template=", git.at)
        _bring(git, origin)
        entries = _entries(git, origin)
        with git.reader() as (ask, answer):
            links = {one.path: _link(one, ask, answer) for one in entries if one.mode == _LINK}
            problems = _problems(entries, links)
            if problems:
                raise InvalidSpec(said.commit_not_usable(len(problems)), problems=tuple(problems[:_MOST]))
            for one in entries:
                _write(files / one.path, one, links, ask, answer)
        yield files


class _Git:
    """Git, with a repository of its own at `at`."""

    def __init__(self, at: str) -> None:
        self.at = at
        others = {name for name in os.environ if name.startswith("GIT_") and not name.startswith(_OWN)}
        kept = {name: value for name, value in os.environ.items() if name not in others}
        self._env = {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes", **kept}
        self._env |= {"GIT_ALLOW_PROTOCOL": "http:https:ssh", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        self._words = ["git", f"--git-dir={at}", *settings]

    def tried(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        """Run a command of git. Raises Unavailable where there is no git."""
        try:
            return subprocess.run(
                [*self._words, *words], env=self._env, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except FileNotFoundError:
            raise Unavailable(said.no_git()) from None

    def do(self, *words: str) -> bytes:
        """Run a command of git; return what it prints. Raises Unavailable with its last words."""
        done = self.tried(*words)
        if done.returncode:
            raise Unavailable(said.commit_not_fetched(_last_words(done.stderr)))
        return done.stdout

    @contextmanager
    def reader(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Give where objects are asked for, and where they come from."""
        words = [*self._words, "cat-file", "--batch"]
        with subprocess.Popen(words, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                yield process.stdin, process.stdout
            finally:
                process.kill()


def _last_words(told: bytes) -> str:
    """Return why git gave up: its last line, without what could be a password."""
    lines = [line.strip() for line in told.decode(errors="replace").splitlines() if line.strip()]
    text = next((line for line in reversed(lines) if line.startswith(("fatal:", "error:"))), (lines or ["?"])[-1])
    return _HIDDEN.sub("***@", "".join(letter for letter in text if letter.isprintable()))[:300]


def _bring(git: _Git, origin: Origin) -> None:
    """Fetch the commit alone; from a server that gives out no single ones, all that it has."""
    how = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
    if git.tried(*how, "--depth=1", "--end-of-options", origin.git, origin.commit).returncode:
        git.do(*how, "--end-of-options", origin.git, *_EVERYTHING)
    if git.tried("cat-file", "-t", origin.commit).stdout.strip() != b"commit":
        found = problem_of("commit", said.no_such_commit(), origin.commit)
        raise InvalidSpec(said.origin_not_valid(), problems=(found,))


def _entries(git: _Git, origin: Origin) -> list[_Entry]:
    """Return all files, links and submodules of the folder."""
    listed = git.tried("ls-tree", "-r", "-z", "--full-tree", f"{origin.commit}:{origin.folder or ''}")
    if listed.returncode:
        found = problem_of("folder", said.no_such_folder_in_commit(), origin.folder)
        raise InvalidSpec(said.origin_not_valid(), problems=(found,))
    entries = []
    for line in listed.stdout.split(b"\0")[:-1]:
        head, _, path = line.partition(b"\t")
        mode, _, name = head.decode().split(" ")
        entries.append(_Entry(mode, name, os.fsdecode(path)))
    return entries


def _problems(entries: list[_Entry], links: dict[str, str]) -> list[Problem]:
    found = []
    known = {one.path for one in entries}
    for one in entries:
        parts = one.path.split("/")
        above = {"/".join(parts[:at]) for at in range(1, len(parts))}
        if one.mode == _SUBMODULE:
            found.append(problem_of(one.path, said.submodule_in_commit()))
        elif any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or above & known:
            found.append(problem_of(ascii(one.path), said.path_in_commit_not_usable()))
        elif one.mode == _LINK and not inside(one.path, links[one.path]):
            found.append(problem_of(one.path, uploads.link_leaves_folder(), links[one.path]))
    if len(known) < len(entries):
        found.append(problem_of("", said.path_in_commit_not_usable()))
    return found


def _size(one: _Entry, ask: IO[bytes], answer: IO[bytes]) -> int:
    """Ask for an object; return how many bytes of it follow."""
    ask.write(f"{one.object}\n".encode())
    ask.flush()
    words = answer.readline().split()
    if len(words) != 3 or words[1] != b"blob":
        raise Unavailable(said.commit_not_fetched(one.object))
    return int(words[2])


def _link(one: _Entry, ask: IO[bytes], answer: IO[bytes]) -> str:
    size = _size(one, ask, answer)
    return os.fsdecode(answer.read(size + 1)[:size])


def _write(path: Path, one: _Entry, links: dict[str, str], ask: IO[bytes], answer: IO[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if one.mode == _LINK:
        path.symlink_to(links[one.path])
        return
    left = _size(one, ask, answer)
    with open(path, "xb") as file:
        while left:
            block = answer.read(min(left, _BLOCK))
            if not block:
                raise Unavailable(said.commit_not_fetched(one.object))
            file.write(block)
            left -= len(block)
    answer.read(1)  # the end of its line
    if one.mode == _EXECUTABLE:
        path.chmod(0o755)
