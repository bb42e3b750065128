"""Saving outputs: what a successful job left in /model and /workspace/outputs becomes an immutable model version (R138, R149).

Runs only after the engine proved that none of the job's processes is left. Idempotent by (job, attempt): the folder and the
row are found again. One save at a time takes the next version number of a model; a few models are saved at once.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakValueDictionary

from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.core.layout import Layout
from trainmaster.core.records import Job
from trainmaster.service.launching import Specs
from trainmaster.service.metrics import MetricsReader
from trainmaster.spec.job import JobSpec
from trainmaster.storage import outputs
from trainmaster.store.models import Models, ModelVersion, NewVersion

AT_ONCE: Final = 4
"""Saves under way: each keeps a thread and the disk busy."""


class Saving:
    """One object per server."""

    def __init__(
        self, layout: Layout, specs: Specs, models: Models, metrics: MetricsReader,
        clock: Callable[[], float], random_bytes: Callable[[int], bytes],
    ) -> None:  # fmt: skip
        self._layout, self._specs, self._models, self._metrics = layout, specs, models, metrics
        self._clock, self._random_bytes = clock, random_bytes
        self._room = asyncio.Semaphore(AT_ONCE)
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = (
            WeakValueDictionary()
        )  # by model; kept while used

    def nothing_to_save(self, job: Job) -> bool:
        """Return whether the tasks wrote nothing, or saving is switched off. Two system calls."""
        return not job.policy.save_model or not any(
            _has_entry(path) for path in (self._layout.model_out(job.id), self._layout.outputs(job.id))
        )

    async def save(self, job: Job) -> dict[str, Any]:
        """Return the data of the `saved` event. Raises StorageFailed when the outputs cannot be kept, or are not all here."""
        if job.policy.save_model and os.path.lexists(self._layout.incomplete(job.id, job.attempts_used)):
            raise StorageFailed(
                "Not everything that its tasks wrote was fetched from their nodes, so no model was saved"
            )
        if self.nothing_to_save(job):
            return {"model": None, "files": 0, "size_bytes": 0}
        spec = await self._specs.read(job.spec_digest)
        turn = self._turns.setdefault((job.workspace, _name(spec)), asyncio.Lock())
        async with turn, self._room:
            version = await asyncio.to_thread(self._save, job, spec)
        return {"model": version.reference, "files": version.files, "size_bytes": version.size_bytes}

    def _save(self, job: Job, spec: JobSpec) -> ModelVersion:
        name = _name(spec)
        known = self._models.find(name, job.workspace)
        for version in self._models.versions(known.id) if known is not None else ():
            if (version.job, version.attempt) == (job.id, job.attempts_used):
                return version  # saved before a restart
        model = known.id if known is not None else "m" + self._random_bytes(6).hex()
        metrics = self._metrics.last_values(job, spec)
        attempt = job.attempts_used
        provenance = {
            "job": job.id, "attempt": attempt, "name": job.name, "owner": job.owner, "spec": job.spec_digest,
            "code": spec.code.upload if spec.code else None, "submitted_at": job.submitted_at,
            "started_at": job.started_at, "metrics": metrics,
            "nodes": sorted({a.node for a in job.attempt.placement}) if job.attempt else [],
        }  # fmt: skip
        path, saved = self._write(job, model, (known.latest if known is not None else 0) + 1, provenance)
        new = NewVersion(saved.digest, saved.size_bytes, saved.files, self._clock(), job.id, attempt, path, metrics)
        return self._models.register(model_id=model, name=name, owner=job.owner, saved=new, workspace=job.workspace)

    def _write(self, job: Job, model: str, number: int, provenance: dict[str, Any]) -> tuple[str, outputs.Saved]:
        """Write the folder of the next free number and return where it lies below the folder of what is bulky, which may be moved.

        One that a crash left unregistered by another job is passed over.
        """
        while True:
            path = self._layout.model(model, number)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                saved = outputs.save(
                    self._layout.model_out(job.id), self._layout.outputs(job.id), path, provenance=provenance
                )
                return os.path.relpath(path, self._layout.bulk), saved
            except Conflict:
                number += 1


def _name(spec: JobSpec) -> str:
    return spec.model.name or spec.name


def _has_entry(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is not None
    except FileNotFoundError:
        return False
