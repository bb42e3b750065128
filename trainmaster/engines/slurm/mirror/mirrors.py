"""All mirrors of a cluster whose nodes share no folder with the server: one thread and one srun for each node of each
attempt that runs.

Threads, because a mirror waits all the time, for the node or the disk, and the server's loop must not. Invariants: of a
part there is at most one at a time, and none once all of it was fetched; one that breaks is begun again for as long as
the job runs.
"""

import asyncio
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from trainmaster.agent.folder import Folder, StepWork, step_text, write_whole
from trainmaster.core.folders.layout import Layout
from trainmaster.core.ids import split_attempt_id, task_name
from trainmaster.engines.base import Note
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.client.commands import Access, command, environment, srun_words
from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.mirror.mirror import Mirror
from trainmaster.engines.slurm.mirror.mirror_progress import MirrorProgress
from trainmaster.engines.slurm.mirror.mirror_trees import Shape, escape_path
from trainmaster.engines.slurm.mirror.mirror_writing import Failed
from trainmaster.engines.slurm.wrong import Wrong
from trainmaster.messages import render
from trainmaster.messages.said import Said, verbatim

log = logging.getLogger("trainmaster.slurm")

AGAIN_S: Final = (1.0, 15.0)
"""Between the end of a broken connection and the next one: at first, and at most."""
PART: Final = re.compile("[0-9]{1,6}-.+")
"""Component and node. Parts are also read from names of files, which whoever runs the tasks could have made."""
LINGER_S: Final = 20.0
"""How long after the end of a job a connection may still bring something."""
SOME: Final = 3
"""Files that a note names."""


def srun(access: Access, python: str, number: int, node: str, component: int | None) -> list[str]:
    """Return the words that run `python` beside the tasks of job `number` on `node`. `component`: of a heterogeneous
    job.
    """
    # Unbuffered: else only whole lines are passed on, and we write none.
    return command(access, "srun", (*srun_words("mirror", number, node, component), "--unbuffered", python))


def moved(work: StepWork, data: str, root: str) -> StepWork:
    """Return `work` as it is where what lies in `data` here lies in `root`."""

    def there(path: str) -> str:
        return root + path[len(data) :] if path.startswith(data + "/") else path

    mounts = tuple(replace(mount, source=there(mount.source)) for mount in work.gang.mounts)
    settings = replace(work.settings, package=there(work.settings.package))
    return replace(work, gang=replace(work.gang, mounts=mounts), settings=settings, data=root)


def shape(attempt: str, shared: Folder, work: StepWork, scratch: str) -> Shape:
    """Return what an attempt's nodes are to have."""
    data, job = work.data, split_attempt_id(attempt)[0]
    layout = Layout("", data)
    sources = tuple(mount.source for mount in work.gang.mounts if mount.source.startswith(data + "/"))
    return Shape(
        shared,
        data,
        f"{scratch}/{attempt}",
        "step.json",
        lambda root: step_text(moved(work, data, root)),
        (work.settings.package, *sources),
        tuple(os.path.relpath(path, data) for path in (layout.model_out(job), layout.outputs(job))),
        tuple(tuple(task_name(role, index) for role, index in component) for component in work.components),
        work.settings.log_mib,
    )


class MirrorKeeper(threading.Thread):
    """Keeps one part mirrored. `connect` returns a new connection, and raises OSError."""

    def __init__(self, part: str, connect: Callable[[], Mirror], progress: MirrorProgress | None = None) -> None:
        super().__init__(name=f"mirror {part}", daemon=True)
        self.progress = progress or MirrorProgress()
        self.part, self._connect = part, connect
        self.fetched = False
        self.said: Said | None = None  # why the last connection ended
        self._turn = threading.Lock()  # the server's loop takes it, too: never block while holding it
        self._mirror: Mirror | None = None
        self._cut = False  # no connection may go on
        self._ended = threading.Event()

    def run(self) -> None:
        """Try until it is done."""
        pause = AGAIN_S[0]
        while not (self.fetched or self._ended.is_set()):
            began = time.monotonic()
            self._once()
            pause = AGAIN_S[0] if time.monotonic() - began > AGAIN_S[1] else min(2 * pause, AGAIN_S[1])
            if not self.fetched:
                self._ended.wait(pause)

    def _once(self) -> None:
        mirror = None
        try:
            mirror = self._connect()
            with self._turn:
                self._mirror = mirror
                if self._cut:
                    mirror.close()
            mirror.run()
            self.fetched = True
        except Exception as error:  # whatever a node sends, other jobs must not suffer
            self.said = why_ended(error, mirror.last_words() if mirror is not None else "")
            if not self._ended.is_set():
                log.warning("the mirror of %s: %s (%r)", self.part, render.text(self.said), error)
        finally:
            with self._turn:
                self._mirror = None
            if mirror is not None:
                mirror.closed()

    def end(self) -> None:
        """Connect no more, and end the connection that there is. Does not block."""
        self._ended.set()
        with self._turn:
            self._cut = True
            if self._mirror is not None:
                self._mirror.close()

    def let_finish(self) -> None:
        """Let the connection that there is be the last one."""
        self._ended.set()


@dataclass
class AttemptMirrors:
    """The mirrors of one attempt. `over`: since when its job is, a monotonic clock."""

    shape: Shape
    keepers: dict[str, MirrorKeeper]
    over: float | None = None
    told: bool = False

    @property
    def busy(self) -> bool:
        return any(keeper.is_alive() for keeper in self.keepers.values())


