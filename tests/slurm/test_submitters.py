"""kill -9 of the server while it submits, again and again: one submitter works at a time, so every attempt comes to
Slurm once.
"""

import json
import os
import random
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.slurm.bed import PATH, Bed, until
from tests.slurm.served import POOL, Served, job
from trainmaster.agent.host import procs

pytestmark = pytest.mark.timeout(300)
KILLS: Final = 5
GATED: Final = """#!/bin/sh
# An sbatch that has its input, and speaks to the controller when it may.
given=$(cat)
[ -n "$given" ] || exit 0
touch {folder}/given-$$
until [ -e {folder}/go ]; do sleep 0.05; done
printf '%s\\n' "$given" | {sbatch} "$@"
code=$?
mv {folder}/given-$$ {folder}/done-$$
exit $code
"""


class Gated(Served):
    """A server whose sbatch can be held back."""

    def __init__(self, bed: Bed) -> None:
        self.programs = Path(tempfile.mkdtemp(prefix="programs-", dir=bed.folder))
        for name in ("scancel", "scontrol", "squeue", "sinfo"):
            (self.programs / name).symlink_to(str(shutil.which(name, path=PATH)))
        sbatch = self.programs / "sbatch"
        sbatch.write_text(GATED.format(folder=self.programs, sbatch=shutil.which("sbatch", path=PATH)))
        sbatch.chmod(0o755)
        super().__init__(
            bed, Path(tempfile.mkdtemp(prefix="served-", dir=bed.folder)), {"programs": str(self.programs)}
        )

    def given(self) -> list[Path]:
        """Return what stands for the programs that have their input and have not ended. Who took too long was
        killed.
        """
        return [path for path in self.programs.glob("given-*") if Path("/proc", path.name.partition("-")[2]).exists()]

    def until_given(self, least: int) -> None:
        """Wait until so many have their input."""
        until(lambda: len(self.given()) >= least, "given")

    def close_gate(self) -> None:
        """Let what is submitted from now on wait."""
        (self.programs / "go").unlink(missing_ok=True)

    def submitter(self) -> int:
        """Return a pidfd of the process that submits for the server."""
        assert self._process is not None
        below = procs.children(self._process.pid)
        (pid,) = [pid for pid in below if b"attempts.submitter" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        return os.pidfd_open(pid)

    def open_gate(self) -> None:
        """Let all of it come to Slurm."""
        (self.programs / "go").touch()


@pytest.fixture
def served(bed: Bed) -> Iterator[Gated]:
    made = Gated(bed)
    bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=DOWN")
    yield made
    bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=UP")
    made.open_gate()
    made.end()


def known(served: Served, job_id: str) -> tuple[str, int | None, int]:
    """Return how an attempt is called by Slurm, as it was written down: name, element, id."""
    given, taken = map(json.loads, (served.attempt(job_id) / "slurm.jsonl").read_text().splitlines())
    return given["name"], given["element"], taken["job"]


def in_slurm(bed: Bed) -> list[tuple[str, int | None, int]]:
    """Return the same of all that Slurm knows of ours."""
    lines = bed.ask("squeue", "-h", "-r", "-t", "all", "-o", "%j %K %F").split("\n")
    told: list[Any] = [line.split() for line in lines if line.startswith("tm-")]
    return [(name[3:], None if element == "N/A" else int(element), int(number)) for name, element, number in told]


def test_each_is_submitted_once_and_none_is_lost(served: Gated) -> None:
    """The next server has begun its work before what the one before has begun comes to Slurm."""
    bed, chance, jobs = served.bed, random.Random(1), []
    for kill in range(KILLS):
        served.close_gate()
        jobs += [served.submit(job(f"once-{kill}-{number}", "true")) for number in range(4)]
        served.until_given(kill % 3)
        served.kill_server()
        served.spawn()
        served.view()
        time.sleep(chance.uniform(0.0, 0.5))  # anywhere in the work of the next one
        served.open_gate()
    for one in jobs:
        assert served.state(one, "pending")["attempts"] == 1
    until(lambda: not served.given(), "all that was given has come to Slurm")
    assert sorted(map(str, in_slurm(bed))) == sorted(str(known(served, one)) for one in jobs)
    bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=UP")
    assert {served.ended(one)["state"] for one in jobs} == {"succeeded"}


@pytest.mark.parametrize("killed", [False, True])
def test_what_is_stopped_while_an_earlier_submitter_is_at_it_does_not_stay_in_the_queue(
    served: Gated, killed: bool
) -> None:
    """`killed`: that submitter as well, and only its sbatch lives."""
    served.close_gate()
    one = served.submit(job("stopped", "true"))
    until(served.given, "given")
    served.stop(one)
    submitter = served.submitter()
    served.kill_server()
    if killed:
        signal.pidfd_send_signal(submitter, signal.SIGKILL)
        assert select.select([submitter], [], [], 20.0)[0]
    os.close(submitter)
    served.spawn()
    until(lambda: "waits for the submitter" in served.said(), "the next one waits for its turn")
    assert served.view(one)["state"] == "stopping", "who knows what Slurm has of it"
    served.open_gate()
    assert served.ended(one)["state"] == "stopped"
    assert served.given() == []
    assert served.bed.ask("squeue", "-h", "-o", "%i").split() == []
