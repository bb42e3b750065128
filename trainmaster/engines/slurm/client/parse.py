"""What Slurm's programs print, as records: jobs, nodes, partitions, reservations, estimates. Pure.

Every format is asked for by name and read by name. A line that cannot be read raises ValueError with the line: it is
reported, never passed over. Nothing that users can write is asked for but the names of jobs, cut to the length of ours:
so no name can hold a whole line that reads like one about a job of ours. What an administrator wrote comes last in its
line, and nothing is read from it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from trainmaster.core.formats.hostlist import expand
from trainmaster.engines.slurm.client import states
from trainmaster.engines.slurm.client.states import JobStateSeen
from trainmaster.engines.slurm.script import ARRAY, ATTEMPT

JOB_FORMAT: Final = "%43j|%F|%K|%A|%T|%S|%N|%Y|%r"
"""What squeue is asked for: name, id, place in its array, own number, state, start, nodes, expected nodes, reason.
Whose job it is only both name and id say: a controller that was killed before it had saved its state gives the same ids
again.

10 ms with 600 ended jobs in the controller's memory, against 225 ms of ``--json``; the letters are the same since
version 14.
"""

_NAME: Final = re.compile(f"tm-({ATTEMPT.pattern}|{ARRAY.pattern})")
"""What a job of ours is called: as its attempt, or as the array of several. Others may call theirs what they like, with
the marks between our fields."""
_WIDTH: Final = 43
"""Characters of a name that squeue is asked for: those of our longest, filled up with blanks."""

NOTHING: Final = ("", "(null)", "N/A", "None", "none", "Unknown", "NONE", "n/a", "None assigned")


class JobId(NamedTuple):
    """Slurm's id of a job, of one component of a heterogeneous job, or of one element of an array: ``12`` or
    ``12_3``.
    """

    number: int
    element: int | None = None

    def __str__(self) -> str:
        return str(self.number) if self.element is None else f"{self.number}_{self.element}"


Known = tuple[str, tuple[JobId, ...]]
"""What a job is called, and its id: one, or those of its components."""


@dataclass(frozen=True, slots=True)
class JobLine:
    """One job of ours, one component of a heterogeneous job, or one element of an array. Times in epoch seconds, None:
    not known.

    `name`: that of its attempt, or of the array. `own`: its number, also where it is an element; of those that wait it
    is the array's. `start`: also an expected one. `told`: Slurm said so; False: it is what follows if the element has
    waited until now.
    """

    name: str
    id: JobId
    own: int
    state: JobStateSeen
    start: float | None
    nodes: tuple[str, ...]
    expected_nodes: tuple[str, ...]
    reason: str
    told: bool = True


@dataclass(frozen=True, slots=True)
class NodeCards:
    """Cards of one type on one node. `type` "": the site names none. `indices` empty: not told."""

    type: str
    count: int
    indices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One node as Slurm has it. `states`: its state and the flags of it; `reason`: what its administrator wrote."""

    name: str
    address: str
    cpus: int
    memory_mib: int
    cards: tuple[NodeCards, ...]
    features: tuple[str, ...]
    partitions: tuple[str, ...]
    states: tuple[str, ...]
    reason: str
    kernel: str
    version: str

    @property
    def usable(self) -> bool:
        """Whether it may start jobs now, reservations aside."""
        return states.NOT_USABLE.keys().isdisjoint(self.states)


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition: to us a pool. `limit_s` None: jobs may run for ever. `most_mib`: memory of one job on one node,
    None: as much as there is. `groups` empty: everybody may use it.
    """

    name: str
    nodes: tuple[str, ...]
    default: bool
    up: bool
    limit_s: float | None
    most_mib: int | None
    groups: tuple[str, ...]
    hidden: bool


@dataclass(frozen=True, slots=True)
class SlurmReservation:
    """Nodes kept for some people from `start` to `end`, epoch seconds."""

    name: str
    nodes: tuple[str, ...]
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What ``sbatch --test-only`` foresees. `start` in epoch seconds; `preempts`: how many jobs would have to make
    room.
    """

    start: float
    nodes: tuple[str, ...]
    preempts: int = 0


# ----------------------------------------------------------------------------------------------------------------- jobs


def jobs(text: str) -> list[JobLine]:
    """Return those of our jobs in ``squeue -h -t all -o JOB_FORMAT``. Raises ValueError. O(lines)."""
    found = ((_NAME.fullmatch(line[:_WIDTH].rstrip(" ")), line[_WIDTH:]) for line in text.splitlines())
    return [_job(match[1], rest[1:]) for match, rest in found if match is not None and rest.startswith("|")]


