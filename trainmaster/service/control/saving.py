"""Saving outputs: what a successful job left in /model and /workspace/outputs becomes an immutable model version (R138,
R149).

Runs only after the engine proved that none of the job's processes is left. Idempotent by (job, attempt): the folder and
the row are found again. Files are brought together beside the models; only then is it the turn of the model for a
number. Invariants: nobody's saves wait for those of another person, nothing waits for a save that was given up, and of
a save that was given up no version is left.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from weakref import WeakValueDictionary

from trainmaster.core.config import LimitsConfig
from trainmaster.core.errors import StorageFailed, TrainmasterError, Unavailable
from trainmaster.core.events import Data
from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import Use
from trainmaster.core.records import Job
from trainmaster.messages.jobs import files
from trainmaster.messages.said import Said, said_in
from trainmaster.service.control.launching import Specs
from trainmaster.service.curves.metrics import MetricsReader
from trainmaster.service.helpers.own_thread import in_own_thread
from trainmaster.service.kept.kept import Kept
from trainmaster.spec.job import JobSpec
from trainmaster.storage import outputs
from trainmaster.storage.measuring import measured
from trainmaster.store.assets.models import ModelRows, saved_model
from trainmaster.store.assets.versions import AssetVersion

log = logging.getLogger("trainmaster.saving")

AT_ONCE: Final = 2
"""Saves of one person under way: each keeps a thread of its own and the disk busy."""


class GivenUp(Unavailable):
    """Nobody wants the outputs any more, or the server ends."""


class _Save:
    """One save under way. Its thread asks `go_on` all the time, and `settle` before the version is there for good."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._lock = threading.Lock()
        self._ends = float("inf")
        self._given_up = self._settled = False

    def begin(self) -> None:
        """Count the time from here on. Raises GivenUp."""
        self._ends = time.monotonic() + (self._limit_s or float("inf"))
        self.go_on()

    def go_on(self) -> None:
        """Raise GivenUp when it was, StorageFailed when it took too long."""
        if self._given_up:
            raise GivenUp(files.saving_given_up())
        if time.monotonic() > self._ends:
            raise StorageFailed(files.saving_too_slow(self._limit_s))

    def settle(self) -> None:
        """From here on it cannot be given up. Raises GivenUp."""
        with self._lock:
            self.go_on()
            self._settled = True

    def give_up(self) -> bool:
        """Return whether it was not settled yet; then it leaves nothing."""
        with self._lock:
            self._given_up = not self._settled
            return self._given_up


