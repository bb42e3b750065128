"""What would help a job that failed or ran out of time, each as a change of its document that a clone is made with
(D6, D7).

Pure up to `helping_again`, which asks whether the platform would take it. Invariant: what is named is accepted of the
person who asks; where nothing can be named, what only the owner can mend is told with no change.
"""

import re
import signal
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from trainmaster.access.roles import Principal
from trainmaster.answers import Json, SuggestionView
from trainmaster.core.records import Job, Resources, Role, Verdict
from trainmaster.core.verdicts import BEFORE_FAILED, VERDICTS
from trainmaster.messages.jobs import remedies as say
from trainmaster.messages.said import Said
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.spec.document import Document

MORE: Final = 2
"""So many times what was not enough."""
LEAST_SHM_MIB: Final = 1024
MORE_SHM: Final = 4
STEPS_MIB: Final = ((4096, 1024), (1024, 256), (0, 64))
"""From so much on, memory is told in whole steps of so much."""

PROGRAMS: Final = (
    "python", "python3", "torchrun", "accelerate", "deepspeed", "mpirun", "horovodrun", "tensorboard", "jupyter",
    "bash", "sh", "conda", "pip", "pip3", "uv", "make", "git", "nvidia-smi", "unzip", "wget", "curl", "sleep", "mkdir",
)  # fmt: skip
"""Programs that commands of trainings begin with: what a mistyped one may have meant."""
LIKE: Final = 0.7
LAUNCHERS: Final = {"torchrun": "torch", "accelerate": "accelerate", "deepspeed": "deepspeed", "horovodrun": "horovod"}
"""Programs that start trainings, and the module that each comes with: where it is missing, that is what is missing."""
INTERPRETERS: Final = {".py": "python", ".sh": "bash"}

_MISSED: Final = re.compile(r"(?:^|[\s:])([^\s:]+): (?:command )?not found\s*$", re.MULTILINE)
_REFUSED: Final = re.compile(r"(?:^|[\s:])([^\s:]+): Permission denied\s*$", re.MULTILINE)
_LACKED: Final = re.compile(
    r"(?:^|\()(?:ModuleNotFoundError|ImportError): No module named '?([\w-]+)"  # "(" where `python -m` says so
    rf"|^\S*python[\d.]*: No module named '?({'|'.join(LAUNCHERS.values())})\b",
    re.MULTILINE,
)
_SHARED: Final = re.compile(r"/dev/shm|shared memory|torch_\d+", re.IGNORECASE)
OWN_MISTAKES: Final = frozenset(
    {"exit_code", "signal", BEFORE_FAILED, "command_not_found", "mount_hides", "too_many_failures"}
)
"""Ends for which what runs is to be mended."""


class Remedy(NamedTuple):
    """A change: field path -> new value, and its sentence. No change: it is for the owner to make one."""

    message: Said
    change: Json


def remedies(
    job: Job, verdict: Verdict, document: Document, flavors: Mapping[str, Resources], longest_s: float | None = None
) -> Iterator[Remedy]:
    """Yield what may help `job`, which was made of `document` and ended, or is held, by `verdict`, the best first.

    `flavors`: those of its workspace; `longest_s`: a limit that no job may pass. Whether a change is accepted is not
    asked here.
    """
    verdict = _telling(job, verdict)
    at = verdict.role if verdict.role is not None and verdict.role < len(job.roles) else 0
    role = job.roles[at]
    if verdict.code == "expired":
        yield from _longer(job, longest_s)
    elif verdict.code == "out_of_memory":
        yield from _more_memory(at, role, document, flavors)
        yield Remedy(say.no_node_has_more(), {})
    elif verdict.code in ("disk_full", "signal") and _short_of_shm(verdict, role):
        yield _more_shm(at, role)
    elif verdict.code == "disk_full":
        yield Remedy(say.write_less(), {})
    elif verdict.code == "too_many_processes":
        yield Remedy(say.start_fewer_processes(), {})
    elif verdict.code == "command_not_found":
        yield from _other_program(at, verdict, document)
    if (kind := VERDICTS.get(verdict.code)) is not None and kind.fault == "platform":
        yield Remedy(say.run_as_it_is(), {})
    elif lacked := _lacked(verdict):
        yield Remedy(say.install_package(lacked), {})
    elif verdict.code in OWN_MISTAKES:
        yield Remedy(say.fix_what_runs(), {})


async def helping_again(context: Context, who: Principal, job: Job, document: Document) -> list[SuggestionView]:
    """Return those of `remedies` that would be accepted of `who`; of the ones without a change only where there is no
    other. Nothing of a job that did not go wrong.
    """
    verdict = job.verdict or (job.attempt.verdict if job.attempt is not None else None)
    if verdict is None or verdict.code in ("ok", "stopped", "malformed"):
        return []
    flavors = {name: one.resources() for name, one in context.pools.flavors.get(job.workspace, {}).items()}

    found = list(remedies(job, verdict, document, flavors, context.config.limits.max_duration_s))
    chosen = [one for one in found if one.change and context.submit.would_take(document, one.change, who)]
    chosen = chosen or [one for one in found if not one.change]
    return [
        SuggestionView(
            code=one.message.code, message=both(one.message), change=one.change, forecast=None, otherwise_at=None
        )
        for one in chosen
    ]