def _job(name: str, line: str) -> JobLine:
    fields = line.split("|", 7)
    if len(fields) != 8:
        raise ValueError(f"squeue: {line[:200]!r}")
    number, element, own, state, start, nodes, expected, why = fields
    place = JobId(int(number), None if element == "N/A" else int(element))
    return JobLine(name, place, int(own), states.read(state), _time(start), hosts(nodes), hosts(expected), why)


def _time(text: str) -> float | None:
    if text in NOTHING:
        return None
    return float(text)


def hosts(text: str) -> tuple[str, ...]:
    """Return the names of a list of hosts, none of one that says so. Raises ValueError."""
    return () if text in NOTHING else tuple(expand(text))


# ---------------------------------------------------------------------------------------------------------------- nodes

_KEY: Final = re.compile(r"(?:^| )([A-Z][A-Za-z]*(?:[:/][A-Za-z:]+)?)=")
_CARDS: Final = re.compile(
    r"gpu(?::([^:(\s]*[^:(\s\d][^:(\s]*))?(?::(\d+))?(?:\([^)]*IDX:([\d,-]+|N/A)[^)]*\)|\([^)]*\))*"
)


def pairs(line: str) -> dict[str, str]:
    """Return the ``Key=Value`` of one line of ``scontrol show ... -o``. A value may have blanks; of two equal keys the
    first counts.

    The reason, which a person wrote, is the last one, and nothing in it is read.
    """
    line, mark, why = line.partition(" Reason=")
    found: dict[str, str] = {}
    marks = list(_KEY.finditer(line))
    for at, match in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(line)
        found.setdefault(match[1], line[match.end() : end].strip())
    if mark:
        found["Reason"] = why.strip()
    return found


def nodes(text: str) -> list[NodeLine]:
    """Return the nodes of ``scontrol show node -o``. Raises ValueError. O(lines)."""
    return _parse_records("node", text, _node)


Record = TypeVar("Record")


def _parse_records(what: str, text: str, read: Callable[[dict[str, str]], Record]) -> list[Record]:
    """Return one record for each line of ``scontrol show {what} -o``; where there are none it says so in a line of
    words.
    """
    found = []
    for line in text.splitlines():
        if line.lower().startswith(f"{what}name="):
            try:
                found.append(read(pairs(line)))
            except (KeyError, ValueError) as error:
                raise ValueError(f"scontrol show {what}: {line[:200]!r}: {error!r}") from error
    return found


def _node(found: dict[str, str]) -> NodeLine:
    flags = _flags(found["State"])
    return NodeLine(
        name=found["NodeName"],
        address=found.get("NodeAddr", found["NodeName"]),
        cpus=int(found.get("CPUEfctv", found["CPUTot"])),
        memory_mib=int(found["RealMemory"]) - int(found.get("MemSpecLimit", 0)),
        cards=cards(found.get("Gres", "")),
        features=split_list(found.get("AvailableFeatures", "")),
        partitions=split_list(found.get("Partitions", "")),
        states=flags,
        reason=found.get("Reason", ""),
        kernel=found.get("OS", ""),
        version=found.get("Version", ""),
    )


_MARKS: Final = {
    "*": "NOT_RESPONDING",
    "$": "MAINT",
    "%": "POWERING_DOWN",
    "@": "REBOOT",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWERING_DOWN",
    "^": "REBOOT",
    "-": "PLANNED",
}
"""Signs behind a state: short for flags."""


def _flags(text: str) -> tuple[str, ...]:
    """Return the state and its flags: ``IDLE+DRAIN``, ``MIXED*``, ``DOWN*+DRAIN``."""
    flags: list[str] = []
    for word in text.split("+"):
        name = word.rstrip("".join(_MARKS))
        flags += [name, *(_MARKS[sign] for sign in word[len(name) :])]
    return tuple(flags)


def split_list(text: str) -> tuple[str, ...]:
    """Return the words between commas, none of a text that says so."""
    return () if text in NOTHING else tuple(text.split(","))


