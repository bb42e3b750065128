"""What Slurm foresees for a job that is not submitted: ``sbatch --test-only``, as the port says it.

Each question takes a number of the cluster's jobs, and its controller 10 ms or more: the same one is asked once in
FRESH_S. What Slurm does not foresee is said and not guessed (22.05, measured): of a heterogeneous job it judges each
component as if it were alone, a partition that is down is as good as any to it, and nodes out of service do not exist
for it.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trainmaster.engines.base import Refused, Waiting
from trainmaster.engines.slurm.client import parse, states
from trainmaster.engines.slurm.client.commands import ClusterRefused, Commands
from trainmaster.engines.slurm.client.machines import Machines
from trainmaster.engines.slurm.messages import slurm
from trainmaster.messages import render
from trainmaster.messages.said import Said

FRESH_S: Final = 5.0
"""How old an answer may be."""
NOT_THERE: Final = ("node configuration is not available", "Requested nodes are busy", "node not available")
"""What Slurm says when no node in service can run it; those out of service it leaves aside."""

Answer = Waiting | Refused


class ClusterEstimates:
    """The foreseen of one cluster."""

    def __init__(self, commands: Commands, machines: Machines) -> None:
        self._commands, self._machines = commands, machines
        self._answers: dict[tuple[str, str], Answer] = {}  # by script and system user

    async def of(self, attempt: str, pool: str, text: str, components: int, user: str = "") -> Answer:
        """Return what would become of the batch script `text` of `user`, which has so many components.

        Raises ClusterDown, ValueError.
        """
        now = time.time()
        self._answers = {asked: one for asked, one in self._answers.items() if now - one.at < FRESH_S}
        answer = self._answers.get((text, user))
        if answer is None:
            answer = self._answers[text, user] = await self._ask(attempt, pool, text, components, user)
        return replace(answer, attempt=attempt)

    async def _ask(self, attempt: str, pool: str, text: str, components: int, user: str) -> Answer:
        try:
            told = await self._commands.test(given=text, user=user)
        except ClusterRefused as error:
            return self._refused(attempt, pool, error.said)
        await self._machines.read_partitions()
        now, partition = time.time(), self._machines.limits(pool)
        if partition is not None and not partition.up:
            return Waiting(attempt, "PartitionDown", states.reason("PartitionDown"), now)
        if components > 1:
            return Waiting(attempt, "Heterogeneous", slurm.no_start_foreseen_of_parts(), now)
        return _foreseen(attempt, parse.estimate(told), now)

    def _refused(self, attempt: str, pool: str, said: Said) -> Answer:
        """A refusal that may be owed to nodes which are out of service now is none: the job would wait for them."""
        away: Sequence[str] = [node.name for node in self._machines.of(pool) if self._machines.out_of_service(node)]
        told = render.text(said)
        if away and any(words in told for words in NOT_THERE):
            return Waiting(attempt, "ReqNodeNotAvail", slurm.no_node_in_service(), time.time())
        return Refused(attempt, "launch_failed", said, time.time())


def _foreseen(attempt: str, found: parse.Estimate | None, now: float) -> Waiting:
    if found is None:
        return Waiting(attempt, "None", slurm.no_start_foreseen(), now)
    code, why = "Resources", slurm.would_wait_in_slurm()
    if found.preempts:
        code, why = "Preempts", slurm.would_make_room(found.preempts)
    return Waiting(attempt, code, why, now, found.start, nodes=found.nodes)
