"""What a change of the queue's rules would have done to this platform's own recent jobs, before anybody saves it.

The jobs that ended last are run through the simulator twice, on the machines there are: under the policy, quotas and
weights that hold now (the past does not tell what they were) and under the changed ones. Nothing of the live queue is
read or moved, and one question is answered at a time.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import HistoryView, PolicyEffect, WaitFigures
from trainmaster.core.cluster import VirtualCluster, Workspace
from trainmaster.core.records import Job, Node
from trainmaster.core.states import Shown
from trainmaster.messages.jobs import rules
from trainmaster.queue.policy import DEFAULT, Values, from_values
from trainmaster.service.cluster.quotas import rights_of
from trainmaster.service.context import Context
from trainmaster.service.use_cases.administer import limit_problems, refuse, unknown, workspace_problems
from trainmaster.service.use_cases.queueing import checked_values
from trainmaster.simulate.history import asked_view, from_history
from trainmaster.simulate.metrics import quantile, waits
from trainmaster.simulate.run import SimulationSetting, simulate
from trainmaster.store.jobs.job_query import JobQuery

MOST_JOBS: Final = 2000
"""So many of the latest jobs are simulated: weeks of a busy team, and an answer within seconds."""

POINTS: Final = 41
"""Quantiles of the wait that the chart draws, evenly from 0 to 1."""

ENDED: Final = (Shown.SUCCEEDED, Shown.FAILED, Shown.STOPPED, Shown.EXPIRED)
"""States of jobs that make the past."""


class WhatIf:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._one = asyncio.Lock()

    async def policy(
        self,
        values: Values,
        who: Principal,
        workspaces: Sequence[Workspace] = (),
        virtual_clusters: Sequence[VirtualCluster] = (),
    ) -> PolicyEffect:
        """Return how long the latest jobs would have waited as it is and as changed.

        `values`: knobs of the policy (null: the default); the others, weights and quotas as they are to be. Raises
        Forbidden, InvalidSpec with all problems. Takes seconds; runs in a thread.
        """
        decide(who, "queue:write").demand()
        visible = decide(who, "jobs:read").demand()
        checked_values(values)
        self._check(workspaces, virtual_clusters)
        rights = rights_of(self._ctx.pools)
        present = self._ctx.scheduling.policy
        wanted = {name: getattr(DEFAULT, name) if value is None else value for name, value in values.items()}
        nodes = tuple(replace(node, schedulable=True) for node in self._ctx.pools.nodes)  # cordons do not count
        async with self._one:
            return await asyncio.to_thread(
                self._compare,
                visible,
                nodes,
                SimulationSetting(present, rights=rights),
                SimulationSetting(from_values(wanted, present), rights=rights.but(workspaces, virtual_clusters)),
            )

    def _check(self, workspaces: Sequence[Workspace], virtual_clusters: Sequence[VirtualCluster]) -> None:
        """Raise InvalidSpec unless these are there and what is said of them could be saved."""
        pools = self._ctx.pools
        found = unknown([one.name for one in workspaces], pools.workspaces, "workspaces", rules.unknown_workspace)
        found += unknown(
            [one.name for one in virtual_clusters], pools.virtual_clusters, "virtual_clusters", rules.unknown_pool
        )
        for one in workspaces:
            found += workspace_problems(one, pools.pools, f"workspaces.{one.name}.")
        for share in virtual_clusters:
            found += limit_problems(share.share, f"virtual_clusters.{share.name}.share")
        refuse(found)

    def _compare(
        self, visible: Visible, nodes: Sequence[Node], present: SimulationSetting, changed: SimulationSetting
    ) -> PolicyEffect:
        jobs, left_out = self._past(visible)
        ended = [job.ended_at for job in jobs if job.ended_at is not None]
        return PolicyEffect(
            jobs=len(jobs),
            since=min(ended, default=0.0),
            until=max(ended, default=0.0),
            left_out=left_out,
            now=_figures(jobs, nodes, present),
            changed=_figures(jobs, nodes, changed),
        )

    async def history(self, who: Principal, limit: int, cursor: str | None) -> HistoryView:
        """Return what the jobs that ended and that `who` may see asked for, oldest first, page by page. Raises
        Forbidden.
        """
        visible = decide(who, "jobs:read").demand()
        query = JobQuery(states=ENDED, order="submitted_at")
        page = await asyncio.to_thread(self._ctx.reader.list_jobs, visible, query, limit, cursor)
        return HistoryView(items=[asked_view(job) for job in page.items], next_cursor=page.next_cursor)

    def _past(self, visible: Visible) -> tuple[list[Job], int]:
        """Return the latest of the `visible` jobs that ran to an end, and how many older ones there are."""
        query = JobQuery(states=ENDED, order="-ended_at")
        found = self._ctx.reader.list_jobs(visible, query, MOST_JOBS).items
        counts = self._ctx.reader.counts(visible, query)
        ran = sorted((job for job in found if job.started_at is not None), key=lambda job: (job.submitted_at, job.seq))
        return ran, sum(counts.get(state, 0) for state in ENDED) - len(found)


def _figures(jobs: Sequence[Job], nodes: Sequence[Node], setting: SimulationSetting) -> WaitFigures:
    """Return what waits these jobs have on these machines under these rules."""
    past = from_history(map(asked_view, jobs))
    every = simulate(past, nodes, setting).rows
    rows = [row for row in every if row.done]
    ordered = sorted(row.wait_s for row in rows)
    found = waits(rows)
    return WaitFigures(
        mean_s=found.mean_s,
        median_s=found.p50_s,
        p90_s=found.p90_s,
        max_s=found.max_s,
        waits=[quantile(ordered, at / (POINTS - 1)) for at in range(POINTS)] if ordered else [],
        not_run=len(every) - len(rows),
    )
