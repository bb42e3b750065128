"""Use case: jobs side by side. Changes nothing.

Each job is looked for as if it were read by itself, so what is compared opens nothing: of one that somebody may not
see they are told that there is none. A version of a model stands for the job that made it.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.answers import (
    CodeDiffView,
    ComparisonView,
    FileDiff,
    MetricResult,
    OverlaidCurves,
    OverlayView,
)
from trainmaster.core.errors import NotFound
from trainmaster.core.records import Job
from trainmaster.messages.jobs.jobs import no_such_job
from trainmaster.service.context import Context
from trainmaster.service.use_cases.assets.models import Models
from trainmaster.service.use_cases.finding.differences import document_now, metrics_of, rows_of
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import effective
from trainmaster.storage.treediff import tree_diff

MOST_JOBS: Final = 50
PATIENCE_S: Final = 3.0
"""How long points of all jobs are collected for one answer; what is left is at the next."""

Read = tuple[JobSpec | None, dict[str, MetricResult], bool]
"""A job's document, what became of its metrics, and whether there is more of them to collect."""


class Comparing:
    """One object per server."""

    def __init__(self, context: Context, jobs: Jobs, models: Models) -> None:
        self._ctx, self._jobs, self._models = context, jobs, models

    async def jobs(self, refs: Sequence[str], who: Principal) -> ComparisonView:
        """Return these jobs side by side: ids, unique beginnings, slugs, or NAME@VERSION of models. Raises NotFound,
        Conflict when a beginning names several.
        """
        seq = self._ctx.feed.here()
        found = await self._resolved(refs, who)
        views = {view.id: view for view in await self._jobs.views(found, who, seq)}
        found = [job for job in found if job.id in views]
        read = await asyncio.to_thread(self._read, found)
        documents = [effective(spec) if spec is not None else None for spec, _, _ in read]
        return ComparisonView(
            jobs=[views[job.id] for job in found],
            rows=rows_of(
                [
                    document_now(document, job) if document is not None else None
                    for document, job in zip(documents, found, strict=True)
                ]
            ),
            metrics=metrics_of([results for _, results, _ in read]),
            partial=[job.id for job, (_, _, more) in zip(found, read, strict=True) if more],
            unreadable=[job.id for job, document in zip(found, documents, strict=True) if document is None],
        )

    async def curves(self, refs: Sequence[str], names: Sequence[str], points: int, who: Principal) -> OverlayView:
        """Return the curves of some metrics of these jobs, at most `points` points each. Raises as `jobs`."""
        found = await self._resolved(refs, who)
        return OverlayView(jobs=await asyncio.to_thread(self._overlaid, found, names, points))

    async def code(self, base: str, other: str, who: Principal) -> CodeDiffView:
        """Return what differs between the code of two jobs. Raises as `jobs`."""
        first, second = await self._resolve(base, who), await self._resolve(other, who)
        return await asyncio.to_thread(self._code, first, second)

    async def _resolved(self, refs: Sequence[str], who: Principal) -> list[Job]:
        found = [await self._resolve(ref, who) for ref in refs]
        return [*{job.id: job for job in found}.values()]

    async def _resolve(self, ref: str, who: Principal) -> Job:
        model, at, version = ref.rpartition("@")
        if not at:
            return await self._jobs.resolve(ref, who)
        if not (version.isascii() and version.isdigit() and len(version) < 10):
            raise NotFound(no_such_job(repr(ref)))
        return await self._jobs.resolve(await self._models.job_of(model, int(version), who), who)

    def _read(self, jobs: Sequence[Job]) -> list[Read]:
        deadline = time.monotonic() + PATIENCE_S
        found = []
        for job in jobs:
            spec = self._ctx.specs.fetch_or_none(job.spec_digest)
            found.append((spec, *self._ctx.metrics.results(job, spec, deadline)))
        return found

    def _overlaid(self, jobs: Sequence[Job], names: Sequence[str], points: int) -> list[OverlaidCurves]:
        metrics, specs = self._ctx.metrics, self._ctx.specs
        return [
            OverlaidCurves(
                id=job.id,
                roles=[role.name for role in job.roles],
                series=metrics.overlay(job, specs.fetch_or_none(job.spec_digest), names, points),
            )
            for job in jobs
        ]

    def _code(self, base: Job, other: Job) -> CodeDiffView:
        digests = [self._digest(job) for job in (base, other)]
        folders = [self._ctx.layout.upload(digest) if digest is not None else None for digest in digests]
        gone = [
            job.id
            for job, folder in zip((base, other), folders, strict=True)
            if folder is not None and not os.path.isdir(folder)
        ]
        found = tree_diff(*(folders if not gone and digests[0] != digests[1] else (None, None)))
        return CodeDiffView(
            base=base.id,
            other=other.id,
            base_code=digests[0],
            other_code=digests[1],
            gone=gone,
            files=[
                FileDiff(
                    path=one.path,
                    change=one.change,
                    was=one.was,
                    size=one.size,
                    binary=one.binary,
                    diff=one.diff,
                    cut=one.cut,
                )
                for one in found.files
            ],
            same=found.same,
            left_out=found.left_out,
        )

    def _digest(self, job: Job) -> str | None:
        spec = self._ctx.specs.fetch_or_none(job.spec_digest)
        return spec.code.digest if spec is not None and spec.code is not None else None
