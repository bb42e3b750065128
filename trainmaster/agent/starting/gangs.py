"""Make gangs ready to start: everything but the processes. Starts and ends nothing.

A gang may be made ready before anybody may start it, while the server is still writing its decision down. Invariant:
what was made ready and is never started leaves no trace but the job's own empty folders.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Final

from trainmaster.agent.caching import showing
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.sandbox import apart, seccomp
from trainmaster.agent.sandbox.etc import Etc
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting import spawn
from trainmaster.agent.starting.spares import Spares
from trainmaster.agent.tasks import live
from trainmaster.agent.tasks.live import LiveAttempt, LiveTask
from trainmaster.agent.tasks.prepare import prepare
from trainmaster.core.folders.layout import Layout, TaskPaths
from trainmaster.core.launch import Gang
from trainmaster.messages.assets.caching import no_longer_cached
from trainmaster.messages.jobs import starting as say

NOT_CACHED: Final = "not_cached"
"""Code of a note on an input that was to be cached and is read where it lies."""
FILL_S: Final = 0.01
"""Spare folders are made so long after a start: what was just started has the machine first."""


class Gangs:
    """Those of one home. `later(seconds, call)` sets a timer."""

    def __init__(self, layout: Layout, cgroups: Cgroups, later: Callable[[float, Callable[[], None]], None]) -> None:
        self._layout, self._cgroups, self._later = layout, cgroups, later
        self.etc = Etc(layout.path("run", "etc"))
        self._spares = Spares(layout.path("run", "spare"))
        self._filling = False

    def ready(
        self, gang: Gang, settings: Settings, request: bytes, values: Mapping[str, str] | None = None
    ) -> LiveAttempt:
        """Return `gang` ready to start; `request` goes into its record, the `values` of its secrets do not. Raises
        Refused; then nothing is left of it.
        """
        name = live.name_of(gang)
        attempt = LiveAttempt(name, gang, settings, live.record_path(self._layout, name))
        attempt.values = dict(values or {})
        try:
            self._make(attempt)
            live.create(self._layout, attempt, request)
        except spawn.StartRefused:
            self.forget(attempt)
            raise
        except OSError as error:
            self.forget(attempt)
            raise spawn.refusal(error, say.task_files_not_made()) from error
        return attempt

    def _make(self, attempt: LiveAttempt) -> None:
        gang, settings = attempt.gang, attempt.settings
        if os.path.exists(live.closed_path(self._layout, gang)):
            raise spawn.StartRefused("launch_failed", say.attempt_reaped(attempt.id))
        shown, missing = showing.with_copies(gang, settings, attempt.id, attempt.record)
        attempt.notes += [(NOT_CACHED, no_longer_cached(mount.target)) for mount in missing]
        try:
            prepared = prepare(shown, self._layout, settings)
        except (ValueError, KeyError, IndexError) as error:
            raise spawn.StartRefused("launch_failed", say.gang_not_prepared(str(error))) from error
        spawn.refuse_without_environment(gang, self._layout, settings)
        spawn.refuse_covering(gang, self._layout, settings)
        attempt.tasks = [LiveTask(attempt, item, position) for position, item in enumerate(prepared)]
        for task in attempt.tasks:
            task.program = spawn.resolve(task.prepared, gang)
        if settings.degraded:
            attempt.notes.append(("sandbox_degraded", settings.degraded))
        if settings.bwrap and (why := seccomp.missing()):
            attempt.notes.append(("sandbox_degraded", say.calls_not_filtered(why)))
        if settings.network == apart.PRIVATE:
            own = apart.has_own_network(gang, settings)
            said = say.network_of_its_own() if own else say.network_shared()
            attempt.notes.append(("network_private" if own else "network_shared", said))
        if settings.bwrap:
            self.etc.know(item.name for item in prepared)
            self.etc.refresh()
        self._give_job_folder(gang)
        for item in prepared:
            spawn.materialise(item, self._spares)
        self._take_groups(attempt)

    def _give_job_folder(self, gang: Gang) -> None:
        """Give a job its folder; one that has it already, from another attempt or agent, keeps what it has."""
        job, layout = gang.job, self._layout
        attempt = layout.attempt(job, 1)
        made = (layout.model_out(job), layout.outputs(job), os.path.dirname(attempt), attempt)
        self._spares.give(tuple(path[len(layout.job(job)) + 1 :] for path in made), layout.job(job))
        if self._spares.few and not self._filling:
            self._filling = True
            self._later(FILL_S, self._fill)

    def _fill(self) -> None:
        self._filling = False
        self._spares.fill()

    def _take_groups(self, attempt: LiveAttempt) -> None:
        if not attempt.settings.cgroups:
            return
        if not self._cgroups.version:
            attempt.notes.append(("cgroups_degraded", say.limits_by_samples()))
            return
        for task in attempt.tasks:
            task.group = self._cgroups.take(task.prepared.limits)

    def forget(self, attempt: LiveAttempt) -> None:
        """Remove every trace of an attempt that never was."""
        for task in attempt.tasks:
            remove(task.prepared.paths.root)
        with contextlib.suppress(OSError):
            os.unlink(attempt.record)
        self.give_back(attempt)
        with contextlib.suppress(OSError):
            os.rmdir(self._layout.attempt(attempt.gang.job, attempt.gang.attempt))

    def give_back(self, attempt: LiveAttempt) -> None:
        """Let groups be used again, and cached inputs be removed: not before the record is closed, or an heir would
        take a new task for the old one.
        """
        showing.give_back(attempt.gang, attempt.settings, attempt.id, attempt.record)
        for task in attempt.tasks:
            if task.group is not None:
                self._cgroups.give(task.group)
                task.group = None


def discard(paths: TaskPaths) -> None:
    """Remove a task's private /tmp and /workspace. One that holds nothing stays."""
    for folder in (paths.tmp, paths.work):
        if not spawn.holds_nothing(folder):
            remove(folder)


def remove(folder: str) -> None:
    """Remove a folder. A full one is left to a program: it may hold a million files, in folders of any depth."""
    if os.path.exists(folder) and spawn.remove_small(folder) < 0:
        with contextlib.suppress(OSError):
            os.posix_spawn("/bin/rm", ["rm", "-rf", "--one-file-system", "--", folder], {}, setsigdef=spawn.RESET)