class Saving:
    """One object per server; its methods are called in the loop's thread."""

    def __init__(
        self,
        layout: Layout,
        limits: LimitsConfig,
        specs: Specs,
        models: ModelRows,
        metrics: MetricsReader,
        clock: Callable[[], float],
        random_bytes: Callable[[int], bytes],
        kept: Kept,
    ) -> None:
        self._layout, self._limits, self._specs = layout, limits, specs
        self._models, self._metrics = models, metrics
        self._clock, self._random_bytes, self._kept = clock, random_bytes, kept
        self._saves: dict[str, _Save] = {}  # by job
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # by owner; kept while used
        self._turn = threading.Lock()  # of taking the next number of a model: a rename and a row

    def nothing_to_save(self, job: Job) -> bool:
        """Return whether the tasks wrote nothing, or saving is switched off. Two system calls."""
        return not job.policy.save_model or not any(
            _has_entry(path) for path in (self._layout.model_out(job.id), self._layout.outputs(job.id))
        )

    def give_up(self, job: str) -> bool:
        """End the save of `job` if there is one; False when its version is there for good, or will be at once."""
        save = self._saves.get(job)
        return save is None or save.give_up()

    async def save(self, job: Job) -> tuple[Data, Said | None]:
        """Return the data of the `saved` event, and what of the outputs was left out and why, None for nothing.

        Raises StorageFailed when the outputs cannot be kept, or are not all here, Unavailable when they cannot now,
        GivenUp.
        """
        if job.policy.save_model and os.path.lexists(self._layout.incomplete(job.id, job.attempts_used)):
            raise StorageFailed(files.outputs_not_fetched())
        if self.nothing_to_save(job):
            return {"model": None, "files": 0, "size_bytes": 0}, None
        save = self._saves[job.id] = _Save(self._limits.save_s)
        slot = self._slots.setdefault(job.owner, asyncio.Semaphore(AT_ONCE))
        try:
            async with slot:
                spec = await self._specs.read(job.spec_digest)
                save.begin()
                version, left_out = await in_own_thread(lambda: self._save(job, spec, save))
        finally:
            self._kept.let_go(_held_as(job))
            save.give_up()  # also when the server ends, which does not wait for the thread
            if self._saves.get(job.id) is save:
                del self._saves[job.id]
        return {"model": version.reference, "files": version.files, "size_bytes": version.size_bytes}, left_out

    def _save(self, job: Job, spec: JobSpec, save: _Save) -> tuple[AssetVersion, Said | None]:
        name, attempt = spec.model.name or spec.name, job.attempts_used
        folder = self._layout.saving(job.id, attempt)
        if (version := self._models.made_by(job.id, attempt)) is not None:  # before a restart
            outputs.forget(folder)
            return version, None
        metrics = self._metrics.last_values(job, spec, save.go_on)
        provenance = {
            "job": job.id,
            "attempt": attempt,
            "name": job.name,
            "owner": job.owner,
            "spec": job.spec_digest,
            "code": spec.code.upload if spec.code else None,
            "submitted_at": job.submitted_at,
            "started_at": job.started_at,
            "metrics": metrics,
            "nodes": sorted({a.node for a in job.attempt.placement}) if job.attempt else [],
        }
        published = outputs.published(folder, provenance)
        if published is not None:
            path, saved = published
        else:
            path, saved = (
                "",
                outputs.write(
                    self._layout.model_out(job.id),
                    self._layout.outputs(job.id),
                    folder,
                    provenance=provenance,
                    max_mib=self._limits.model_mib,
                    go_on=save.go_on,
                    demand=lambda use: self._set_aside(job, use),
                ),
            )
        with self._turn:
            try:
                save.settle()
            except TrainmasterError:
                outputs.discard(path or folder)
                outputs.forget(folder)
                raise
            if not path:
                path = self._next(name, job)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                outputs.publish(folder, path)
            model = os.path.basename(os.path.dirname(path))
            where = os.path.relpath(path, self._layout.bulk)  # relative: the data folder may be moved
            new = saved_model(
                saved.digest, saved.size_bytes, saved.files, self._clock(), job.id, attempt, where, metrics
            )
            version = self._models.register(
                model_id=model, name=name, owner=job.owner, saved=new, workspace=job.workspace
            )
        outputs.forget(folder)
        self._count(version, self._kept.set_aside_for(_held_as(job)) or measured(path), job)
        return version, _say_left_out(saved.skipped)

    def _set_aside(self, job: Job, use: Use) -> None:
        """Set aside the room that a version takes. Raises StorageFailed where its storage quota does not allow it."""
        if (told := self._kept.hold(_held_as(job), (job.workspace, job.owner), use)) is not None:
            raise StorageFailed(told)

    def _count(self, version: AssetVersion, use: Use, job: Job) -> None:
        try:
            self._kept.keep_versions(version.asset, {version.number: use}, _held_as(job))
        except TrainmasterError as error:  # the version is there; the next server counts it
            log.warning("%s is not counted yet: %s", version.reference, error)

    def _next(self, name: str, job: Job) -> str:
        """Return a free folder for the next version of a model. What a crash left unregistered is passed over."""
        known = self._models.find_named(name, job.owner, job.workspace)
        model = known.id if known is not None else "m" + self._random_bytes(6).hex()
        number = (max(known.latest, known.numbered) if known is not None else 0) + 1
        while os.path.lexists(path := self._layout.model(model, number)):
            number += 1
        return path


def _held_as(job: Job) -> str:
    """Return under which name room is set aside for what `job` saves."""
    return f"{job.id}-{job.attempts_used}"


def _say_left_out(left_out: Sequence[Mapping[str, object]]) -> Said | None:
    if not left_out:
        return None
    path, why = str(left_out[0]["path"]), said_in(left_out[0]) or files.output_not_readable()
    return files.output_left_out(path, why) if len(left_out) == 1 else files.outputs_left_out(len(left_out), path, why)


def _has_entry(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is not None
    except FileNotFoundError:
        return False
