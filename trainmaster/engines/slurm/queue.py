"""What Slurm's queue says of our jobs: one question for all, asked again as often as somebody wants to know, never twice at once.

``squeue`` tells of the jobs that wait or run. Those that it no longer tells of are asked about by their ids, once: so what it
costs does not grow with the jobs that have ended. Invariant: an answer is given only for what Slurm has really answered.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from trainmaster.engines.slurm import parse
from trainmaster.engines.slurm.commands import ClusterRefused, Commands
from trainmaster.engines.slurm.parse import JobLine

AT_ONCE: Final = 200
"""Ids in one question."""
UNKNOWN: Final = "Invalid job id"
"""What squeue says when it is asked about one job that Slurm does not know (any more)."""

Lines = tuple[JobLine, ...]
"""What is said of one job: one line, or one for each of its components."""


class Queue:
    """The queue of one cluster, as one system user sees it."""

    def __init__(self, commands: Commands, user: str) -> None:
        self._commands, self._user = commands, user
        self._asking: asyncio.Task[dict[int, JobLine]] | None = None

    async def look(self, wanted: Mapping[int, int]) -> Mapping[int, Lines]:
        """Return what Slurm says of these jobs, by id (a heterogeneous job's: that of its first component).

        `wanted`: how many components each has; their ids follow each other. Nothing is said of what Slurm does not know.
        Raises ClusterDown, ClusterRefused, ValueError.
        """
        there = await self._present()
        missing = [first for first, count in wanted.items() if any(first + at not in there for at in range(count))]
        for at in range(0, len(missing), AT_ONCE):
            there = {**there, **await self._of(missing[at : at + AT_ONCE])}
        return {
            first: tuple(there[first + at] for at in range(count) if first + at in there)
            for first, count in wanted.items()
        }

    async def named(self, name: str) -> Lines:
        """Return the jobs of this name, also those that have ended of late. Raises ClusterDown, ClusterRefused, ValueError."""
        text = await self._commands.run("squeue", "-h", "-t", "all", "-o", parse.JOB_FORMAT, f"--name={name}")
        return tuple(sorted(parse.jobs(text), key=lambda line: line.id))

    async def _present(self) -> dict[int, JobLine]:
        """Return all that wait or run, by id. Who asks while somebody else does gets the answer to a question asked after."""
        if self._asking is not None:
            await asyncio.wait({self._asking})
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> dict[int, JobLine]:
        text = await self._commands.run("squeue", "-h", "-o", parse.JOB_FORMAT, f"--user={self._user}")
        return {line.id: line for line in parse.jobs(text)}

    async def _of(self, numbers: list[int]) -> dict[int, JobLine]:
        """Return what is known of these jobs, whatever their state."""
        ids = ",".join(map(str, numbers))
        try:
            text = await self._commands.run("squeue", "-h", "-t", "all", "-o", parse.JOB_FORMAT, f"--jobs={ids}")
        except ClusterRefused as error:
            if UNKNOWN in error.message:
                return {}
            raise
        return {line.id: line for line in parse.jobs(text)}