def cards(text: str) -> tuple[NodeCards, ...]:
    """Return the cards in a list of generic resources: ``gpu:a100:2(IDX:0-1),gpu:2(S:0),shard:4``. Others than gpu are
    left out.
    """
    found = []
    for item in _outside(text):
        match = _CARDS.fullmatch(item.strip())
        if match is not None:
            indices = () if match[3] in (None, "N/A") else tuple(int(name) for name in expand(f"[{match[3]}]"))
            found.append(NodeCards(match[1] or "", int(match[2] or 1), indices))
    return tuple(found)


def _outside(text: str) -> Iterator[str]:
    """Split at the commas outside round brackets."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if text not in NOTHING:
        yield text[start:]


# -------------------------------------------------------------------------------------------------------- configuration

_AS_OF: Final = re.compile(r"Configuration data as of (\d+)")


def configuration(text: str) -> dict[str, str]:
    """Return what ``scontrol show config`` says by name, and as "now" the controller's clock (epoch seconds), where it
    is told.
    """
    found = {match[1]: match[2] for match in re.finditer(r"^(\w+) += (.*)$", text, re.MULTILINE)}
    now = _AS_OF.search(text)
    return {**found, "now": now[1]} if now is not None else found


# --------------------------------------------------------------------------------------------- partitions, reservations


def partitions(text: str) -> list[Partition]:
    """Return the partitions of ``scontrol show partition -o``. Raises ValueError."""
    return _parse_records("partition", text, _partition)


def _partition(found: dict[str, str]) -> Partition:
    return Partition(
        name=found["PartitionName"],
        nodes=hosts(found.get("Nodes", "")),
        default=found.get("Default") == "YES",
        up=found["State"] == "UP",
        limit_s=limit_s(found.get("MaxTime", "UNLIMITED")),
        most_mib=_most(found.get("MaxMemPerNode", "")),
        groups=() if found.get("AllowGroups", "ALL") == "ALL" else split_list(found["AllowGroups"]),
        hidden=found.get("Hidden") == "YES",
    )


def _most(text: str) -> int | None:
    return None if text in ("UNLIMITED", *NOTHING) else int(text)


def setting(text: str, name: str) -> str:
    """Return what ``scontrol show config`` says of a setting, "" when it says nothing."""
    for line in text.splitlines():
        key, mark, value = line.partition("=")
        if mark and key.strip() == name:
            return "" if value.strip() in NOTHING else value.strip()
    return ""


def limit_s(text: str) -> float | None:
    """Return the seconds of a time limit (``30``, ``1:30``, ``2-12:00:00``), None for no limit. Raises ValueError."""
    if text in ("UNLIMITED", "INFINITE", "NOT_SET", "Partition_Limit", *NOTHING):
        return None
    days, dash, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if dash:
        hours, minutes, seconds = [*parts, 0, 0][:3]
        return float(int(days) * 86400 + hours * 3600 + minutes * 60 + seconds)
    if len(parts) == 1:
        return float(parts[0] * 60)
    total = 0
    for part in parts:
        total = total * 60 + part
    return float(total)


def reservations(text: str) -> list[SlurmReservation]:
    """Return the reservations of ``scontrol show reservation -o``. Raises ValueError."""
    return _parse_records("reservation", text, _reservation)


def _reservation(found: dict[str, str]) -> SlurmReservation:
    nodes = hosts(found.get("Nodes", ""))
    return SlurmReservation(found["ReservationName"], nodes, float(found["StartTime"]), float(found["EndTime"]))


# ------------------------------------------------------------------------------------------------------------ estimates

_STARTS: Final = re.compile(r"Job \d+ to start at (\S+) using \d+ processors on nodes (\S+) in partition \S+")
_PREEMPTS: Final = re.compile(r"Preempts: ([\d, ]+)")


def estimate(text: str) -> Estimate | None:
    """Return what ``sbatch --test-only`` foresees, None when it foresees nothing.

    Its line on a heterogeneous job is of another form and not taken: it judges each component as if it were alone.
    """
    found = _STARTS.search(text)
    if found is None or found[1] in NOTHING:
        return None
    room = _PREEMPTS.search(text)
    return Estimate(
        float(found[1]), tuple(expand(found[2])), len(re.findall(r"\d+", room[1])) if room is not None else 0
    )


def name_of(name: str) -> str | None:
    """Return what we call a job of this name: as its attempt, or as the array of several. None for a name that is none
    of ours.
    """
    match = _NAME.fullmatch(name)
    return match[1] if match is not None else None


def job_number(text: str) -> int:
    """Return the id of ``sbatch --parsable``: ``12`` or ``12;cluster``. Raises ValueError."""
    return int(text.strip().partition(";")[0])
