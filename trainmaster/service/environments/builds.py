"""Builds of images: what people have asked for, how far it is, and why it failed. A build is no version: that is stored
when its environment is whole.

Invariant: a build that has ended never changes; what a server was building when it was killed is told as stopped by
the next one. All methods in the loop's thread.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec

from trainmaster.answers import BuildState
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import images as said
from trainmaster.messages.said import Said, said_from_json
from trainmaster.service.environments.definition import Definition, EnvironmentPlan, packages_in
from trainmaster.service.environments.keeper import BUILDS, EnvironmentKeeper, KeptEnvironment
from trainmaster.service.environments.workshop import NotMade
from trainmaster.storage.trees import sync

log = logging.getLogger("trainmaster.environments")

KEPT: Final = 200
"""Builds that are remembered after their end."""
LINES: Final = 2000
ENDS: Final = frozenset({"ready", "failed", "stopped"})


@dataclass(slots=True)
class Build:
    """One build. `error`: why it is no image; `image`, `version`: which it became."""

    id: str
    name: str
    workspace: str
    owner: str
    started_at: float
    state: BuildState = "waiting"
    ended_at: float | None = None
    packages: int = 0
    error: Said | None = None
    image: str | None = None
    version: int | None = None
    share: str = "none"
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES))

    @property
    def ended(self) -> bool:
        """Whether anything will change."""
        return self.state in ENDS


class _KeptBuild(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A build as its file holds it."""

    id: str
    name: str
    workspace: str
    owner: str
    started_at: float
    state: BuildState = "waiting"
    ended_at: float | None = None
    packages: int = 0
    error: dict[str, object] | None
    image: str | None = None
    version: int | None = None
    share: str = "none"
    lines: list[str]


Register = Callable[[EnvironmentPlan, KeptEnvironment], Awaitable[tuple[str, int]]]
"""Stores a version; returns the id of its image, and its number."""


