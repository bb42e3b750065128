"""From what a job asks to what is asked of the cluster: the terms of its batch job, and what speaks against it. Pure.

Slurm takes in a job that asks for more time or memory than its partition allows, foresees a start for it and then lets
it wait for ever (22.05, measured). So these limits are held against a job here, before anything is submitted. Whatever
else a cluster has not, sbatch refuses by itself.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from trainmaster.agent.folder import StepWork
from trainmaster.agent.settings import Settings
from trainmaster.core.config import LimitsConfig
from trainmaster.core.errors import Problem
from trainmaster.core.launch import Asked, Gang
from trainmaster.core.records import Role
from trainmaster.core.states import Priority
from trainmaster.engines.slurm.client.machines import Machines
from trainmaster.engines.slurm.client.parse import Partition
from trainmaster.engines.slurm.messages import slurm, slurm_rules
from trainmaster.engines.slurm.script import Terms, components, duration
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.said import Said
from trainmaster.spec.problems import problem

SPARE_S: Final = 120.0
"""How much later than ours Slurm's limit comes: its clock counts minutes, and our own end is the orderly one."""


class Asking:
    """What is asked of one cluster, as its administrators configured it here and as its machines were read last."""

    def __init__(self, own: SlurmEngineConfig, limits: LimitsConfig, machines: Machines) -> None:
        self._own, self._limits, self._machines = own, limits, machines

    def work(self, gang: Gang, data: str, package: str) -> StepWork:
        """Return what the agents have to know. `data`: the shared folder; `package`: where our code lies on it."""
        limits, own = self._limits, self._own
        settings = Settings(
            cgroups=False,
            environment=own.environment,
            package=package,
            log_mib=limits.log_mib,
            disk_mib=limits.disk_mib,
            inodes=limits.inodes,
            disk_share=limits.disk_share,
            processes=limits.processes,
            sample_s=limits.sample_s,
        )
        grace_s = gang.asked.grace_s if gang.asked is not None else 10.0
        parts, asks = components(gang.roles), replace(gang, placement=())
        return StepWork(asks, settings, data, parts, self._machines.addresses, own.sandbox, grace_s)

    def terms(self, asked: Asked) -> Terms:
        """Return what is asked beside the resources."""
        driver = () if asked.driver is None else (f"{self._own.driver_feature}{asked.driver}",)
        return Terms(
            partition=self._machines.partition(asked.pool),
            limit_s=self.limit_s(asked),
            grace_s=asked.grace_s,
            features=(*self._own.features, *driver),
            exclude=self._machines.others(asked.pool, asked.nodes),
            reservation=self._own.reservation,
            account=self._own.account,
            qos=self._own.qos,
            nice=self._nice(asked),
            cards=self._machines.cards(asked.pool),
        )

    def changes(self, asked: Asked) -> list[tuple[str, str, Callable[[Said], Said]]]:
        """Return what may change of a job in Slurm's queue, as scontrol takes it; and what is said where it is refused,
        the code of the note and what says why: only operators of a cluster may raise a limit or let a job stand higher.
        """
        limit = (f"TimeLimit={duration(self.limit_s(asked))}", "limit_kept", slurm.time_limit_kept)
        place = (f"Nice={self._nice(asked)}", "place_kept", slurm.place_in_order_kept)
        return [limit, place] if self._own.nice else [limit]

    def _nice(self, asked: Asked) -> int:
        return self._own.nice * (Priority.VERY_URGENT - asked.priority) // Priority.VERY_URGENT

    def limit_s(self, asked: Asked) -> float:
        """Return when Slurm is to end a job, seconds from its start: later than we do, but no later than its partition
        allows.

        Infinite: never. A partition's default time is for those who name none; who wants no limit gets the longest that
        there is.
        """
        fetching = self._own.fetch_s if self._own.scratch else 0.0
        wanted = math.inf if asked.limit_s is None else asked.limit_s + asked.grace_s + SPARE_S + 2 * fetching
        partition = self._machines.limits(asked.pool)
        most = partition.limit_s if partition is not None else None
        return wanted if most is None else min(wanted, most)

    def objections(self, roles: Sequence[Role], asked: Asked) -> tuple[Problem, ...]:
        """Return what speaks against running `roles` so. Nothing while the cluster has not told us of its
        partitions.
        """
        found = [
            problem(f"roles.{at}.resources.gpu_share", slurm_rules.whole_cards())
            for at, role in enumerate(roles)
            if role.resources.gpu and role.resources.gpu_milli < 1000
        ]
        partition = self._machines.limits(asked.pool)
        if partition is not None:
            found += _over(partition, roles, asked)
        elif self._machines.known:
            found.append(problem("pool", slurm_rules.no_partition(self._machines.partition(asked.pool))))
        return tuple(found)


def _over(partition: Partition, roles: Sequence[Role], asked: Asked) -> Iterator[Problem]:
    """Yield where a job asks for more than its partition gives to one."""
    if partition.limit_s is not None and asked.limit_s is not None and asked.limit_s > partition.limit_s:
        yield problem("duration", slurm_rules.partition_time(partition.name, partition.limit_s), asked.limit_s)
    for at, role in enumerate(roles):
        if partition.most_mib is not None and role.resources.memory_mib > partition.most_mib:
            where = f"roles.{at}.resources.memory"
            yield problem(where, slurm_rules.partition_memory(partition.name, partition.most_mib))
