"""The environments that are there: makes them, says which are whole, and removes those that were used longest ago when
they take more than they may together.

Invariants: a folder without its mark is not there, and is removed at the next start; an environment that is in use, or
was asked for since a removal began, is never removed. All methods but those that say so in the loop's thread.
"""

import asyncio
import json
import logging
import os
import platform as machine
import stat
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from trainmaster.agent.containers.references import reference_of
from trainmaster.agent.sandbox.sandbox import WORKSHOP
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import images as said
from trainmaster.service.environments.containers import Containers, container_key
from trainmaster.service.environments.definition import (
    LOCK,
    PROJECT,
    REQUIREMENTS,
    Definition,
    EnvironmentPlan,
    key_of,
    own_indexes,
)
from trainmaster.service.environments.workshop import NotMade, Place, Workshop, pythons, size_of
from trainmaster.storage.trees import remove_tree, sync, sync_tree

log = logging.getLogger("trainmaster.environments")

BUILDING, BUILDS = ".building", ".builds"
_IN: Final = f"{WORKSHOP}/environment"
_RESOLVED: Final = "resolved.txt"
LAST_LINES: Final = 5


@dataclass(slots=True)
class KeptEnvironment:
    """An environment that is whole. `used_at`: when a job was given it last, or it was made."""

    key: str
    size_bytes: int
    files: int
    used_at: float


@dataclass(slots=True)
class MakingOf:
    """How far an environment is that is being made. `has_turn`: no other is before it; `lines`: what was said last."""

    container: bool
    has_turn: bool = False
    unpacks: bool = False
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))