class Builds:
    """One object per server."""

    def __init__(self, layout: Layout, keeper: EnvironmentKeeper, clock: Callable[[], float]) -> None:
        self._layout, self._keeper, self._clock = layout, keeper, clock
        self._all: dict[str, Build] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Semaphore(1)

    async def start(self) -> None:
        """Read what earlier servers have built."""
        for build in await asyncio.to_thread(self._read):
            self._all.setdefault(build.id, build)

    def begin(
        self, build: Build, definition: Definition, register: Register, base: EnvironmentPlan | None = None
    ) -> None:
        """Begin a build in the background. `base`: what it is made of, where that is resolved already."""
        self._all[build.id] = build
        if not self._tasks:  # else it waits for another
            build.state = _first(definition, base)
        task = asyncio.get_running_loop().create_task(self._run(build, definition, register, base))
        self._tasks[build.id] = task
        task.add_done_callback(lambda done: self._tasks.pop(build.id, None))

    def add(self, build: Build) -> None:
        """Take in a build that has ended."""
        self._all[build.id] = build

    def known(self) -> list[Build]:
        """Return all that are known, newest first."""
        return sorted(self._all.values(), key=lambda one: (one.started_at, one.id), reverse=True)

    def get(self, id_: str) -> Build | None:
        """Return one of them."""
        return self._all.get(id_)

    async def stop(self, id_: str) -> None:
        """Stop a build; return when nothing of it runs."""
        task = self._tasks.get(id_)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Stop all: they end with the server."""
        for id_ in list(self._tasks):
            await self.stop(id_)

    # -- inside ------------------------------------------------------------------------------------------------

    async def _run(
        self, build: Build, definition: Definition, register: Register, base: EnvironmentPlan | None
    ) -> None:
        try:
            await self._save(build)
            async with self._turn:
                kept, plan = await self._made(build, definition, base)
            build.image, build.version = await register(plan, kept)
            build.state = "ready"
        except NotMade as error:
            build.state, build.error = "failed", error.said
        except TrainmasterError as error:
            build.state, build.error = "failed", error.said
        except asyncio.CancelledError:
            build.state, build.error = "stopped", said.build_stopped()
        except Exception as error:  # of ours: whoever waits is told
            log.exception("the build %s failed", build.id)
            build.state, build.error = "failed", said.not_made(type(error).__name__)
        build.ended_at = self._clock()
        with suppress(asyncio.CancelledError):
            await self._save(build)
        await self._forget_old()

    async def _made(
        self, build: Build, definition: Definition, base: EnvironmentPlan | None
    ) -> tuple[KeptEnvironment, EnvironmentPlan]:
        def unpacks() -> None:
            build.state = "unpacking"

        if base is not None:
            build.state, build.packages = _first(definition, base), len(packages_in(base.lock))
            build.lines.append(f"base: {definition.base}, environment: {base.key}")
            return await self._keeper.ensure(base, build.lines.append, unpacks), base
        if not definition.container:
            build.state = "resolving"
            plan = await self._keeper.resolve(definition, build.lines.append)
            build.packages = len(packages_in(plan.lock))
            build.lines.append(f"packages: {build.packages}, environment: {plan.key}")
            build.state = "installing"
            return await self._keeper.ensure(plan, build.lines.append), plan
        build.state = "pulling"
        try:
            plan = await self._keeper.resolve(definition, build.lines.append)
            build.lines.append(f"{plan.lock}, environment: {plan.key}")
            return await self._keeper.ensure(plan, build.lines.append, unpacks), plan
        finally:
            await self._keeper.containers.tidy()

    async def _save(self, build: Build) -> None:
        try:
            await asyncio.to_thread(self._write, build.id, msgspec.json.encode(_kept(build)))
        except OSError as error:
            log.warning("what build %s has said is not kept: %s", build.id, error)

    def _write(self, id_: str, text: bytes) -> None:
        folder = os.path.join(self._layout.environments, BUILDS)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        fresh = os.path.join(folder, f"{id_}.new")
        with open(fresh, "wb") as file:
            file.write(text)
        sync(fresh)
        os.replace(fresh, os.path.join(folder, f"{id_}.json"))

    def _read(self) -> list[Build]:
        folder, found = os.path.join(self._layout.environments, BUILDS), []
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                try:
                    with open(path, "rb") as file:
                        found.append(_build(msgspec.json.decode(file.read(), type=_KeptBuild)))
                except (OSError, ValueError, KeyError, TypeError, AttributeError):
                    with suppress(OSError):
                        os.unlink(path)
        return found

    async def _forget_old(self) -> None:
        over = [one for one in self.known() if one.ended][KEPT:]
        for one in over:
            del self._all[one.id]
            with suppress(OSError):
                await asyncio.to_thread(os.unlink, os.path.join(self._layout.environments, BUILDS, f"{one.id}.json"))


def _kept(build: Build) -> _KeptBuild:
    return _KeptBuild(
        id=build.id,
        name=build.name,
        workspace=build.workspace,
        owner=build.owner,
        started_at=build.started_at,
        state=build.state,
        ended_at=build.ended_at,
        packages=build.packages,
        error=build.error.to_json() if build.error is not None else None,
        image=build.image,
        version=build.version,
        share=build.share,
        lines=list(build.lines),
    )


def _build(kept: _KeptBuild) -> Build:
    """Return a build as the server that reads it knows it. Raises KeyError, TypeError, AttributeError, ValueError where
    its error is damaged.
    """
    build = Build(
        id=kept.id,
        name=kept.name,
        workspace=kept.workspace,
        owner=kept.owner,
        started_at=kept.started_at,
        state=kept.state,
        ended_at=kept.ended_at,
        packages=kept.packages,
        error=said_from_json(kept.error) if kept.error else None,
        image=kept.image,
        version=kept.version,
        share=kept.share,
        lines=deque(kept.lines, maxlen=LINES),
    )
    if not build.ended:  # its server was killed
        build.state, build.error, build.ended_at = "stopped", said.build_stopped(), build.started_at
    return build


def _first(definition: Definition, base: EnvironmentPlan | None) -> BuildState:
    """Return what a build does first."""
    if base is not None:
        return "pulling" if Layout.is_container(base.key) else "installing"
    return "pulling" if definition.container else "resolving"
