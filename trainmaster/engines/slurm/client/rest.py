"""slurmrestd as a source of the same records that the client programs print: openapi v0.0.38, which Slurm 22.05 to
23.11 speak.

Only reading. The token, where one is needed, is read from its file before every question, so that it may be renewed
there, and goes into a header. Invariant: a cluster that does not answer (`ClusterDown`) is never mistaken for one that
says no (`ClusterRefused`).
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx

from trainmaster.core.formats.hostlist import expand
from trainmaster.engines.slurm.client import parse, states
from trainmaster.engines.slurm.client.commands import TIMEOUT_S, ClusterDown, Commands, failure
from trainmaster.engines.slurm.client.parse import JobId, JobLine, NodeLine, Partition, SlurmReservation
from trainmaster.engines.slurm.client.reading import Printed, Reading
from trainmaster.engines.slurm.messages import slurm
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.engines.slurm.wrong import Wrong

T = TypeVar("T")

PREFIX: Final = "/slurm/v0.0.38/"
SOCKET: Final = "unix:"
MOST: Final = 128 << 20
"""Bytes of one answer."""


def reading(own: SlurmEngineConfig, commands: Commands, service: str) -> Reading:
    """Return the way to read a cluster that is configured. `service`: the name of the server's own system user."""
    return Served(own.rest, own.rest_token, service) if own.rest else Printed(commands)