class EnvironmentKeeper:
    """One object per server. `in_use` says which keys live jobs need; it may block, and is asked in a thread."""

    def __init__(
        self,
        layout: Layout,
        makers: tuple[Workshop, Containers],
        budget_mib: int,
        clock: Callable[[], float],
        random_bytes: Callable[[int], bytes],
        in_use: Callable[[], Iterable[str]],
    ) -> None:
        self._layout, self._budget = layout, budget_mib << 20
        self._workshop, self.containers = makers
        self._clock, self._random, self._in_use = clock, random_bytes, in_use
        self._kept: dict[str, KeptEnvironment] = {}
        self._making: dict[str, asyncio.Task[KeptEnvironment]] = {}
        self._far: dict[str, MakingOf] = {}
        self._asking: Counter[asyncio.Task[KeptEnvironment]] = Counter()
        self._turn = asyncio.Semaphore(1)

    async def start(self) -> None:
        """See what is there; remove what is not whole. Raises OSError."""
        self._kept = {one.key: one for one in await asyncio.to_thread(self._found)}

    def _found(self) -> list[KeptEnvironment]:
        root, kept = self._layout.environments, []
        os.makedirs(root, mode=0o700, exist_ok=True)
        names = set(os.listdir(root))
        for name in sorted(names - {BUILDS}):
            path = os.path.join(root, name)
            if name.endswith(".json"):
                if name.removesuffix(".json") not in names:
                    os.unlink(path)
                continue
            found = self._read_mark(name)
            if found is not None:
                kept.append(found)
                continue
            try:
                remove_tree(path)
            except OSError as error:
                log.warning("what was left of making an environment stays in %s: %s", path, error)
        return kept

    def _read_mark(self, key: str) -> KeptEnvironment | None:
        path = self._layout.environment_mark(key)
        try:
            with open(path, encoding="utf-8") as file:
                told = json.load(file)
            return KeptEnvironment(key, int(told["bytes"]), int(told["files"]), os.stat(path).st_mtime)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    # -- ask ---------------------------------------------------------------------------------------------------

    def ready(self, key: str) -> bool:
        """Return whether an environment is there; it counts as used now."""
        found = self._kept.get(key)
        if found is None:
            return False
        found.used_at = self._clock()
        return True

    def is_there(self, key: str) -> bool:
        """Return whether an environment is there, without using it."""
        return key in self._kept

    def size_of(self, key: str) -> tuple[int, int]:
        """Return (bytes, files) of an environment; nothing where it is not there."""
        found = self._kept.get(key)
        return (found.size_bytes, found.files) if found is not None else (0, 0)

    def far(self, key: str) -> MakingOf | None:
        """Return how far an environment is that is being made, or was when that failed; None of any other."""
        return self._far.get(key)

    async def remember(self, key: str) -> None:
        """Note on the disk that an environment was used: for the next server."""
        with suppress(OSError):
            await asyncio.to_thread(os.utime, self._layout.environment_mark(key))

    # -- make --------------------------------------------------------------------------------------------------

    async def resolve(self, definition: Definition, told: Callable[[str], None]) -> EnvironmentPlan:
        """Return what a definition becomes: the exact packages. Raises NotMade."""
        if ref := reference_of(definition.container):
            pinned = await self.containers.pull(ref, definition.workspace, definition.secret, told)
            key = container_key(pinned.digest, machine.machine())
            return EnvironmentPlan(key, "", pinned.text, definition.workspace, definition.secret)
        version, python = _python(definition.python)
        place = await self._place(told, python)
        try:
            for name, text in definition.files.items():
                await asyncio.to_thread(_write, os.path.join(place.tree, name), text)
            out = f"{WORKSHOP}/{_RESOLVED}"
            if LOCK in definition.files:
                words = ["export", "--frozen", "--no-emit-project", "--no-dev", "--no-header", "--no-annotate"]
                words += ["--format", "requirements-txt", "--python", python, "--project", WORKSHOP]
                await self._workshop.run(place, *words, "-o", out)
            else:
                source = REQUIREMENTS if REQUIREMENTS in definition.files else PROJECT
                words = ["pip", "compile", f"{WORKSHOP}/{source}", "--generate-hashes", "--no-header", "--no-annotate"]
                await self._workshop.run(place, *words, "--python", python, "-q", "-o", out)
            lock = own_indexes(definition) + await asyncio.to_thread(_read, os.path.join(place.tree, _RESOLVED))
        except OSError as error:
            raise NotMade(said.not_made(error.strerror or str(error))) from error
        finally:
            await asyncio.to_thread(remove_tree, place.folder)
        _, uv = await self._workshop.uv()
        key = key_of(lock, version, f"{machine.machine()}-{machine.libc_ver()[0]}", uv)
        return EnvironmentPlan(key, version, lock)

    async def ensure(
        self,
        plan: EnvironmentPlan,
        told: Callable[[str], None] = lambda line: None,
        unpacks: Callable[[], None] = lambda: None,
    ) -> KeptEnvironment:
        """Return the environment of `plan`, made if it is not there: once, whoever asks meanwhile. Raises NotMade.
        `unpacks` is called once a container image is there and unpacked.

        When all who asked are cancelled, so is the making; the last of them ends when nothing of it is left.
        """
        if self.ready(plan.key):
            return self._kept[plan.key]
        making = self._making.get(plan.key)
        if making is None or making.done() or making.cancelling():
            making = self._making[plan.key] = asyncio.create_task(self._make(plan, told, unpacks))
            making.add_done_callback(lambda done: self._forget(plan.key, done))
        self._asking[making] += 1
        try:
            return await asyncio.shield(making)
        finally:
            self._asking[making] -= 1
            if self._asking[making] == 0:
                del self._asking[making]
                if not making.done():
                    making.cancel()
                    await asyncio.gather(making, return_exceptions=True)

    def _forget(self, key: str, done: asyncio.Task[KeptEnvironment]) -> None:
        if self._making.get(key) is done:
            del self._making[key]
        if not done.cancelled():
            done.exception()  # seen: whoever asked may have gone

    async def _make(
        self, plan: EnvironmentPlan, told: Callable[[str], None], unpacks: Callable[[], None]
    ) -> KeptEnvironment:
        contained = self._layout.is_container(plan.key)
        far = self._far[plan.key] = MakingOf(contained)

        def says(line: str) -> None:
            far.lines.append(line)
            told(line)

        def unpacking() -> None:
            far.unpacks = True
            unpacks()

        async with self._turn:
            far.has_turn = True
            if self.ready(plan.key):
                return self._kept[plan.key]
            python = "" if contained else _python(plan.python)[1]
            place = await self._place(says, python)
            try:
                if contained:
                    await self.containers.unpack(plan, os.path.join(place.tree, "environment"), says, unpacking)
                else:
                    await self._install(place, plan)
                made = await asyncio.to_thread(self._take, place, plan.key)
            except OSError as error:
                raise NotMade(said.not_made(error.strerror or str(error))) from error
            finally:
                await asyncio.to_thread(remove_tree, place.folder)
                if contained:
                    await self.containers.tidy()
        self._kept[plan.key] = made
        self._far.pop(plan.key, None)
        await self.make_room()
        return made

    async def _install(self, place: Place, plan: EnvironmentPlan) -> None:
        await asyncio.to_thread(_write, os.path.join(place.tree, _RESOLVED), plan.lock)
        await self._workshop.run(place, "venv", "--relocatable", "--no-project", "--python", place.python, _IN)
        cfg = await asyncio.to_thread(_read, os.path.join(place.tree, "environment", "pyvenv.cfg"))
        where = ["--python", f"{_IN}/bin/python", "--compile-bytecode"]
        words = ["pip", "sync", f"{WORKSHOP}/{_RESOLVED}", "--allow-empty-requirements"]
        await self._workshop.run(place, *words, *where)
        await asyncio.to_thread(_settle, os.path.join(place.tree, "environment"), cfg, place.python, plan.python)

    async def _place(self, told: Callable[[str], None], python: str) -> Place:
        folder = os.path.join(self._layout.environments, BUILDING, self._random(12).hex())
        place = Place(folder, told, python)
        try:
            await asyncio.to_thread(os.makedirs, os.path.dirname(folder), 0o700, True)
            await asyncio.to_thread(self._workshop.prepare, place)
        except OSError as error:
            raise NotMade(said.not_made(error.strerror or str(error))) from error
        return place

    def _take(self, place: Place, key: str) -> KeptEnvironment:
        """Bring what was made to its place, its mark last. Blocking. Raises OSError."""
        made, target = os.path.join(place.tree, "environment"), self._layout.environment(key)
        remove_tree(os.path.join(place.tree, "cache"))  # what has two names has one from now on
        size, files = size_of(made)
        os.chmod(made, 0o700)  # whoever else may read it is let in by whoever starts their job
        sync_tree(made)
        remove_tree(target)
        os.rename(made, target)
        mark = self._layout.environment_mark(key)
        fresh = os.path.join(place.folder, "mark")
        _write(fresh, json.dumps({"bytes": size, "files": files, "made_at": self._clock()}))
        os.rename(fresh, mark)
        sync(self._layout.environments)
        return KeptEnvironment(key, size, files, self._clock())

    # -- remove ------------------------------------------------------------------------------------------------

    async def make_room(self) -> None:
        """Remove those that were used longest ago until the rest is within the budget."""
        if not self._budget or self._sum() <= self._budget:
            return
        began = self._clock()
        needed = set(await asyncio.to_thread(lambda: set(self._in_use())))
        for one in sorted(self._kept.values(), key=lambda kept: kept.used_at):
            if self._sum() <= self._budget:
                return
            if one.key not in needed and one.used_at < began and one.key not in self._making:
                await self._remove(one.key)

    async def remove(self, key: str) -> None:
        """Remove an environment that no image has any more, if no job needs it."""
        began = self._clock()
        found = self._kept.get(key)
        needed = await asyncio.to_thread(lambda: set(self._in_use()))
        if found is not None and key not in needed and found.used_at <= began and key not in self._making:
            await self._remove(key)

    async def _remove(self, key: str) -> None:
        del self._kept[key]  # from now on nobody is given it
        with suppress(OSError):
            os.unlink(self._layout.environment_mark(key))
        log.info("environment %s is removed to make room", key)
        try:
            await asyncio.to_thread(remove_tree, self._layout.environment(key))
        except OSError as error:
            log.warning("environment %s is not wholly removed: %s", key, error)

    def _sum(self) -> int:
        return sum(one.size_bytes for one in self._kept.values())

    async def close(self) -> None:
        """Stop making any: what was half made is removed."""
        tasks = list(self._making.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _python(version: str) -> tuple[str, str]:
    """Return (version, interpreter). Raises NotMade where the machine has none."""
    found = pythons()
    wanted = version or next(iter(found))
    if wanted not in found:
        raise NotMade(said.no_such_python(wanted, sorted(found)))
    return wanted, found[wanted]


def _settle(made: str, cfg: str, python: str, version: str) -> None:
    """Write anew what says which interpreter it is that an environment stands on: a package may have changed it, and
    what it names of the host is shown to tasks. Raises OSError, NotMade where folders are none.
    """
    own = os.path.join(made, "bin")
    for folder in (made, own):
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise NotMade(said.not_made("a package has replaced the folder of the environment"))
    for name, target in (("python", python), ("python3", "python"), (f"python{version}", "python")):
        path = os.path.join(own, name)
        _drop(path)
        os.symlink(target, path)
    path = os.path.join(made, "pyvenv.cfg")
    _drop(path)
    _write(path, cfg)


def _drop(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        remove_tree(path)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _read(path: str) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # written where hostile code may have been
    with open(fd, encoding="utf-8", errors="replace") as file:
        return file.read(8 << 20)
