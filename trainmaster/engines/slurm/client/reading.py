"""What is read of a cluster over and over - jobs, nodes, partitions, reservations - as records, wherever they come
from.

Two ways: what Slurm's client programs print (`Printed`), and slurmrestd (`rest.Served`). Both give the same records for
the same cluster, which a test compares field by field on a real one.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from trainmaster.engines.slurm.client import parse
from trainmaster.engines.slurm.client.commands import ClusterRefused, Commands
from trainmaster.engines.slurm.client.parse import JobLine, NodeLine, Partition, SlurmReservation

UNKNOWN: Final = "Invalid job id"
"""What squeue says when it is asked about one job that Slurm does not know (any more)."""


class Reading(Protocol):
    """One cluster as it can be read. Every method raises ClusterDown, ClusterRefused or ValueError for what is not
    understood.
    """

    async def present(self, users: Sequence[str]) -> list[JobLine]:
        """Return our jobs of these system users that wait or run; also others of ours where leaving them out costs
        more.
        """
        ...

    async def some(self, numbers: Sequence[int]) -> list[JobLine]:
        """Return those of these jobs that are known, whatever their state; all components of each, or all elements."""
        ...

    async def find_named(self, name: str, user: str = "") -> list[JobLine]:
        """Return the jobs of one attempt, or of one array, also those that have ended of late. `user`: only those of
        that system user.
        """
        ...

    async def nodes(self) -> list[NodeLine]:
        """Return all nodes."""
        ...

    async def partitions(self) -> list[Partition]:
        """Return all partitions."""
        ...

    async def reservations(self) -> list[SlurmReservation]:
        """Return all reservations, present and future."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Printed:
    """What the client programs print."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    async def present(self, users: Sequence[str]) -> list[JobLine]:
        """Return exactly those that wait or run: what it costs does not grow with the jobs that have ended."""
        return await self._jobs(f"--user={','.join(users)}")

    async def some(self, numbers: Sequence[int]) -> list[JobLine]:
        """Return those that are known; squeue knows all or says that it does not know the only one."""
        try:
            return await self._jobs("-t", "all", f"--jobs={','.join(map(str, numbers))}")
        except ClusterRefused as error:
            if UNKNOWN in error.message:
                return []
            raise

    async def find_named(self, name: str, user: str = "") -> list[JobLine]:
        """Return those of this name."""
        return await self._jobs("-t", "all", f"--name=tm-{name}", *([f"--user={user}"] if user else []))

    async def _jobs(self, *which: str) -> list[JobLine]:
        """-a: also in partitions that are hidden, or whose groups leave out this user by now."""
        return parse.jobs(await self._commands.run("squeue", "-h", "-a", "-r", *which, "-o", parse.JOB_FORMAT))

    async def nodes(self) -> list[NodeLine]:
        """Return all nodes."""
        return parse.nodes(await self._commands.run("scontrol", "show", "node", "-o"))

    async def partitions(self) -> list[Partition]:
        """Return all partitions."""
        return parse.partitions(await self._commands.run("scontrol", "show", "partition", "-o"))

    async def reservations(self) -> list[SlurmReservation]:
        """Return all reservations."""
        return parse.reservations(await self._commands.run("scontrol", "show", "reservation", "-o"))

    async def close(self) -> None:
        """Do nothing: a program that has answered is gone."""
