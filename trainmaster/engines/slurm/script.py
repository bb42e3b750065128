"""From a gang to the exact batch script: numbers, names that the cluster itself gave, and the folder of the attempt.
Pure.

Invariant: nothing that a user wrote is in it, whatever it is - commands, variables, names of jobs and roles lie in the
folder, which the step reads on the node. What is written into an ``#SBATCH`` line or a word of the shell has passed one
of the patterns below.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from trainmaster.agent.place import start
from trainmaster.core.formats.hostlist import fold
from trainmaster.core.ids import attempt_id
from trainmaster.core.launch import Gang
from trainmaster.core.records import Resources, Role
from trainmaster.engines.slurm.messages import slurm
from trainmaster.engines.slurm.node import mirror
from trainmaster.engines.slurm.node.mirror_start import BEGIN, root_of
from trainmaster.engines.slurm.wrong import Wrong

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]{0,127}")
"""Partitions, features, types of cards, reservations, accounts, hosts."""
ATTEMPT: Final = re.compile(r"t[0-9a-f]{32}-[1-9][0-9]{0,5}")
ARRAY: Final = re.compile(r"a[0-9a-f]{32}")
"""What several attempts are called that are submitted together."""
PATH: Final = re.compile(r"/[A-Za-z0-9_.+@=,:/-]{0,1000}")
"""No blank, no quote, no ``%`` (a pattern of Slurm's) and no ``$``: a data folder must be called so
(`checks.folder`).
"""

HEAD: Final = ("#!/bin/sh", "# Nothing in here was written by a user.")
PRINTED: Final = mirror.PRINTED
"""In an attempt's folder: what its batch script printed."""

SIGNAL_AHEAD_S: Final = 30.0
"""Slurm's clock for --signal is a minute coarse; it asks a step to end so much earlier than the grace period needs."""

STEP, SURVEY = "step", "survey"
"""What runs on the nodes: the tasks of an attempt, or a look at what a node has."""

INHERITED: Final = (
    "NTASKS",
    "NPROCS",
    "CPUS_PER_TASK",
    "GPUS",
    "GPUS_PER_TASK",
    "MEM_PER_CPU",
    "MEM_PER_NODE",
    "TRES_PER_TASK",
)
"""What the batch script's environment says of the job's tasks, also for each component; srun would take it for its own
words, and it starts one agent a node."""


class CardRequest(NamedTuple):
    """How cards of one model are asked for: by their `type`, or, where the cluster's cards have none, by a `feature` of
    their nodes.
    """

    type: str
    feature: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """What an attempt asks of the cluster beside its resources. Names are the cluster's own; "" and None: as the
    cluster has it.

    `limit_s`: when Slurm ends it, seconds from its start, infinite: never; None: as the partition says. `exclude`:
    nodes it must not run on (a list of those it may run on cannot be given: Slurm would want all of them). `nice`: how
    far below its place in Slurm's order it stands. `cards`: by model; one that is not in it is
    a type.
    """

    partition: str = ""
    limit_s: float | None = None
    grace_s: float = 10.0
    features: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    reservation: str = ""
    account: str = ""
    qos: str = ""
    nice: int = 0
    cards: Mapping[str, CardRequest] = field(default_factory=dict)

    def card(self, ask: Resources) -> CardRequest:
        """Return how the cards of `ask` are asked for."""
        if not ask.gpu or ask.gpu_type is None:
            return CardRequest("")
        return self.cards.get(ask.gpu_type, CardRequest(ask.gpu_type))


@dataclass(frozen=True, slots=True)
class AttemptPlace:
    """Where things lie on the nodes: the attempt's `folder`, the folder of our `package`, the `python` that runs the
    step.

    `scratch`: where nodes share nothing with the server, a folder of their own: `folder` and `package` are then brought
    there. A node waits at most `patience_s` for that, and at the end until all was fetched.
    """

    folder: str
    package: str
    python: str = "/usr/bin/python3"
    scratch: str = ""
    patience_s: float = 0.0


Component = tuple[tuple[int, int], ...]
"""The tasks, as (role, index), that ask for the same: they are one component of the job."""


def components(roles: tuple[Role, ...]) -> tuple[Component, ...]:
    """Return the tasks of `roles` by what they ask for, in the order of the roles. A gang of equals is one plain
    job.
    """
    found: dict[Resources, list[tuple[int, int]]] = {}
    for number, role in enumerate(roles):
        found.setdefault(role.resources, []).extend((number, index) for index in range(role.replicas))
    return tuple(tuple(tasks) for tasks in found.values())


class BatchScript(NamedTuple):
    """What a batch script asks and does for whichever attempt: the `options` of each component, and a `body` that knows
    ``$folder``.

    `scratch`: see `AttemptPlace`; ``$folder`` is then how the roots of the attempt on its nodes begin.
    """

    options: tuple[tuple[str, ...], ...]
    body: tuple[str, ...]
    scratch: str = ""

    def folder(self, member: "BatchMember") -> str:
        """Return ``$folder`` of an attempt. Raises ValueError."""
        return _path(f"{self.scratch}/{member.attempt}" if self.scratch else member.folder)

    @property
    def opening(self) -> tuple[str, ...]:
        """What comes first where Slurm cannot open the file that is printed into, because it is not there before."""
        if not self.scratch:
            return (f'exec >>"$folder/{PRINTED}" 2>&1 || exit 1',)
        root = f'"{root_of("$folder", "0-$SLURMD_NODENAME")}"'
        return (
            f"(umask 077 && mkdir -p {root}) && [ -O {self.scratch} ] && [ -O {root} ] || exit 1",
            f"exec >>{root}/{PRINTED} 2>&1 || exit 1",
        )


class BatchMember(NamedTuple):
    """One attempt that is submitted, and its folder."""

    attempt: str
    folder: str


def script(gang: Gang, terms: Terms, place: AttemptPlace, program: str = STEP) -> str:
    """Return the batch script of `gang`; `program`: STEP or SURVEY. Raises ValueError for what cannot be asked of
    Slurm, in words.
    """
    return script_alone(
        batch(gang, terms, place, program), BatchMember(attempt_id(gang.job, gang.attempt), place.folder)
    )


def batch(gang: Gang, terms: Terms, place: AttemptPlace, program: str = STEP) -> BatchScript:
    """Return what does not depend on which attempt of which job `gang` is. Raises ValueError as `script` does."""
    parts, options = components(gang.roles), []
    for part in parts:
        ask = gang.roles[part[0][0]].resources
        card = terms.card(ask)
        options.append((*_common(terms, card.feature), *_resources(len(part), ask, card)))
    return BatchScript(tuple(options), tuple(_body(parts, gang.roles, terms, place, program)), place.scratch)


def script_alone(of: BatchScript, member: BatchMember) -> str:
    """Return the batch script of one attempt. Raises ValueError."""
    attempt, folder = _checked(ATTEMPT, member.attempt, "an attempt"), of.folder(member)
    lines = [*HEAD, "#SBATCH --output=/dev/null" if of.scratch else f"#SBATCH --output={folder}/{PRINTED}"]
    for number, options in enumerate(of.options):
        named = (f"--job-name=tm-{attempt}", f"--comment={attempt}")
        lines += ["#SBATCH hetjob"] * (number > 0) + [f"#SBATCH {option}" for option in (*named, *options)]
    opening = ["umask 077", *of.opening] if of.scratch else []
    return "\n".join([*lines, f"folder={folder}", *opening, *of.body]) + "\n"


def script_together(of: BatchScript, name: str, members: Sequence[BatchMember]) -> str:
    """Return the batch script of an array called `name`: its elements are the attempts, in their order. Raises
    ValueError.

    One component only: Slurm knows no arrays of heterogeneous jobs. Which element is which attempt is said in the
    comment, too, so that Slurm can be asked for it. What the script prints goes where it would go alone, with a first
    line that says that it began.
    """
    (options,) = of.options
    attempts = ",".join(_checked(ATTEMPT, member.attempt, "an attempt") for member in members)
    named = [f"--job-name=tm-{_checked(ARRAY, name, 'an array')}", f"--comment={attempts}"]
    asked = ["--output=/dev/null", *named, f"--array=0-{len(members) - 1}", *options]
    folders = [f"{number}) folder={of.folder(member)} ;;" for number, member in enumerate(members)]
    choice = [
        'case "$SLURM_ARRAY_TASK_ID" in',
        *folders,
        "*) exit 1 ;;",
        "esac",
        *of.opening,
    ]
    began = 'echo "Job $SLURM_JOB_ID began on $SLURMD_NODENAME"'
    return "\n".join([*HEAD, *(f"#SBATCH {option}" for option in asked), "umask 077", *choice, began, *of.body]) + "\n"


def _common(terms: Terms, of_cards: str) -> list[str]:
    """What every component says. The environment is that of our sbatch, which holds nothing; NONE would run a login
    shell.
    """
    named = {"partition": terms.partition, "reservation": terms.reservation, "account": terms.account, "qos": terms.qos}
    options = [f"--{key}={_checked(NAME, value, key)}" for key, value in named.items() if value]
    features = [*terms.features, *([of_cards] if of_cards else [])]
    if features:
        options.append("--constraint=" + "&".join(_checked(NAME, feature, "feature") for feature in features))
    if terms.exclude:
        options.append(f"--exclude={fold(_checked(NAME, node, 'node') for node in terms.exclude)}")
    if terms.nice:
        options.append(f"--nice={terms.nice}")
    if terms.limit_s is not None:
        options.append(f"--time={duration(terms.limit_s)}")
    if terms.limit_s is not None and terms.limit_s < math.inf:
        options.append(f"--signal=TERM@{min(65535, math.ceil(terms.grace_s + SIGNAL_AHEAD_S))}")
    return [*options, "--no-requeue", "--open-mode=append", "--export=ALL", "--chdir=/"]


def _resources(tasks: int, ask: Resources, card: CardRequest) -> list[str]:
    cores = max(1, math.ceil(ask.cpu))
    options = [
        f"--ntasks={tasks}",
        f"--cpus-per-task={cores}",
        f"--mem-per-cpu={max(1, math.ceil(ask.memory_mib / cores))}M",
    ]
    if ask.gpu and ask.gpu_milli < 1000:
        raise Wrong(slurm.slurm_gives_whole_cards())
    if ask.gpu:
        options.append(f"--gpus-per-task={_cards(card, ask.gpu)}")
    return options


def _cards(card: CardRequest, count: int) -> str:
    return f"{_checked(NAME, card.type, 'card')}:{count}" if card.type else str(count)


def _body(
    parts: tuple[Component, ...], roles: tuple[Role, ...], terms: Terms, place: AttemptPlace, program: str
) -> list[str]:
    """One run, named by chance, that starts one agent on each node of each component, with all that the component has
    there.
    """
    steps, facts = [], []
    for number, part in enumerate(parts):
        group = f"_HET_GROUP_{number}" if len(parts) > 1 else ""
        ask = roles[part[0][0]].resources
        facts.append(
            f'export TRAINMASTER_NODES_{number}="$SLURM_JOB_NODELIST{group}" '
            f'TRAINMASTER_TASKS_{number}="$SLURM_TASKS_PER_NODE{group}"'
        )
        count = f'"$SLURM_JOB_NUM_NODES{group}"'
        options = [f"--het-group={number}"] if group else []
        options += [f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1", "--mem=0", "--cpu-bind=none"]
        options += [f"--gpus={_cards(terms.card(ask), ask.gpu * len(part))}"] if ask.gpu else []
        options += ["--chdir=/", "--export=ALL", "--input=none", "--wait=0", "--kill-on-bad-exit=1"]
        words = [_path(place.python), "-I", "-S", "-c", *_python_arguments(place, program, number)]
        steps.append(" ".join([*options, *words]))
    return [
        "umask 077",
        "run=$(cat /proc/sys/kernel/random/uuid) || exit 1",
        *facts,
        *(f"unset {' '.join(f'SLURM_{name}{group}' for name in INHERITED)}" for group in _groups(len(parts))),
        "exec srun " + " : ".join(steps),
    ]


def _python_arguments(place: AttemptPlace, program: str, number: int) -> list[str]:
    """Return what Python runs on each node of component `number`."""
    if place.scratch:
        return [f"'{BEGIN}'", '"$folder"', '"$run"', str(number), str(place.patience_s), program]
    text = start("engines.slurm.node." + program)
    return [f"'{text}'", _path(place.package), '"$folder"', '"$run"', str(number)]


def _groups(parts: int) -> list[str]:
    """Return how the variables of each component end, by the old name of heterogeneous jobs, too."""
    return ["", *(f"_{kind}_GROUP_{number}" for number in range(parts) if parts > 1 for kind in ("HET", "PACK"))]


def duration(seconds: float) -> str:
    """Return `seconds` as Slurm writes them, ``1-02:03:04``. Slurm counts in minutes and rounds up."""
    if seconds == math.inf:
        return "UNLIMITED"
    whole = max(60, math.ceil(seconds))
    return f"{whole // 86400}-{whole // 3600 % 24:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _path(text: str) -> str:
    return _checked(PATH, text, "path")


def _checked(pattern: re.Pattern[str], text: str, what: str) -> str:
    """Return `text`. Raises ValueError when it is not of the form that may stand in a script."""
    if pattern.fullmatch(text) is None:
        raise Wrong(slurm.no_name_for_slurm(what, repr(text[:80])))
    return text
