"""From what a job names to the environment that it is given: the image's version, its environment, made again if it was
removed meanwhile. What was looked up is remembered: versions never change.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Coroutine, Iterable
from typing import Final, NamedTuple

from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import containers
from trainmaster.messages.assets import images as said
from trainmaster.messages.said import Said
from trainmaster.service.environments.builds import Builds
from trainmaster.service.environments.definition import EnvironmentPlan
from trainmaster.service.environments.keeper import EnvironmentKeeper
from trainmaster.service.environments.workshop import NotMade
from trainmaster.spec.lower import image_ref
from trainmaster.store.assets.images import AboutImage, ImageRows, about_of

log = logging.getLogger("trainmaster.environments")

_REMEMBERED: Final = 4096
LOOK_S: Final = 0.5
"""Between two words to a job on how far its environment is."""


class NeededImage(NamedTuple):
    """That a live job, submitted at `since`, has an image; `ref`: NAME@VERSION."""

    workspace: str
    ref: str
    job: str
    since: float

    @property
    def number(self) -> int:
        """Which version, 0 where that cannot be read."""
        number = self.ref.partition("@")[2]
        return int(number) if number.isdecimal() else 0

    def among(self, called: Collection[tuple[str, str]]) -> bool:
        """Return whether it is a version of an image that is called so: names by workspace."""
        return (self.workspace, self.ref.partition("@")[0]) in called


NeededBy = Callable[[], Iterable[NeededImage]]
"""Returns what live jobs need; blocking."""


class JobImages:
    """One object per server; all methods but `keys` in the loop's thread."""

    def __init__(self, rows: ImageRows, needed: NeededBy) -> None:
        self.rows, self.needed = rows, needed
        self._plans: dict[tuple[str, str], EnvironmentPlan] = {}
        self._changing = threading.Lock()  # of `_plans` and `forgotten`
        self.forgotten = 0
        """How often names were forgotten: what was looked up before the last time is not remembered after it."""
        self._making: set[asyncio.Task[object]] = set()
        self.keeper: EnvironmentKeeper
        self.builds: Builds

    def use(self, keeper: EnvironmentKeeper, builds: Builds) -> None:
        """Take who makes and keeps environments."""
        self.keeper, self.builds = keeper, builds

    async def start(self) -> None:
        """See what is there. Raises OSError."""
        await self.keeper.start()
        await self.builds.start()
        self._behind(self.keeper.containers.start())

    async def close(self) -> None:
        """End what is being made."""
        await self.builds.close()
        for task in self._making:
            task.cancel()
        await asyncio.gather(*self._making, return_exceptions=True)
        await self.keeper.close()

    def keys(self) -> set[str]:
        """Return the environments that live jobs need; blocking. Where a name means nothing any more, or something
        else, since the job runs on after a subscription ended: those of every version with its number.
        """
        found = set[str]()
        for one in self.needed():
            plan, (name, number) = self._fetch(one.workspace, one.ref), image_ref(one.ref) or ("", None)
            if plan is not None:
                found.add(plan.key)
            if number is not None and (plan is None or self.rows.came_after(one.workspace, name, one.since)):
                found |= self.rows.environments(number)
        return found

    def key(self, workspace: str, ref: str) -> str | None:
        """Return the environment of ``NAME@VERSION`` where it is known and there; it counts as used."""
        plan = self._plans.get((workspace, ref))
        return plan.key if plan is not None and self.keeper.ready(plan.key) else None

    def is_container(self, workspace: str, ref: str) -> bool:
        """Return whether ``NAME@VERSION``, which was looked up (`know`), is a container image."""
        plan = self._plans.get((workspace, ref))
        return plan is not None and Layout.is_container(plan.key)

    def know(self, workspace: str, ref: str, about: AboutImage, place: str, since: int) -> EnvironmentPlan:
        """``NAME@VERSION`` was looked up in a workspace, and is this, of an image that lies in the workspace `place`:
        what its registry asks for is a secret of that one. `since`: `forgotten` as it was before that was looked up.
        """
        plan = EnvironmentPlan(about.key, about.python, about.lock, place, about.secret)
        with self._changing:
            if self.forgotten == since:
                if len(self._plans) >= _REMEMBERED:
                    self._plans.clear()
                self._plans[workspace, ref] = plan
        return plan

    def _fetch(self, workspace: str, ref: str) -> EnvironmentPlan | None:
        if (plan := self._plans.get((workspace, ref))) is not None:
            return plan
        named, since = image_ref(ref), self.forgotten
        found = self.rows.version(workspace, named[0], named[1]) if named is not None and named[1] else None
        about = about_of(found) if found is not None else None
        if found is None or about is None:
            return None
        return self.know(workspace, ref, about, found.workspace, since)

    def forget(self, called: Collection[tuple[str, str]]) -> None:
        """An image is not called so any more, names by workspace: they may become another's."""
        with self._changing:
            self.forgotten += 1
            for place in [one for one in self._plans if (one[0], one[1].partition("@")[0]) in called]:
                del self._plans[place]

    async def foresee(self, workspace: str, ref: str) -> None:
        """A job was submitted with an image: make its environment if it was removed, while the job waits."""
        plan = await asyncio.to_thread(self._fetch, workspace, ref)
        if plan is not None and not self.keeper.ready(plan.key):
            self._behind(self._made(plan))

    def _behind(self, work: Coroutine[object, object, object]) -> None:
        task: asyncio.Task[object] = asyncio.create_task(work)
        self._making.add(task)
        task.add_done_callback(self._making.discard)

    async def _made(self, plan: EnvironmentPlan) -> None:
        try:
            await self.keeper.ensure(plan)
        except NotMade as error:
            log.info("environment %s is not made: %s", plan.key, error.said.code)

    async def ensure(self, workspace: str, ref: str, tell: Callable[[Said], bool] = lambda said: True) -> Said | None:
        """Return once the environment of ``NAME@VERSION`` is there, or why it will not be. `tell`: told how far it is,
        returns whether that is wanted still.
        """
        plan = await asyncio.to_thread(self._fetch, workspace, ref)
        if plan is None:
            return said.image_gone(ref)
        making = asyncio.create_task(self.keeper.ensure(plan))
        try:
            while not making.done():
                await asyncio.wait({making}, timeout=LOOK_S)
                if not making.done() and not tell(self._far(plan, ref)):
                    return None
            making.result()
        except NotMade as error:
            return self._why(plan, ref, error)
        finally:
            if not making.done():
                making.cancel()
                await asyncio.gather(making, return_exceptions=True)
        await self.keeper.remember(plan.key)
        return None

    def _far(self, plan: EnvironmentPlan, ref: str) -> Said:
        far = self.keeper.far(plan.key)
        if far is None or not far.has_turn:
            return said.image_waits_for_others(ref)
        line = far.lines[-1] if far.lines else "…"
        if not far.container:
            return said.environment_being_made(ref, line)
        return (containers.image_unpacked_again if far.unpacks else containers.image_pulled_again)(ref, line)

    def _why(self, plan: EnvironmentPlan, ref: str, error: NotMade) -> Said:
        far = self.keeper.far(plan.key)
        if far is None or not far.lines:
            return said.environment_not_made(ref, error.said)
        return said.environment_not_made_after(ref, error.said, " | ".join(far.lines))

    async def key_from_disk(self, workspace: str, ref: str) -> str | None:
        """Return the environment of ``NAME@VERSION``, None where the image is gone."""
        plan = await asyncio.to_thread(self._fetch, workspace, ref)
        return plan.key if plan is not None else None
