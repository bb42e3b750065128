"""Runs uv where it can reach nothing: in a sandbox with empty folders of its own, without secrets, home or anything of
the platform's, within limits of time, disk and memory. What it says comes back line by line.

Packages run code of strangers while they are built. Invariant: what a step leaves is below its folder, and no process
of a step outlives it, or this server. Without a sandbox on this machine nothing is built: packages must have wheels.
"""

import asyncio
import contextlib
import os
import re
import resource
import signal
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from shutil import copyfile, which
from typing import Final

import psutil

from trainmaster.agent.sandbox import sandbox, seccomp
from trainmaster.agent.sandbox.etc import Etc
from trainmaster.agent.sandbox.probe import Probe, probe_sandbox
from trainmaster.core.config import Config
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.targets import within
from trainmaster.messages.assets import images as said
from trainmaster.messages.said import Said
from trainmaster.service.environments.definition import masked
from trainmaster.service.environments.indexes import UV_FILE, indexes
from trainmaster.storage.safe import walk

FOLDERS: Final = ("home", "tmp", "cache")
LOOK_S: Final = 1.0
"""Between two looks at memory and disk; longer where a look takes long."""
MOST_PROCESSES: Final = 512
_SEEN_AS: Final = "/uv"
_HEADING: Final = re.compile(r"^(?:(?:error|cause|Caused by): *)*(?:No solution found when resolving dependencies.*$)?")
_LINE: Final = 4000
"""Characters of a line that are kept."""


class NotMade(Exception):
    """An environment is not made, and why."""

    def __init__(self, said: Said) -> None:
        super().__init__(said)
        self.said = said


def find_uv() -> str | None:
    """Return the path of uv: the one of our own environment, else one on PATH."""
    own = os.path.join(sysconfig.get_path("scripts"), "uv")
    return own if os.access(own, os.X_OK) else which("uv")


@dataclass(slots=True)
class Place:
    """Where one environment is made: `tree` is all that uv may write. `told` gets every line that it says."""

    folder: str
    told: Callable[[str], None]
    python: str
    tail: list[str] = field(default_factory=list)

    @property
    def tree(self) -> str:
        """What is seen at sandbox.WORKSHOP."""
        return os.path.join(self.folder, "tree")


