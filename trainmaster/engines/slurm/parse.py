"""What Slurm's programs print, as records: jobs, nodes, partitions, reservations, estimates, accounts of ended jobs. Pure.

Every format is asked for by name and read by name. A line that cannot be read raises ValueError with the line: it is reported, never
passed over. Nothing that users can write (names, comments) is ever asked for: a job's name may hold a whole false line. What an
administrator wrote comes last in its line, and nothing is read from it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainmaster.core.hostlist import expand
from trainmaster.engines.slurm import states
from trainmaster.engines.slurm.states import Seen

JOB_FORMAT: Final = "%A|%T|%V|%S|%e|%D|%P|%N|%Y|%r"
"""What squeue is asked for: id, state, submitted, start, end, nodes, partition, node list, expected nodes, reason. Whose job it is
is known by its id, or asked by ``--name``.

10 ms with 600 ended jobs in the controller's memory, against 225 ms of ``--json``; the letters are the same since version 14.
"""

ACCOUNT_FORMAT: Final = "JobIDRaw,State,ExitCode,Start,End,MaxRSS,NodeList"
"""What sacct is asked for, with -n -P."""

NOTHING: Final = ("", "(null)", "N/A", "None", "none", "Unknown", "NONE", "n/a", "None assigned")


@dataclass(frozen=True, slots=True)
class JobLine:
    """One job, or one component of a heterogeneous job. Times in epoch seconds, None: not known. `start`: also an expected one."""

    id: int
    state: Seen
    submitted: float | None
    start: float | None
    end: float | None
    node_count: int
    partition: str
    nodes: tuple[str, ...]
    expected_nodes: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards of one type on one node. `type` "": the site names none. `indices` empty: not told."""

    type: str
    count: int
    indices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One node as Slurm has it. `usable`: it may start jobs now; `reason`: what its administrator wrote."""

    name: str
    address: str
    cpus: int
    memory_mib: int
    cards: tuple[Cards, ...]
    features: tuple[str, ...]
    partitions: tuple[str, ...]
    states: tuple[str, ...]
    usable: bool
    reason: str
    kernel: str
    version: str


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition: to us a pool. `limit_s` None: jobs may run for ever. `groups` empty: everybody may use it."""

    name: str
    nodes: tuple[str, ...]
    default: bool
    up: bool
    limit_s: float | None
    groups: tuple[str, ...]
    hidden: bool


@dataclass(frozen=True, slots=True)
class Reservation:
    """Nodes kept for some people for some time."""

    name: str
    nodes: tuple[str, ...]
    start: float
    end: float
    users: tuple[str, ...]
    active: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """What ``sbatch --test-only`` foresees. `preempts`: the jobs that would have to make room."""

    start: float
    nodes: tuple[str, ...]
    partition: str
    preempts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """How an ended job or step ended, by the accounting. `step` "": the job itself. `peak_mib` None: not measured."""

    id: int
    step: str
    state: Seen
    exit_code: int
    signal: int
    start: float | None
    end: float | None
    peak_mib: int | None
    nodes: tuple[str, ...]


# ----------------------------------------------------------------------------------------------------------------- jobs


def jobs(text: str) -> list[JobLine]:
    """Return the jobs of ``squeue -h -t all -o JOB_FORMAT``. Raises ValueError. O(lines)."""
    return [_job(line) for line in text.splitlines() if line.strip()]


def _job(line: str) -> JobLine:
    fields = line.split("|", 9)
    if len(fields) != 10:
        raise ValueError(f"squeue: {line[:200]!r}")
    number, state, submitted, start, end, count, partition, nodes, expected, why = fields
    return JobLine(
        int(number), states.read(state), _time(submitted), _time(start), _time(end), _count(count), partition, _hosts(nodes),
        _hosts(expected), why,
    )  # fmt: skip


def _count(text: str) -> int:
    return int(text.partition("-")[0]) if text[:1].isdigit() else 0


def _time(text: str) -> float | None:
    if text in NOTHING:
        return None
    return float(text)


def _hosts(text: str) -> tuple[str, ...]:
    return () if text in NOTHING else tuple(expand(text))


# ---------------------------------------------------------------------------------------------------------------- nodes

NOT_USABLE: Final = frozenset({
    "DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "UNKNOWN", "FUTURE", "MAINT", "MAINTENANCE",
    "NOT_RESPONDING", "PERFCTRS", "INVALID", "INVALID_REG", "BLOCKED", "REBOOT", "REBOOT_ISSUED", "REBOOT_REQUESTED",
    "POWER_DOWN", "POWERING_DOWN",
})  # fmt: skip
"""States of a node in which it starts nothing. A node that is switched off to save power is not among them: Slurm wakes it."""

_KEY: Final = re.compile(r"(?:^| )([A-Z][A-Za-z]*(?:[:/][A-Za-z:]+)?)=")
_CARDS: Final = re.compile(
    r"gpu(?::([^:(\s]*[^:(\s\d][^:(\s]*))?(?::(\d+))?(?:\([^)]*IDX:([\d,-]+|N/A)[^)]*\)|\([^)]*\))*"
)


