"""Saving outputs: what a successful job left in /model and /workspace/outputs becomes an immutable model version (R138, R149).

Runs only after the engine proved that none of the job's processes is left. Idempotent by (job, attempt).
"""

import asyncio
import os
import re
from typing import Any, Protocol

from trainmaster.core.layout import Layout
from trainmaster.core.records import Job
from trainmaster.service.launching import Specs
from trainmaster.storage import outputs


class ModelStore(Protocol):
    """What saving needs of store.models."""

    def reserve(self, *, name: str, owner: str, workspace: str, job: str, attempt: int) -> tuple[str, int]:
        """Return (model id, version): the same for the same job and attempt."""
        ...

    def register(
        self, *, model: str, version: int, digest: str, size_bytes: int, files: int, path: str, metrics: dict[str, float]
    ) -> None:
        """Make the version visible."""
        ...


class Saving:
    """One object per server."""

    def __init__(self, layout: Layout, specs: Specs, models: Any, last_values: Any, clock: Any) -> None:
        self._layout, self._specs, self._models = layout, specs, models
        self._last_values, self._clock = last_values, clock

    def nothing_to_save(self, job: Job) -> bool:
        """True when the tasks wrote nothing (or saving was switched off)."""
        if not job.policy.save_model:
            return True
        return not any(_has_entries(path) for path in (self._layout.model_out(job.id), self._layout.outputs(job.id)))
