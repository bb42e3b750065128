"""Running Slurm's client programs: one call, one answer as text, never blocking the loop.

Argument lists are made of our own words, no shell is between, and the environment is ours alone: no SBATCH_* variable
of whoever started the server can change what is asked for. A cluster that does not answer (`ClusterDown`) is never
mistaken for one that says no (`ClusterRefused`). Times come as epoch seconds.

To act as the submitting person the server calls ``sudo -n -u PERSON -- PROGRAM ...``. That takes this rule, and no
other:

    Cmnd_Alias TRAINMASTER = /usr/bin/sbatch, /usr/bin/scancel, /usr/bin/scontrol, /usr/bin/srun
    Defaults!TRAINMASTER env_keep += "SLURM_CONF SLURM_TIME_FORMAT SLURM_EXIT_ERROR", !requiretty
    trainmaster ALL = (%trainmaster-users) NOPASSWD: TRAINMASTER

with ``trainmaster`` the server's user and ``trainmaster-users`` a group of those it may act for, never root.
"""

import asyncio
import contextlib
import os
import re
import subprocess
from dataclasses import dataclass
from typing import Final, Literal

from trainmaster.core.errors import TrainmasterError, Unavailable
from trainmaster.engines.slurm.client import answers
from trainmaster.engines.slurm.messages import slurm
from trainmaster.engines.slurm.wrong import Wrong
from trainmaster.messages.said import Said, verbatim

Process = subprocess.Popen[bytes]
Program = Literal["sbatch", "scancel", "scontrol", "sinfo", "squeue", "sacct", "sacctmgr", "srun"]
TIMEOUT_S: Final = 30.0
"""Slurm's own programs give up after MessageTimeout, 10 s unless the site has changed it; under load three times that
was seen.
"""
AT_ONCE: Final = 4
"""Programs that run at the same time: slurmctld answers one request after the other, and more of them only wait."""

