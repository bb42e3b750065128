"""What the batch script runs on a node that shares no folder: it waits for the server at its start and at its end."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.engines.slurm.pretended import PATIENCE_S, RUN, Site, quietly, until
from trainmaster.agent.folder import read
from trainmaster.engines.slurm.attempts.delivery import deliver
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.client.parse import JobId
from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.mirror import mirror
from trainmaster.engines.slurm.mirror.mirror_trees import Shape
from trainmaster.engines.slurm.mirror.mirrors import AttemptMirrors, left_behind
from trainmaster.engines.slurm.node import mirrored
from trainmaster.engines.slurm.node.mirror_start import BEGIN
from trainmaster.engines.slurm.node.survey import REQUEST
from trainmaster.messages import render


@pytest.fixture
def looked(site: Site) -> Site:
    """A node that looks at itself, with our real package."""
    asked = json.dumps({"word": "w", "sandbox": "none", "environment": ""})
    site.shape = Shape(
        site.shared, str(site.data), site.shape.base, REQUEST, lambda root: asked, (deliver(str(site.data)),)
    )
    return site


@contextlib.contextmanager
def waiter(site: Site, patience_s: float) -> Iterator["subprocess.Popen[str]"]:
    """Be what srun starts on the node."""
    words = [site.python, "-I", "-S", "-c", BEGIN, site.shape.base, RUN, "0", str(patience_s), "survey"]
    env = {"SLURMD_NODENAME": "n1", "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def told(site: Site) -> list[str]:
    return [fact["event"] for fact in read(site.shared.facts("0-n1"))[0]]


def test_a_run_begins_when_all_is_there_and_leaves_when_all_was_fetched(looked: Site) -> None:
    with waiter(looked, PATIENCE_S) as process:
        with looked.connected():
            until(lambda: told(looked) == ["survey"])
            looked.shared.order("answer", word="x")
        assert process.wait(PATIENCE_S) == 0
    assert told(looked) == ["survey", "answered"]
    assert not looked.root.exists()


def test_a_run_for_which_nobody_brings_anything_ends(looked: Site) -> None:
    with waiter(looked, 0.1) as process:
        said = process.communicate(timeout=PATIENCE_S)[1]
    assert (process.returncode, said) == (1, "the server did not bring what the job needs\n")


def test_a_run_that_is_not_the_first_of_its_attempt_does_nothing(looked: Site) -> None:
    assert looked.shared.claim("another")
    with waiter(looked, PATIENCE_S) as process:
        with looked.connected():
            pass
        said = process.communicate(timeout=PATIENCE_S)[1]
    assert (process.returncode, said) == (0, "this attempt was started before: nothing is done\n")


class Clock:
    """The time of whoever waits; `passes` is called with how often it has passed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, passes: Callable[[int], None]) -> None:
        self.now, self.count, self.passes = 0.0, 0, passes
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.count += 1
        self.passes(self.count)


def touch(root: Path, at: int) -> None:
    (root / "heard").touch()
    os.utime(root / "heard", ns=(at, at))


def test_who_has_left_waits_for_as_long_as_the_server_gets_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"

    def passes(count: int) -> None:
        if count == 3:
            root.mkdir()  # before that nothing could be written
        elif 3 < count <= 200:
            touch(root, count)

    with monkeypatch.context() as patch:
        clock = Clock(patch, passes)
        assert not mirrored.fetched(str(root), 1.0)
    assert 201 < clock.count < 220
    assert (root / "left").exists()
    (root / "fetched").touch()
    assert mirrored.fetched(str(root), 0.0)


def test_who_begins_waits_for_as_long_as_the_server_gets_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "own" / "b-0-n1"
    root.mkdir(parents=True, mode=0o700)
    root.parent.chmod(0o700)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["-c", str(tmp_path / "own" / "b"), RUN, "0", "1.0", "survey"])
        patch.setenv("SLURMD_NODENAME", "n1")
        clock = Clock(patch, lambda count: touch(root, count) if count <= 200 else None)
        with pytest.raises(SystemExit, match="did not bring"):
            exec(BEGIN, {})
    assert 201 < clock.count < 240


def test_only_what_is_further_than_ever_is_progress(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "HEARD_S", 0.0)
    site.wait()
    with site.connected() as made:
        site.begun()
        assert (site.root / "heard").exists(), "something was brought"
        brought = made._progress.at
        touch(site.root, 1)
        (site.tree("outputs") / "made").write_text("made")
        site.leave()
    assert made._progress.at > brought
    assert (site.root / "heard").stat().st_mtime_ns > 1
    for again in (4, 3):
        assert not made._progress.reached("get", f"{site.shape.trees[1]}/made", again)
    assert made._progress.reached("get", f"{site.shape.trees[1]}/made", 5)


def test_what_nobody_fetches_is_kept_and_people_are_told(looked: Site) -> None:
    looked.shared.order("answer", word="x")
    with waiter(looked, 5.0) as process:
        first = looked.connect()
        thread = threading.Thread(target=quietly, args=(first.run,))
        thread.start()
        looked.begun()
        first.close()
        thread.join()
        first.closed()
        said = process.communicate(timeout=PATIENCE_S)[1]
    assert (process.returncode, said) == (0, f"the server has not fetched everything: it is kept in {looked.root}\n")
    assert (looked.there / "facts-0-n1.jsonl").stat().st_size
    one = Following("t-1", looked.shared, looked.work, "t-1", JobId(1))
    (note,) = left_behind(AttemptMirrors(looked.shape, {}), one)
    assert (note.code, note.said) == (
        "not_fetched",
        say.not_all_fetched(["n1"], f"{looked.shape.base}-*", say.nobody_asked_for_it()),
    )
    assert render.text(note.said) == (
        "Some files that the job wrote on n1 were not fetched; "
        f"they are kept there, in {looked.shape.base}-* (no server asked for them)"
    )