def _telling(job: Job, verdict: Verdict) -> Verdict:
    """Return the verdict of the first task that failed, where that of the job only counts them."""
    if verdict.code != "too_many_failures" or job.attempt is None:
        return verdict
    failed = [task for task in job.attempt.tasks if task.verdict is not None and task.role == verdict.role]
    first = min(failed, key=lambda task: task.ended_at or 0.0, default=None)
    return first.verdict if first is not None and first.verdict is not None else verdict


def _longer(job: Job, longest_s: float | None) -> Iterator[Remedy]:
    now = job.policy.duration_s
    if now is None:
        return
    longer = float(min(now * MORE, longest_s or now * MORE))
    if longer > now:
        yield Remedy(say.longer_limit(longer, now), {"duration": int(longer) if longer.is_integer() else longer})
    if not longest_s:
        yield Remedy(say.no_limit(), {"duration": None})


def rounded_mib(wanted: int) -> int:
    """Return `wanted` MiB, or a little more, as somebody would write it."""
    step = next(step for least, step in STEPS_MIB if wanted >= least)
    return -(-wanted // step) * step


def _more_memory(at: int, role: Role, document: Document, flavors: Mapping[str, Resources]) -> Iterator[Remedy]:
    """More memory for role number `at`; for one with a flavor the smallest one with more that takes nothing away."""
    now = role.resources.memory_mib
    if not document["roles"][at].get("flavors"):
        more = rounded_mib(now * MORE)
        yield Remedy(say.more_memory(role.name, more, now), {f"roles.{at}.resources.memory": more})
        return
    larger = [name for name, one in flavors.items() if one.memory_mib > now and _at_least(one, role.resources)]
    for name in sorted(larger, key=lambda name: (flavors[name].memory_mib, name))[:1]:
        said = say.flavor_with_more_memory(role.name, name, flavors[name].memory_mib, now)
        yield Remedy(said, {f"roles.{at}.flavors": [name]})


def _at_least(one: Resources, other: Resources) -> bool:
    return one.gpu * one.gpu_milli >= other.gpu * other.gpu_milli and one.cpu >= other.cpu


def _short_of_shm(verdict: Verdict, role: Role) -> bool:
    """Return whether it was /dev/shm that was full: a write into it says so, or ends in SIGBUS."""
    if role.resources.shm_mib >= role.resources.memory_mib:
        return False
    return verdict.signal == signal.SIGBUS or _SHARED.search(verdict.evidence) is not None


def _more_shm(at: int, role: Role) -> Remedy:
    now = role.resources.shm_mib
    more = min(max(now * MORE_SHM, LEAST_SHM_MIB), max(role.resources.memory_mib, now + 1))
    return Remedy(say.more_shared_memory(role.name, more, now), {f"roles.{at}.resources.shm": more})


def _lacked(verdict: Verdict) -> str:
    """Return the module that the job's Python lacks, for its own code or for what starts it; "" where that is not what
    went wrong.
    """
    if verdict.code == "command_not_found":
        return next((LAUNCHERS[program] for program in _missing(verdict) if program in LAUNCHERS), "")
    if verdict.code != "exit_code":
        return ""
    return next(("".join(found) for found in reversed(_LACKED.findall(verdict.evidence))), "")


def _other_program(at: int, verdict: Verdict, document: Document) -> Iterator[Remedy]:
    """The program that the command may have meant, where it is the command that names the one that was not found."""
    command = document["roles"][at]["command"]
    for wrong in _missing(verdict):
        for right in _meant(wrong):
            changed = _replaced(command, wrong, right)
            if changed != command:
                yield Remedy(say.other_program(right, wrong), {f"roles.{at}.command": changed})
                return


def _missing(verdict: Verdict) -> Iterator[str]:
    """Yield the programs that were not found or could not be executed: as the verdict names them, and as a shell did
    in the log.
    """
    said: Any = verdict.said
    while isinstance(said, Said):
        if isinstance(program := said.args.get("program"), str):
            yield program
        said = said.args.get("said")
    yield from (match[1] for match in _MISSED.finditer(verdict.evidence))
    yield from (match[1] for match in _REFUSED.finditer(verdict.evidence))


def _meant(wrong: str) -> Iterator[str]:
    """Yield what `wrong` may have meant: a program whose name is much like it, or who reads such a file."""
    yield from get_close_matches(wrong, [name for name in PROGRAMS if name != wrong], 1, LIKE)
    suffix = wrong[wrong.rfind(".") :] if "." in wrong else ""
    if suffix in INTERPRETERS:
        yield f"{INTERPRETERS[suffix]} {wrong}"


def _replaced(command: Any, wrong: str, right: str) -> Any:
    """Return `command`, a text or a list of words, with the first `wrong` in it as `right`."""
    if isinstance(command, str):
        return re.sub(rf"(?<![\w./-]){re.escape(wrong)}(?![\w./-])", lambda _: right, command, count=1)
    words = list(command)
    if wrong not in words:
        return words
    place = words.index(wrong)
    return [*words[:place], *right.split(" ", 1), *words[place + 1 :]]