class Mirrors:
    """Those of one cluster. `tell`: is given what people should know of an attempt."""

    def __init__(self, access: Access, python: str, scratch: str, tell: Callable[[Note], None]) -> None:
        self._access, self._python, self._scratch, self._tell = access, python, scratch, tell
        self._kept: dict[str, AttemptMirrors] = {}

    def tend(self, about: Iterable[Following]) -> None:
        """Let all that runs be mirrored, and what is over come to its end. Does not block.

        What fails with one attempt concerns no other, and is tried again by the next call.
        """
        for one in about:
            try:
                self._tend(one)
            except Exception:  # for example, no more threads: go on with the other attempts
                log.exception("%s cannot be mirrored now", one.attempt)

    def _tend(self, one: Following) -> None:
        kept = self._kept.get(one.attempt)
        if kept is None:
            kept = self._kept[one.attempt] = AttemptMirrors(shape(one.attempt, one.shared, one.work, self._scratch), {})
        if one.over:
            self._end(kept, one)
        elif one.own:
            for order, part in enumerate(one.parts):
                if part not in kept.keepers and PART.fullmatch(part):
                    kept.keepers[part] = self._keeper(kept.shape, one, part, order)

    def _keeper(self, of: Shape, one: Following, part: str, order: int) -> MirrorKeeper:
        number, _, node = part.partition("-")
        component = int(number) if len(one.work.components) > 1 else None
        argv, env = srun(self._access, self._python, one.own, node, component), environment(self._access)
        progress = MirrorProgress()
        keeper = MirrorKeeper(part, partial(Mirror, of, part, order, argv, env, progress), progress)
        keeper.start()
        return keeper

    def _end(self, kept: AttemptMirrors, one: Following) -> None:
        kept.over = kept.over or time.monotonic()
        for keeper in kept.keepers.values():
            keeper.let_finish() if time.monotonic() - kept.over < LINGER_S else keeper.end()
        if not kept.busy and not kept.told:
            kept.told = True
            for note in left_behind(kept, one):
                self._tell(note)

    def why_silent(self, one: Following) -> Said | None:
        """Return why nothing came from its nodes; None: nobody said anything."""
        kept = self._kept.get(one.attempt)
        keepers = kept.keepers.values() if kept is not None else ()
        return next((keeper.said for keeper in keepers if keeper.said is not None), None)

    def progressed(self, one: Following) -> float:
        """Return when one of its parts got further, a monotonic clock; 0.0: never."""
        kept = self._kept.get(one.attempt)
        return max((keeper.progress.at for keeper in kept.keepers.values()), default=0.0) if kept is not None else 0.0

    def busy(self, one: Following) -> bool:
        """Return whether something of it may still come."""
        kept = self._kept.get(one.attempt)
        return kept is not None and kept.busy

    def forget(self, attempt: str) -> None:
        """Forget what is over."""
        kept = self._kept.pop(attempt, None)
        for keeper in kept.keepers.values() if kept is not None else ():
            keeper.end()

    async def close(self) -> None:
        """End all connections; the nodes wait for those of the next server."""
        keepers = [keeper for kept in self._kept.values() for keeper in kept.keepers.values()]
        for keeper in keepers:
            keeper.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                await asyncio.gather(*(asyncio.to_thread(keeper.join) for keeper in keepers))


def unfetched(shared: Folder) -> list[str]:
    """Return the parts that may have written what is not here. Raises OSError."""
    names = set(os.listdir(shared.path))
    parts = (name.removeprefix("brought-") for name in sorted(names) if name.startswith("brought-"))
    return [part for part in parts if f"fetched-{part}" not in names]


def conclude(shared: Folder, incomplete: str) -> None:
    """Write down whether all that an attempt's nodes wrote is here. Raises OSError."""
    if unfetched(shared):
        write_whole(incomplete, "")
    else:
        with suppress(FileNotFoundError):
            os.unlink(incomplete)


def why_ended(error: Exception, printed: str) -> Said:
    """Return why a connection has ended. `printed`: what srun, or Python on the node, had to say: it knows best."""
    if printed:
        return verbatim(printed)
    if isinstance(error, Failed | Wrong):
        return error.said
    if isinstance(error, OSError | EOFError):
        return verbatim(str(error)) if str(error) else say.connection_ended()
    return say.node_not_understood(repr(error))


def left_behind(kept: AttemptMirrors, one: Following) -> list[Note]:
    """Return what people should know of how the fetching has ended."""
    found, shape = [], kept.shape
    if left := unfetched(one.shared):
        nodes = [part.partition("-")[2] for part in left]
        told = (kept.keepers[part].said for part in left if part in kept.keepers)
        why = next((said for said in told if said is not None), say.nobody_asked_for_it())
        found.append(Note(one.attempt, "not_fetched", say.not_all_fetched(nodes, f"{shape.base}-*", why)))
    if shape.twice:
        names = [os.path.basename(path) for path in sorted(shape.twice)[:SOME]]
        found.append(Note(one.attempt, "written_twice", say.written_by_several_nodes(len(shape.twice), names)))
    if shape.left_out:
        some = [say.link_left_out(escape_path(path), why) for path, why in sorted(shape.left_out.items())[:SOME]]
        found.append(Note(one.attempt, "left_out", say.links_left_out(len(shape.left_out), some)))
    return found