class Workshop:
    """One object per server."""

    def __init__(self, layout: Layout, config: Config) -> None:
        self._layout, self._config = layout, config
        self._probe: Probe | None = None
        self._version = ""

    async def uv(self) -> tuple[str, str]:
        """Return uv's path and version. Raises NotMade where there is none."""
        path = find_uv()
        if path is None:
            raise NotMade(said.no_uv())
        if not self._version:
            process = await asyncio.create_subprocess_exec(
                path, "--version", stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
            )
            told, _ = await process.communicate()
            words = told.decode(errors="replace").split()
            self._version = words[1] if len(words) > 1 else "0"
        return path, self._version

    def _sandbox(self) -> Probe:
        if self._probe is None:
            try:
                self._probe = probe_sandbox(self._config.local.sandbox, which("bwrap"))
            except Unavailable as error:
                self._probe = Probe("", error.said)
        return self._probe

    def prepare(self, place: Place) -> None:
        """Make the folders of a place. Raises OSError."""
        for name in FOLDERS:
            os.makedirs(os.path.join(place.tree, name), mode=0o700, exist_ok=True)
        if os.path.exists(UV_FILE):
            settings = os.path.join(place.tree, "home", ".config", "uv")
            os.makedirs(settings)
            copyfile(UV_FILE, os.path.join(settings, "uv.toml"))

    async def run(self, place: Place, *words: str) -> None:
        """Run uv with `words`, at the place. Raises NotMade when it fails, takes too much, or is cancelled with us."""
        path, _ = await self.uv()
        probe = await asyncio.to_thread(self._sandbox)
        root = sandbox.WORKSHOP if probe.bwrap else place.tree
        env, shown, none = await asyncio.to_thread(self._surroundings, place, root)
        words = (*words, "--no-index") if none and words[0] == "pip" else words
        argv = [one.replace(sandbox.WORKSHOP, root, 1) if one.startswith(sandbox.WORKSHOP) else one for one in words]
        if not probe.bwrap:
            env["UV_NO_BUILD"] = "1"
            await self._watched(place, [path, *argv], env, place.tree, ())
            return
        etc = self._layout.path("run", "build-etc")
        await asyncio.to_thread(lambda: Etc(etc).refresh())
        options = sandbox.workshop(place.tree, etc, shown, env)
        options = (*options[:1], "--ro-bind", os.path.realpath(path), _SEEN_AS, *options[1:])
        command = [probe.bwrap, "--args", "{args}", "--", _SEEN_AS, *argv]
        await self._watched(place, command, {"PATH": sandbox.SYSTEM_PATH}, "/", options)

    def _surroundings(self, place: Place, root: str) -> tuple[dict[str, str], list[str], bool]:
        """Return variables for uv, what of this machine it sees, and whether there is no index."""
        where = indexes(os.environ)
        base = sandbox.environment(_prefix_of(place.python), "").folders
        env = {
            **where.env,
            "PATH": sandbox.SYSTEM_PATH,
            "LANG": "C.UTF-8",
            "HOME": f"{root}/home",
            "TMPDIR": "/tmp" if root == sandbox.WORKSHOP else f"{root}/tmp",
            "UV_CACHE_DIR": f"{root}/cache",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
            "NO_COLOR": "1",
            "UV_CONCURRENT_BUILDS": "2",
        }
        shown = list(base)
        for path in where.shown:
            if os.path.isdir(path):
                shown.append(path)
            elif root == sandbox.WORKSHOP:  # a list of certificates, constraints: in a folder that is another there
                given = f"given-{len(shown)}-{os.path.basename(path)}"
                copyfile(path, os.path.join(place.tree, "home", given))
                env = {name: value.replace(path, f"{root}/home/{given}") for name, value in env.items()}
        return env, [path for path in dict.fromkeys(shown) if not within(path, "/usr")], where.none

    async def _watched(
        self, place: Place, command: Sequence[str], env: dict[str, str], cwd: str, options: tuple[str, ...]
    ) -> None:
        limits = self._config.limits
        read, write = os.pipe() if options else (-1, -1)
        filters = os.open(seccomp.filter_file(), os.O_RDONLY) if options and seccomp.program() else -1
        kept = [fd for fd in (read, filters) if fd >= 0]
        numbered = [str(read) if word == "{args}" else word for word in command]
        at = [index for index, word in enumerate(options) if word == "--seccomp"]
        given = list(options)
        for index in at:
            given[index + 1] = str(filters)
        process = None
        try:
            process = await asyncio.create_subprocess_exec(
                *numbered,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=env,
                cwd=cwd,
                pass_fds=kept,
                start_new_session=True,
                limit=1 << 20,
            )
            with contextlib.suppress(OSError):  # it waits for its options: nothing has begun
                os.setpriority(os.PRIO_PROCESS, process.pid, 10)
                most = limits.build_memory_mib << 20
                resource.prlimit(process.pid, resource.RLIMIT_DATA, (most, most))
                resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
            if options:
                await asyncio.to_thread(os.write, write, "\0".join(given).encode() + b"\0")
                os.close(write)
                write = -1
            code = await self._until_end(place, process)
        finally:
            for fd in (*kept, write):
                if fd >= 0:
                    os.close(fd)
            if process is not None:
                await _ended(process)
        if code != 0:
            raise NotMade(reason(place.tail))

    async def _until_end(self, place: Place, process: asyncio.subprocess.Process) -> int:
        """Return the exit code, after all that was said was read. Raises NotMade when it takes too much."""
        limits = self._config.limits
        reading = asyncio.create_task(self._read(place, process))
        ends = asyncio.get_running_loop().time() + limits.build_s if limits.build_s else None
        pause = LOOK_S
        try:
            while True:
                done, _ = await asyncio.wait([reading], timeout=pause)
                if done:
                    return await process.wait()
                began = asyncio.get_running_loop().time()
                if ends is not None and began > ends:
                    raise NotMade(said.build_too_slow(limits.build_s))
                wrong = await asyncio.to_thread(self._too_much, place, process.pid)
                if wrong is not None:
                    raise NotMade(wrong)
                pause = max(LOOK_S, 10 * (asyncio.get_running_loop().time() - began))
        finally:
            if not reading.done():
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def _read(self, place: Place, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # longer than any line that is read
                continue
            if not line:
                return
            text = masked(line.decode(errors="replace").rstrip())[:_LINE]
            text = "".join(one for one in text if one.isprintable() or one == "\t")
            if text:
                place.tail = [*place.tail[-79:], text]
                place.told(text)

    def _too_much(self, place: Place, pid: int) -> Said | None:
        limits = self._config.limits
        memory, processes = 0, 0
        with contextlib.suppress(psutil.Error):
            for one in psutil.Process(pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    info = one.memory_info()
                    memory, processes = memory + info.rss - info.shared, processes + 1
        if limits.build_memory_mib and memory > limits.build_memory_mib << 20:
            return said.build_out_of_memory(limits.build_memory_mib)
        if processes > MOST_PROCESSES:
            return said.not_made(f"more than {MOST_PROCESSES} processes")
        if limits.build_mib and size_of(place.tree)[0] > limits.build_mib << 20:
            return said.build_too_large(limits.build_mib)
        return None


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End a step with all that it has started: a sandbox ends with its first process."""
    if process.returncode is not None:
        return
    with contextlib.suppress(psutil.Error):
        below = psutil.Process(process.pid).children(recursive=True)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for one in below:
            with contextlib.suppress(psutil.Error):
                one.kill()
    await process.wait()


def size_of(folder: str) -> tuple[int, int]:
    """Return (bytes on the disk, files) of a folder, a file with several names once. Blocking, O(files)."""
    size, files, seen = 0, 0, set()
    for _, info in walk(folder):
        files += 1
        if info.st_nlink > 1:
            if (info.st_dev, info.st_ino) in seen:
                continue
            seen.add((info.st_dev, info.st_ino))
        size += info.st_blocks * 512
    return size, files


def _prefix_of(python: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.realpath(python)))


def reason(lines: Sequence[str]) -> Said:
    """Return why uv failed, by what it said last."""
    told = [line for line in lines if line.strip()]
    start = next((at for at, line in enumerate(told) if line.lstrip().startswith(("error:", "×", "x "))), None)
    last = [line.strip(" \t╰─▶├│×") for line in (told[start:] if start is not None else told[-3:])]
    low, words = " ".join(last).lower(), _cause(last)[:1500]
    if "no solution found" in low or "unsatisfiable" in low or "was not found in the package registry" in low:
        return said.not_resolved(words)
    if "failed to fetch" in low or "dns error" in low or "connect" in low or "request failed" in low:
        return said.index_not_reached(words)
    if "failed to build" in low or "build backend" in low or "building source distributions" in low:
        return said.not_built(words)
    return said.not_made(words or "uv said nothing")


def _cause(lines: Sequence[str]) -> str:
    """Return what of an error is its cause: not its heading, which our own words say, nor hints on uv's options."""
    end = next((at for at, line in enumerate(lines) if line.startswith("hint:")), len(lines))
    words = [_HEADING.sub("", line) for line in lines[: max(end, 1)]]
    return " ".join(line for line in words if line)


def pythons() -> dict[str, str]:
    """Return the interpreters of this machine by version (3.11), the server's own first."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = {own: os.path.realpath(sys.executable)}
    managed = os.path.expanduser("~/.local/share/uv/python")
    for minor in range(8, 31):
        version = f"3.{minor}"
        if version in found:
            continue
        ways = [which(f"python{version}")]
        with contextlib.suppress(OSError):
            names = sorted(name for name in os.listdir(managed) if name.startswith(f"cpython-{version}."))
            ways += [os.path.join(managed, name, "bin", f"python{version}") for name in reversed(names)]
        real = next((path for path in ways if path is not None and _is_elf(path)), None)
        if real is not None:
            found[version] = os.path.realpath(real)
    return found


def _is_elf(path: str) -> bool:
    """Tell a program from a script that only stands in front of one."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"
    return False
