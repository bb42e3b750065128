"""Use cases on many jobs: a page of the list, what it can be chosen by, and doing something to all that were chosen.

Invariant: nothing is done to more jobs than whoever chose them was told of.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import FacetValue, JobFacets, JobPage, LabelFacet, OutcomeView, RefusedView
from trainmaster.core.errors import Conflict, InvalidSpec, TrainmasterError, problem_of
from trainmaster.core.states import Shown
from trainmaster.messages.jobs import jobs as said
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.secrets.seals import NotSealedHere
from trainmaster.service.use_cases.finding.marking import Marking
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.store.jobs.facets import Values
from trainmaster.store.jobs.read_jobs import JobQuery

MANY: Final = 1000
"""Jobs of one request; of a filter that matches more, the rest is asked for again."""

COUNTED: Final = 500
"""Of more jobs that match a filter, the newest so many are counted, unless all of them are asked for."""

_PART: Final = "part of many"

_ENDED: Final = (Shown.SUCCEEDED, Shown.FAILED, Shown.STOPPED, Shown.EXPIRED)
_LIVE: Final = tuple(shown for shown in Shown if shown not in _ENDED)
_WHAT: Final = {
    "stop": tuple(one for one in _LIVE if one is not Shown.STOPPING),
    "delete": _ENDED,
    "change": _LIVE,
    "tag": tuple(Shown),
    "share": tuple(Shown),
}
"""Which jobs of a filter each verb is for: the others stay as they are."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Jobs to do something to: `ids`, or all behind `after` (None: all) that match `query`: `expected`, or fewer."""

    ids: tuple[str, ...] = ()
    query: JobQuery | None = None
    expected: int = 0
    after: str | None = None


class Listing:
    """One object per server."""

    def __init__(self, context: Context, jobs: Jobs, marking: Marking) -> None:
        self._ctx, self._jobs, self._marking = context, jobs, marking

    async def page(
        self, query: JobQuery, limit: int, cursor: str | None, who: Principal, exact: bool = False
    ) -> JobPage:
        """Return one page of jobs, counts by state, and the feed position to watch from. `exact`: count all that match
        a filter, however many there are.
        """
        visible = decide(who, "jobs:read").demand()
        seq, now = self._ctx.feed.here(), self._ctx.clock()
        page = await asyncio.to_thread(self._ctx.reader.list_jobs, visible, replace(query, now=now), limit, cursor)
        known = JobQuery(query.states, owner=query.owner, workspace=query.workspace, order=query.order)
        if self._ctx.leads and query == known:
            counts, partial = self._ctx.counts.by_state(visible, query.owner, query.workspace), False
        elif not (cursor or page.next_cursor or query.states):
            counts, partial = Counter(job.shown for job in page.items), False  # these are all
        else:
            counts = await asyncio.to_thread(
                self._ctx.reader.counts, visible, query, *(() if exact else (COUNTED + 1,))
            )
            partial = not exact and sum(counts.values()) > COUNTED
        jobs = [self._ctx.master.live.get(job.id, job) for job in page.items]
        return JobPage(
            items=await self._jobs.views(jobs, who, seq),
            next_cursor=page.next_cursor,
            counts=dict(counts),
            total=sum(number for shown, number in counts.items() if not query.states or shown in query.states),
            partial=partial,
            seq=seq,
            at=now,
        )

    async def facets(self, query: JobQuery, who: Principal) -> JobFacets:
        """Return what the list can be chosen by, with numbers of jobs."""
        visible = decide(who, "jobs:read").demand()
        found = await asyncio.to_thread(self._ctx.reader.facets, visible, query)
        labels = [LabelFacet(key=key, jobs=jobs, values=_values(values)) for key, jobs, values in found.labels]
        return JobFacets(
            owner=_values(found.owner),
            workspace=_values(found.workspace),
            framework=_values(found.framework),
            pool=_values(found.pool),
            node=_values(found.node),
            tags=_values(found.tags),
            algorithm=_values(found.algorithm),
            flavor=_values(found.flavor),
            labels=labels,
            partial=found.partial,
        )

    async def many(self, verb: str, chosen: Chosen, who: Principal, **change: Any) -> OutcomeView:
        """Stop, delete, `change`, tag or share the chosen jobs; each is done or refused for its own reason.

        Raises InvalidSpec for too many ids and a foreign `after`, Conflict when more jobs match a filter than were
        expected.
        """
        act: dict[str, Callable[[str], Coroutine[Any, Any, Any]]] = {
            "stop": lambda ref: self._jobs.stop(ref, who),
            "delete": lambda ref: self._jobs.delete(ref, who),
            "change": lambda ref: self._jobs.change(ref, who, **change),
            "tag": lambda ref: self._marking.tag(ref, who, **change),
            "share": lambda ref: self._jobs.share(ref, who, **change),
        }
        if chosen.query is None:
            if len(chosen.ids) > MANY:
                problem = problem_of("ids", said.too_many_ids(MANY))
                raise InvalidSpec(said.too_many_jobs_at_once(MANY), problems=(problem,))
            return await _each(act[verb], chosen.ids)
        visible, query, of = decide(who, "jobs:read").demand(), chosen.query, _WHAT[verb]
        reader, behind = self._ctx.reader, self._number(chosen.after)
        if self._ctx.leads:
            await self._ctx.master.durable()  # what was just submitted is counted
        found, first = await asyncio.to_thread(reader.matching, visible, query, of, behind, MANY + 1)
        if found > chosen.expected:
            raise Conflict(said.more_than_expected(found, chosen.expected))
        now, more = first[:MANY], len(first) > MANY
        outcome = await _each(act[verb], [id_ for _, id_ in now])
        if not more:
            return outcome
        left, _ = await asyncio.to_thread(reader.matching, visible, query, of, now[-1][0], 0)
        after = self._ctx.seals.text_mark(_PART, str(now[-1][0]))
        return OutcomeView(done=outcome.done, refused=outcome.refused, left=left, after=after)

    def _number(self, after: str | None) -> int:
        """Return behind which job the next part begins. Raises InvalidSpec."""
        try:
            return 0 if after is None else int(self._ctx.seals.text(_PART, after))
        except NotSealedHere:
            problem = problem_of("after", said.not_an_after())
            raise InvalidSpec(said.part_of_nothing(), problems=(problem,)) from None


async def _each(act: Callable[[str], Coroutine[Any, Any, Any]], refs: list[str] | tuple[str, ...]) -> OutcomeView:
    results = await asyncio.gather(*map(act, refs), return_exceptions=True)
    done: list[str] = []
    refused: list[RefusedView] = []
    for ref, result in zip(refs, results, strict=True):
        if isinstance(result, TrainmasterError):
            refused.append(RefusedView(id=ref, title=both(result.said), kind=result.kind, code=result.code))
        elif isinstance(result, BaseException):
            raise result
        else:
            done.append(ref)
    return OutcomeView(done=done, refused=refused)


def _values(found: Values) -> list[FacetValue]:
    return [FacetValue(value=value, jobs=jobs) for value, jobs in found]
