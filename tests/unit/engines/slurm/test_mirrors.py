"""One mirror beside others, and what the script and the settings say of them."""

import asyncio
import os
import shlex
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.gangs import gang
from tests.unit.engines.slurm.pretended import PATIENCE_S, Site, quietly
from trainmaster.core.config import LimitsConfig
from trainmaster.core.errors import ProblemList, StorageFailed
from trainmaster.core.launch import Mount
from trainmaster.core.records import Job, Policy
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.client.commands import Access
from trainmaster.engines.slurm.client.parse import JobId
from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.mirror.mirror_trees import Shape
from trainmaster.engines.slurm.mirror.mirror_writing import Failed, Trespass, sound
from trainmaster.engines.slurm.mirror.mirrors import MirrorKeeper, Mirrors, conclude, moved, why_ended
from trainmaster.engines.slurm.node import mirror as node_side
from trainmaster.engines.slurm.node.mirror_start import BEGIN
from trainmaster.engines.slurm.script import (
    AttemptPlace,
    BatchMember,
    Terms,
    batch,
    script,
    script_alone,
    script_together,
)
from trainmaster.engines.slurm.wrong import Wrong
from trainmaster.messages.said import Said, verbatim
from trainmaster.service.control.saving import Saving
from trainmaster.service.settings import parse


def test_a_keeper_is_ended_while_it_connects() -> None:
    """Nobody waits for that, and the connection does not go on."""
    connecting, gate, ran = threading.Event(), threading.Event(), []

    class Connection:
        closing = False

        def run(self) -> None:
            ran.append(self.closing)
            raise EOFError

        def close(self) -> None:
            self.closing = True

        closed = close

        def last_words(self) -> str:
            return ""

    def connect() -> Any:
        connecting.set()
        assert gate.wait(PATIENCE_S)
        return Connection()

    keeper = MirrorKeeper("0-n1", connect)
    keeper.start()
    assert connecting.wait(PATIENCE_S)
    ending = threading.Thread(target=keeper.end)
    ending.start()
    ending.join(PATIENCE_S / 2)
    blocked = ending.is_alive()
    gate.set()
    keeper.join(PATIENCE_S)
    assert (blocked, keeper.is_alive(), ran) == (False, False, [True])
    assert keeper.said == say.connection_ended()


@pytest.mark.parametrize(
    ("error", "printed", "said"),
    [
        (EOFError(), "srun: error: Unable to create step", verbatim("srun: error: Unable to create step")),
        (EOFError(), "", say.connection_ended()),
        (TimeoutError("timed out"), "", verbatim("timed out")),
        (Failed(say.failed_on_node("No space left on device")), "", say.failed_on_node("No space left on device")),
        (Trespass(say.too_many_to_fetch(7)), "", say.too_many_to_fetch(7)),
        (Wrong(say.answer_does_not_fit()), "", say.answer_does_not_fit()),
        (KeyError("stands"), "", say.node_not_understood("KeyError('stands')")),
    ],
)
def test_why_a_connection_ended_is_said(error: Exception, printed: str, said: Said) -> None:
    assert why_ended(error, printed) == said