SEARCHED: Final = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are looked for."""
USER: Final = re.compile(r"[a-z_][a-z0-9_.-]{0,31}")
VERSION: Final = re.compile(r"\b(\d+)\.(\d+)\.(\d+)")

DOWN: Final = (
    "Unable to contact slurm controller",
    "Connection refused",
    "Connection timed out",
    "Connection reset by peer",
    "Broken pipe",
    "No route to host",
    "Network is unreachable",
    "Communication connection failure",
    "Communication shutdown failure",
    "Message send failure",
    "Unexpected missing socket error",
    "Socket timed out",
    "Zero Bytes were transmitted or received",
    "Unexpected message received",
    "Slurm backup controller in standby mode",
    "Transport endpoint is not connected",
    "Resource temporarily unavailable",
    "Slurm temporarily unable to accept job",
    "Message receive failure",
    "Unable to contact slurm database",
)
"""What Slurm says when it does not answer now and will later: nothing is wrong with what was asked."""

UNUSABLE: Final = (
    "Munge encode failed",
    "Munge decode failed",
    "Protocol authentication error",
    "Invalid authentication credential",
    "Unable to process configuration file",
    "Could not establish a configuration source",
    "a password is required",
    "is not allowed to execute",
    "may not run sudo",
    "no new privileges",
    "setuid",
    "command not found",
)
"""What is said when this machine may not or cannot speak with the cluster: an administrator must mend it."""


class ClusterDown(Unavailable):
    """The cluster does not answer, or this machine cannot speak with it. Whether a request was carried out is not
    known.
    """


class ClusterRefused(TrainmasterError):
    """The cluster says no, in `message`: asking again changes nothing."""

    status = 409
    kind = "cluster_refused"


@dataclass(frozen=True, slots=True)
class Access:
    """How a cluster is reached. `conf`: its slurm.conf, "" as the machine has it; `programs`: their folder, "" where
    PATH finds them.
    """

    conf: str = ""
    programs: str = ""
    timeout_s: float = TIMEOUT_S


class Commands:
    """The client programs of one cluster."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def run(self, program: Program, *words: str, user: str = "", given: str | None = None) -> str:
        """Return what `program` prints. `user`: act as that person; `given`: its standard input.

        Raises ClusterDown, or ClusterRefused with Slurm's words.
        """
        code, out, err = await self._call(command(self.access, program, words, user), given)
        if code == 0:
            return out
        raise failure(program, code, err or out)

    async def test(self, *words: str, given: str, user: str = "") -> str:
        """Return what ``sbatch --test-only`` says of the script `given`; it says it on its standard error. Raises as
        `run` does.
        """
        code, out, err = await self._call(command(self.access, "sbatch", ("--test-only", *words), user), given)
        if code == 0:
            return err or out
        raise failure("sbatch", code, err or out)

    async def forbids(self, user: str) -> Said | str:
        """Return what keeps this process's user from submitting as `user`, "" when nothing does. Raises ClusterDown."""
        code, out, err = await self._call(["sudo", "-n", "-l", *command(self.access, "sbatch", (), user)[2:]], None)
        return "" if code == 0 else plain(err or out) or slurm.no_sudo_rule()

    async def version(self) -> tuple[int, int, int]:
        """Return the version of the client programs. Raises ClusterDown, ClusterRefused."""
        return version_of(await self.run("sinfo", "--version"))

    async def _call(self, argv: list[str], given: str | None) -> tuple[int, str, str]:
        async with self._turns:
            process = self._start(argv, subprocess.DEVNULL if given is None else subprocess.PIPE)
            try:
                data = None if given is None else given.encode()
                out, err = await asyncio.to_thread(answers.read_answer, process, data, self.access.timeout_s)
            except answers.TooMuch:
                raise ClusterDown(slurm.cluster_answer_too_large(answers.MOST >> 20)) from None
            except subprocess.TimeoutExpired as error:
                raise ClusterDown(slurm.cluster_too_slow(round(self.access.timeout_s))) from error
            finally:
                _end(process)
        return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def _start(self, argv: list[str], given: int) -> Process:
        """Start a program, by vfork: the loop's own way copies the page tables of the whole server. Raises
        ClusterDown.
        """
        try:
            return subprocess.Popen(
                argv,
                env=environment(self.access),
                cwd="/",
                start_new_session=True,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            why = error.strerror or str(error)
            raise ClusterDown(slurm.program_not_run(os.path.basename(argv[0]), why)) from error


def _end(process: Process) -> None:
    """Kill what has not ended, and hang up on it."""
    if process.poll() is None:
        with contextlib.suppress(PermissionError):  # a child of sudo belongs to another user
            process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def environment(access: Access) -> dict[str, str]:
    """Return all variables that a client program sees."""
    env = {"PATH": SEARCHED, "LANG": "C.UTF-8", "SLURM_TIME_FORMAT": "%s"}
    if access.conf:
        env["SLURM_CONF"] = access.conf
    return env


def command(access: Access, program: Program, words: tuple[str, ...], user: str = "") -> list[str]:
    """Return the whole command line. Raises ValueError for what is not the name of a person."""
    path = os.path.join(access.programs, program)
    if not user:
        return [path, *words]
    if not USER.fullmatch(user) or user == "root":
        raise Wrong(slurm.no_name_to_act_for(repr(user)))
    return ["sudo", "-n", "-u", user, "--", path, *words]


def srun_words(name: str, number: int, node: str, component: int | None) -> tuple[str, ...]:
    """Return srun's words for a step that shares cores, memory and cards with those of job `number` that run on `node`.

    `component`: of a heterogeneous job. Quiet twice: srun would call each exit code but 0 an error.
    """
    group = () if component is None else (f"--het-group={component}",)
    step = ("--overlap", "--nodes=1", "--ntasks=1", "--mem=0", "--chdir=/", f"--job-name={name}", "--quiet", "--quiet")
    return (f"--jobid={number}", *group, f"--nodelist={node}", *step)


def failure(program: str, code: int, said: str) -> TrainmasterError:
    """Return what to raise when `program` ended with `code` and `said` this."""
    why = plain(said) or slurm.program_ended(program, code)
    if any(sign in said for sign in UNUSABLE):  # before DOWN: munge's errors also say "connection refused"
        return ClusterDown(slurm.cluster_not_spoken_with(why))
    if any(sign in said for sign in DOWN):
        return ClusterDown(slurm.cluster_does_not_answer(why))
    return ClusterRefused(why)


def said_by(error: Exception) -> Said:
    """Return what an error says: of the cluster, or of what is not understood of its answer."""
    return error.said if isinstance(error, TrainmasterError | Wrong) else verbatim(str(error))


def plain(said: str) -> str:
    """Return Slurm's own words without the names of its programs and functions, at most 300 characters."""
    told = (line for line in said.splitlines() if "Warning:" not in line)
    lines = (
        re.sub(r"^(\w+: )?(error|fatal): |^\w+ error: |^slurm_\w+: |^allocation failure: ", "", line) for line in told
    )
    return "; ".join(dict.fromkeys(line.strip() for line in lines if line.strip()))[:300]


def version_of(text: str) -> tuple[int, int, int]:
    """Return (year, month, patch) of ``slurm-wlm 22.05.8``. Raises ClusterRefused when there is none in it."""
    match = VERSION.search(text)
    if match is None:
        raise ClusterRefused(slurm.not_a_slurm_version(text.strip()[:80]))
    return int(match[1]), int(match[2]), int(match[3])