class Served:
    """What one slurmrestd serves. `place`: ``unix:/its/socket`` or ``https://host:port``; `token`: the file of a token,
    "": none needed.
    """

    def __init__(self, place: str, token: str, user: str) -> None:
        self._token, self._user = token, user
        socket = place.removeprefix(SOCKET) if place.startswith(SOCKET) else None
        self._http = httpx.AsyncClient(
            base_url="http://localhost" if socket else place,
            transport=httpx.AsyncHTTPTransport(uds=socket),
            timeout=TIMEOUT_S,
            trust_env=False,
        )

    async def present(self, users: Sequence[str]) -> list[JobLine]:
        """Return all of ours: v0.0.38 serves jobs with all that have ended of late, or one by one."""
        return await self._jobs(users)

    async def some(self, numbers: Sequence[int]) -> list[JobLine]:
        """Return those that are known."""
        wanted = set(numbers)
        return [job for job in await self._jobs() if job.id.number in wanted]

    async def find_named(self, name: str, user: str = "") -> list[JobLine]:
        """Return those of this name."""
        return [job for job in await self._jobs([user] if user else ()) if job.name == name]

    async def _jobs(self, users: Sequence[str] = ()) -> list[JobLine]:
        """Return those of these users, of anybody where none is named."""
        found = await self._records(
            "jobs", lambda item: jobs_of(item) if not users or item["user_name"] in users else []
        )
        return [job for jobs in found for job in jobs]

    async def nodes(self) -> list[NodeLine]:
        """Return all nodes."""
        return await self._records("nodes", node_of)

    async def partitions(self) -> list[Partition]:
        """Return all partitions."""
        return await self._records("partitions", partition_of)

    async def reservations(self) -> list[SlurmReservation]:
        """Return all reservations."""
        return await self._records("reservations", reservation_of)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _records(self, what: str, read: Callable[[dict[str, Any]], T]) -> list[T]:
        try:
            return [read(item) for item in await self._ask(what)]
        except (KeyError, TypeError, AttributeError) as error:
            raise Wrong(slurm.slurmrestd_of_another_version(what, repr(error))) from error

    async def _ask(self, what: str) -> list[dict[str, Any]]:
        headers = await asyncio.to_thread(self._identity)
        try:
            status, body = await self._get(PREFIX + what, headers)
            document = await asyncio.to_thread(json.loads, body) if status == 200 else {}
        except (httpx.HTTPError, ValueError) as error:
            raise ClusterDown(slurm.slurmrestd_silent(f"{type(error).__name__} {error}")) from error
        if status != 200:
            raise _refused(status)
        said = [str(one.get("error") or one.get("description")) for one in document.get("errors", ())]
        if said:
            raise failure("slurmrestd", 1, "\n".join(said))
        try:
            return list(document[what])
        except KeyError as error:
            raise Wrong(slurm.slurmrestd_left_out(what)) from error

    async def _get(self, path: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Return status and body. Raises ClusterDown for a body that is larger than any of these."""
        async with self._http.stream("GET", path, headers=headers) as answer:
            body = bytearray()
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > MOST:
                    raise ClusterDown(slurm.slurmrestd_answer_too_large(MOST >> 20))
            return answer.status_code, bytes(body)

    def _identity(self) -> dict[str, str]:
        """Return who asks. Raises ClusterDown when the token cannot be read."""
        if not self._token:
            return {}
        try:
            token = Path(self._token).read_text(encoding="utf-8").strip()
        except OSError as error:
            why = error.strerror or str(error)
            raise ClusterDown(slurm.slurmrestd_token_unreadable(why, self._token)) from error
        return {"X-SLURM-USER-NAME": self._user, "X-SLURM-USER-TOKEN": token}


def _refused(status: int) -> ClusterDown:
    if status in (401, 403):
        return ClusterDown(slurm.slurmrestd_lets_nobody_in())
    if status == 404:
        return ClusterDown(slurm.slurmrestd_without_openapi())
    return ClusterDown(slurm.slurmrestd_status(status))


# ------------------------------------------------------------------------------------------------------------- records


def jobs_of(item: Mapping[str, Any]) -> list[JobLine]:
    """Return one job of ours, none for another. Elements of an array that wait are told as one. Raises ValueError.

    Where a waiting one is expected to start v0.0.38 does not say.
    """
    name = parse.name_of(str(item["name"]))
    if name is None:
        return []
    return [
        JobLine(
            name=name,
            id=place,
            own=int(item["job_id"]),
            state=states.read(item["job_state"]),
            start=_time(item["start_time"]),
            nodes=parse.hosts(item["nodes"]),
            expected_nodes=(),
            reason=item["state_reason"],
        )
        for place in _places(item)
    ]


def _places(item: Mapping[str, Any]) -> list[JobId]:
    array, element, waiting = int(item["array_job_id"] or 0), item["array_task_id"], item["array_task_string"]
    if not array:
        return [JobId(int(item["job_id"]))]
    if waiting:
        return [JobId(array, int(name[1:])) for name in expand(f"e[{waiting}]")]
    return [JobId(array, None if element is None else int(element))]  # element None: all that waited were cancelled


def node_of(item: Mapping[str, Any]) -> NodeLine:
    """Return one node."""
    return NodeLine(
        name=item["name"],
        address=item["address"],
        cpus=int(item["cpus"]),
        memory_mib=int(item["real_memory"]),
        cards=parse.cards(item["gres"]),
        features=parse.split_list(item["features"]),
        partitions=tuple(item["partitions"]),
        states=(item["state"].upper(), *item["state_flags"]),
        reason=item["reason"],
        kernel=item["operating_system"],
        version=item["slurmd_version"],
    )


def partition_of(item: Mapping[str, Any]) -> Partition:
    """Return one partition."""
    minutes = _most(item["max_time_limit"])
    return Partition(
        name=item["name"],
        nodes=parse.hosts(item["nodes"]),
        default="default" in item["flags"],
        up=item["state"] == "UP",
        limit_s=None if minutes is None else minutes * 60.0,
        most_mib=_most(item["maximum_memory_per_node"]),
        groups=parse.split_list(item["allowed_groups"]),
        hidden="hidden" in item["flags"],
    )


def reservation_of(item: Mapping[str, Any]) -> SlurmReservation:
    """Return one reservation; whether it is active is not told but follows from its times."""
    start, end = float(item["start_time"]), float(item["end_time"])
    return SlurmReservation(item["name"], parse.hosts(item["node_list"]), start, end)


def _time(seconds: int) -> float | None:
    return float(seconds) if seconds > 0 else None


def _most(number: int | None) -> int | None:
    """Return a limit; none is told as -1 or as nothing."""
    return None if number is None or number < 0 else int(number)