def test_what_fails_with_one_attempt_concerns_no_other(honest: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mirrors(Access("", ""), "python3", str(honest.scratch), lambda note: None)
    begun: list[str] = []

    def keeper(of: Shape, one: Following, part: str, order: int) -> Any:
        if one.attempt == "t-1":
            raise RuntimeError("can't start new thread")
        begun.append(part)

    monkeypatch.setattr(made, "_keeper", keeper)
    about = [Following(f"t-{number}", honest.shared, honest.work, "t", JobId(1), own=1) for number in (1, 2)]
    for one in about:
        one.parts = {"x-n1": 0, "0-n1": 0}
    made.tend(about)
    assert begun == ["0-n1"]


def test_an_attempt_has_got_further_when_one_of_its_parts_has(honest: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mirrors(Access("", ""), "python3", str(honest.scratch), lambda note: None)
    one = Following("t-1", honest.shared, honest.work, "t", JobId(1), own=1, parts={"0-n1": 0, "0-n2": 0})
    monkeypatch.setattr(MirrorKeeper, "start", lambda keeper: keeper.progress.reached("get", keeper.part, 1))
    assert made.progressed(one) == 0.0
    before = time.monotonic()
    made.tend([one])
    assert made.progressed(one) >= before


def test_what_is_not_here_whole_is_not_saved(honest: Site) -> None:
    """Until all of it was fetched after all. Where nothing was written and nothing is to be saved nobody minds."""
    incomplete = honest.layout.incomplete(honest.job, 1)
    honest.wait()
    first = honest.connect()
    thread = threading.Thread(target=quietly, args=(first.run,))
    thread.start()
    honest.begun()
    first.close()
    thread.join()
    first.closed()
    conclude(honest.shared, incomplete)
    none: Any = None
    saving = Saving(honest.layout, LimitsConfig(), none, none, none, time.time, os.urandom, none)
    policy = Policy(save_model=True)
    job = Job(honest.job, "n", "o", honest.gang.roles, "spec", 0.0, attempts_used=1, policy=policy)
    with pytest.raises(StorageFailed, match="Not all output"):
        asyncio.run(saving.save(job))
    kept_alone = replace(job, policy=replace(policy, save_model=False))
    assert asyncio.run(saving.save(kept_alone))[0]["model"] is None
    with honest.connected():
        honest.leave()
    conclude(honest.shared, incomplete)
    assert asyncio.run(saving.save(job))[0]["model"] is None


def test_the_script_is_the_same_for_whatever_a_user_writes_and_ends_in_the_nodes_folder() -> None:
    made = gang(node="").role("w", 2, "true").build()
    place = AttemptPlace("/server/data/jobs/x", "/server/data/agent/p", scratch="/var/tmp/tm", patience_s=600.0)
    text = script(made, Terms("batch"), place)
    assert "/server" not in text
    assert "#SBATCH --output=/dev/null" in text.splitlines()
    assert f"folder=/var/tmp/tm/{made.job}-1" in text.splitlines()
    words = shlex.split(text[text.index("exec srun") :])
    assert words[-6:] == [BEGIN, "$folder", "$run", "0", "600.0", "step"]
    assert subprocess.run(["sh", "-n"], input=text, text=True, check=True).returncode == 0
    of = batch(made, Terms("batch"), place)
    members = [BatchMember(f"{made.job}-{number}", "/server/data/jobs/x") for number in (1, 2)]
    both = script_together(of, "a" + "0" * 32, members)
    assert "/server" not in both
    assert f"1) folder=/var/tmp/tm/{made.job}-2 ;;" in both.splitlines()
    assert subprocess.run(["sh", "-n"], input=both, text=True, check=True).returncode == 0
    for bad in ("/var/tmp/t m", "/var/$x", "relative", "/a'b"):
        with pytest.raises(ValueError):
            script_alone(of._replace(scratch=bad), members[0])


def test_a_path_that_only_begins_alike_stays_as_it_is(honest: Site) -> None:
    beside = replace(honest.work, gang=replace(honest.gang, mounts=(Mount(f"{honest.data}-2/x", "/dataset"),)))
    assert moved(beside, str(honest.data), "/r").gang.mounts[0].source == f"{honest.data}-2/x"


@pytest.mark.parametrize(
    ("path", "fine"), [("a/b", True), ("a//b", False), ("", False), ("../a", False), ("a/.", False), ("a\0", False)]
)
def test_paths(path: str, fine: bool) -> None:
    assert sound(path) is fine


def test_somebody_elses_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path)
    assert node_side.squatted(str(tmp_path / "new")) == ""
    assert node_side.squatted(str(tmp_path / "open")).endswith("others than this user can write there")
    assert node_side.squatted(str(tmp_path / "link")).endswith("others than this user can write there")


def test_who_runs_as_the_owner_needs_a_shared_folder() -> None:
    problems = ProblemList()
    parse({"engines": [{"name": "c", "kind": "slurm", "scratch": "/var/tmp/tm", "run_as": "owner"}]}, problems)
    assert [problem.path for problem in problems.problems] == ["engines.0.scratch"]