def pairs(line: str) -> dict[str, str]:
    """Return the ``Key=Value`` of one line of ``scontrol show ... -o``. A value may have blanks; of two equal keys the first counts.

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
    return [_node(line) for line in text.splitlines() if line.startswith("NodeName=")]


def _node(line: str) -> NodeLine:
    found = pairs(line)
    try:
        flags = _flags(found["State"])
        return NodeLine(
            name=found["NodeName"],
            address=found.get("NodeAddr", found["NodeName"]),
            cpus=int(found.get("CPUEfctv", found["CPUTot"])),
            memory_mib=int(found["RealMemory"]) - int(found.get("MemSpecLimit", 0)),
            cards=cards(found.get("Gres", "")),
            features=_words(found.get("AvailableFeatures", "")),
            partitions=_words(found.get("Partitions", "")),
            states=flags,
            usable=not NOT_USABLE.intersection(flags),
            reason=found.get("Reason", ""),
            kernel=found.get("OS", ""),
            version=found.get("Version", ""),
        )
    except (KeyError, ValueError) as error:
        raise ValueError(f"scontrol show node: {line[:200]!r}: {error!r}") from error


_MARKS: Final = {"*": "NOT_RESPONDING", "$": "MAINT", "%": "POWERING_DOWN", "@": "REBOOT", "~": "POWERED_DOWN", "#": "POWERING_UP",
                 "!": "POWERING_DOWN", "^": "REBOOT", "-": "PLANNED"}  # fmt: skip
"""Signs behind a state: short for flags."""


def _flags(text: str) -> tuple[str, ...]:
    """Return the state and its flags: ``IDLE+DRAIN``, ``MIXED*``, ``DOWN*+DRAIN``."""
    flags: list[str] = []
    for word in text.split("+"):
        name = word.rstrip("".join(_MARKS))
        flags += [name, *(_MARKS[sign] for sign in word[len(name) :])]
    return tuple(flags)


def _words(text: str) -> tuple[str, ...]:
    return () if text in NOTHING else tuple(text.split(","))


def cards(text: str) -> tuple[Cards, ...]:
    """Return the cards in a list of generic resources: ``gpu:a100:2(IDX:0-1),gpu:2(S:0),shard:4``. Others than gpu are left out."""
    found = []
    for item in _outside(text):
        match = _CARDS.fullmatch(item.strip())
        if match is not None:
            indices = () if match[3] in (None, "N/A") else tuple(int(name) for name in expand(f"[{match[3]}]"))
            found.append(Cards(match[1] or "", int(match[2] or 1), indices))
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


# ----------------------------------------------------------------------------------------------- partitions, reservations


def partitions(text: str) -> list[Partition]:
    """Return the partitions of ``scontrol show partition -o``. Raises ValueError."""
    return [_partition(line) for line in text.splitlines() if line.startswith("PartitionName=")]


def _partition(line: str) -> Partition:
    found = pairs(line)
    try:
        return Partition(
            name=found["PartitionName"], nodes=_hosts(found.get("Nodes", "")), default=found.get("Default") == "YES",
            up=found["State"] == "UP", limit_s=limit_s(found.get("MaxTime", "UNLIMITED")),
            groups=() if found.get("AllowGroups", "ALL") == "ALL" else _words(found["AllowGroups"]),
            hidden=found.get("Hidden") == "YES",
        )  # fmt: skip
    except (KeyError, ValueError) as error:
        raise ValueError(f"scontrol show partition: {line[:200]!r}: {error!r}") from error


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


def reservations(text: str) -> list[Reservation]:
    """Return the reservations of ``scontrol show reservation -o``. Raises ValueError."""
    found = [pairs(line) for line in text.splitlines() if line.startswith("ReservationName=")]
    return [
        Reservation(
            name=item["ReservationName"], nodes=_hosts(item.get("Nodes", "")), start=float(item["StartTime"]),
            end=float(item["EndTime"]), users=_words(item.get("Users", "")), active=item.get("State") == "ACTIVE",
        )
        for item in found
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ estimates

_STARTS: Final = re.compile(r"Job \d+ to start at (\S+) using \d+ processors on nodes (\S+) in partition (\S+)")
_PREEMPTS: Final = re.compile(r"Preempts: ([\d, ]+)")


def estimate(text: str) -> Estimate | None:
    """Return what ``sbatch --test-only`` foresees, None when it foresees nothing. The last line counts: a het job's latest component."""
    found = [
        Estimate(float(match[1]), tuple(expand(match[2])), match[3])
        for match in _STARTS.finditer(text)
        if match[1] not in NOTHING
    ]
    if not found:
        return None
    last = max(found, key=lambda item: item.start)
    hosts = tuple(dict.fromkeys(host for item in found for host in item.nodes))
    room = {int(number) for match in _PREEMPTS.finditer(text) for number in re.findall(r"\d+", match[1])}
    return Estimate(last.start, hosts, last.partition, tuple(sorted(room)))


def job_number(text: str) -> int:
    """Return the id of ``sbatch --parsable``: ``12`` or ``12;cluster``. Raises ValueError."""
    return int(text.strip().partition(";")[0])


# ------------------------------------------------------------------------------------------------------------- accounts


def accounts(text: str) -> list[Account]:
    """Return the lines of ``sacct -n -P -o ACCOUNT_FORMAT``. Raises ValueError."""
    return [_account(line) for line in text.splitlines() if line.strip()]


def _account(line: str) -> Account:
    fields = line.split("|", 6)
    if len(fields) != 7:
        raise ValueError(f"sacct: {line[:200]!r}")
    raw, state, code, start, end, peak, hosts = fields
    number, _, step = raw.partition(".")
    status, _, signum = code.partition(":")
    return Account(
        int(number.partition("+")[0]), step, states.read(state), int(status), int(signum or 0), _time(start), _time(end),
        memory_mib(peak), _hosts(hosts),
    )  # fmt: skip


def memory_mib(text: str) -> int | None:
    """Return MiB of ``1234K``, ``1.5G`` or bare bytes; None for nothing. Raises ValueError."""
    if text in NOTHING:
        return None
    units = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}
    unit = units.get(text[-1])
    return int(float(text) / (1 << 20)) if unit is None else int(float(text[:-1]) * unit)
