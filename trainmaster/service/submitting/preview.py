"""The dry run (R41, B8): what would happen to a request, with everything that is wrong with it, changing nothing."""

from typing import Final

import msgspec

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import Fits, NativeView, Placed, PreviewView
from trainmaster.core.errors import InvalidSpec, Problem, problem_from
from trainmaster.core.ids import task_name
from trainmaster.core.launch import RolePreview
from trainmaster.core.records import Assignment, Job, unplaced
from trainmaster.engines.base import NativeRequest
from trainmaster.queue.snapshot import Start
from trainmaster.service.context import Context
from trainmaster.service.control.launching import mounts
from trainmaster.service.language import Language, problems_in
from trainmaster.service.scheduling.reasons import view_judged
from trainmaster.service.submitting.candidate import read, warned
from trainmaster.service.submitting.choosing_pool import with_pool_chosen
from trainmaster.service.submitting.estimates import Outlook, gang_of, with_engine
from trainmaster.service.submitting.reading import written
from trainmaster.service.submitting.replacing import original, split
from trainmaster.spec.document import Document, Given
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import rehearse

FEW: Final = 16
"""Replicas whose commands are written at once; those of more, which takes longer, by a clerk."""
NEVER: Final = Fits(when="never", reason=None, forecast=None, placement=[])


class Preview:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context

    async def preview(self, body: Given, who: Principal, language: Language = "en") -> PreviewView:
        """Return what a submit would find and do; problems are part of it, not an error, and told in `language`."""
        visible = decide(who, "jobs:read").demand()
        submission, ref, _ = split(body)
        found = original(self._ctx, ref, who)
        first, not_waiting = (None, [found]) if isinstance(found, Problem) else (found, [])
        try:
            candidate = await read(self._ctx, submission, who)
            candidate, job = await with_pool_chosen(self._ctx, candidate, who, first)
        except InvalidSpec as error:
            return _unread(language, error.problems or (problem_from("", error),))
        spec = candidate.spec
        admission = self._ctx.admission
        outside = await admission.outside_problems(spec, who, code_follows=candidate.code_follows)
        candidate = await warned(self._ctx, candidate, who)
        problems = (*not_waiting, *admission.problems(job, who, first), *outside, *candidate.refused)
        never = self._ctx.admission.never_fits(job)
        if never is not None:
            problems += never.problems
        fits = NEVER
        placement: tuple[Assignment, ...] | None = None
        native: NativeRequest | None = None
        if not problems:
            ours, placement, places = self._fits(job, visible, first)
            outlook, refused = await with_engine(self._ctx, job, spec, ours)
            fits, problems = Fits(**outlook._asdict(), placement=places), () if refused is None else (refused,)
            native = self._native(job, spec, placement)
        warnings = candidate.warnings + (() if native is None else native.warnings)
        document, roles = await self._written(job, spec, placement, who)
        return PreviewView(
            ok=not problems,
            problems=problems_in(language, problems),
            warnings=problems_in(language, warnings),
            spec=document,
            fits=fits,
            roles=roles,
            native=_native_view(native),
        )

    async def _written(
        self, job: Job, spec: JobSpec, placement: tuple[Assignment, ...] | None, who: Principal
    ) -> tuple[Document, list[RolePreview]]:
        """Return the parts of the answer that are as large as the job."""
        given = job, spec, placement, mounts(spec, self._ctx.layout, self._ctx.versions), self._ctx.clock()
        few = sum(role.replicas for role in spec.roles) <= FEW
        return written(*given) if few else await self._ctx.clerks.do(who.name, written, *given)

    def _native(self, job: Job, spec: JobSpec, placement: tuple[Assignment, ...] | None) -> NativeRequest:
        """Return what the engine would be asked; one that chooses places itself is given none."""
        engine = self._ctx.engines.of(job.pool)
        given = unplaced(job.roles) if engine.owns_queue else placement or rehearse(job.roles)
        return engine.prepare(gang_of(self._ctx, job, spec, given))

    def _fits(
        self, job: Job, visible: Visible, instead_of: Job | None
    ) -> tuple[Outlook, tuple[Assignment, ...] | None, list[Placed]]:
        """Return (outlook, placement, the same as shown): where it would run now, or on an empty cluster when it would
        have to wait.

        Commands of a job whose engine will choose are shown on a placement as it could be.
        """
        scheduling = self._ctx.scheduling
        judged = scheduling.would_start(job, instead_of)
        if isinstance(judged.found, Start):
            shown = [
                Placed(task=task_name(a.role, a.index), node=a.node, gpus=list(a.gpus))
                for a in judged.found.placement
                if a.node
            ]
            placement = judged.found.placement if shown else None
            return Outlook("now"), placement, shown
        reason = view_judged(judged, self._ctx.names_for(visible))
        return Outlook("queue", reason), scheduling.imagined(job), []


def _native_view(native: NativeRequest | None) -> NativeView | None:
    return None if native is None else NativeView(kind=native.kind, document=msgspec.to_builtins(native.document))


def _unread(language: Language, problems: tuple[Problem, ...]) -> PreviewView:
    """Return the preview of a document that cannot be read."""
    found = problems_in(language, problems)
    return PreviewView(ok=False, problems=found, warnings=[], spec=None, fits=NEVER, roles=[], native=None)
