"""The agent's pure rules: what is cut from a log, what an exit code means, what a sandbox is given."""

import errno
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.fixtures.gangs import gang
from trainmaster.agent.host.cgroups import Cgroups, Limits, own_paths
from trainmaster.agent.measuring import logcap, samples
from trainmaster.agent.sandbox import sandbox
from trainmaster.agent.settings import Cards, Settings, settings_from_json
from trainmaster.agent.starting import spawn
from trainmaster.agent.supervising import judge
from trainmaster.agent.tasks.ending import status_lines
from trainmaster.agent.tasks.prepare import prepare
from trainmaster.core.folders.layout import Layout

MIB = 1 << 20


@given(size=some.integers(0, 1 << 40), limit=some.integers(MIB, 1 << 34), done=some.integers(0, 1 << 40))
def test_a_cut_never_touches_head_or_tail(size: int, limit: int, done: int) -> None:
    cut = logcap.cut_of(size, limit, done)
    if cut is not None:
        start, length = cut
        assert start >= limit // 4 // 4096 * 4096
        assert start >= done
        assert start + length <= size - limit // 2
        assert length >= limit // 8


@given(size=some.integers(0, 1 << 36), limit=some.integers(MIB, 1 << 30))
def test_a_log_is_never_longer_than_its_limit(size: int, limit: int) -> None:
    head = limit // 4 // 4096 * 4096
    cut = logcap.cut_of(size, limit, head)
    kept = size - (cut[1] if cut else 0)
    assert kept <= limit


@pytest.mark.parametrize(
    ("code", "signum", "means"),
    [
        (0, None, (0, None)),
        (1, None, (1, None)),
        (128, None, (128, None)),
        (137, None, (None, 9)),
        (143, None, (None, 15)),
        (255, None, (255, None)),
        (None, 9, (None, 9)),
    ],
)
def test_exit_codes_above_128_of_a_sandbox_are_signals(
    code: int | None, signum: int | None, means: tuple[int | None, int | None]
) -> None:
    assert judge.of_sandbox(code, signum) == means
    assert signal.NSIG <= 127


def test_the_evidence_is_whole_lines_of_readable_text(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"early line\n" * 1000 + b"\xff\xfe bad bytes\n" + b"\0" * 10 + b"Traceback: boom\n")
    found = judge.tail(str(log))
    assert found.endswith("Traceback: boom")
    assert found.startswith("early line\n")
    assert len(found) <= judge.EVIDENCE_BYTES
    assert judge.tail(str(tmp_path / "none")) == ""


def test_the_evidence_has_a_progress_bar_as_it_was_drawn_last(tmp_path: Path) -> None:
    """tqdm draws a line over and over; what it wrote over is no evidence, and must not push out what came before."""
    log = tmp_path / "log"
    bar = "".join(f"\r{done:3}%|{'#' * (done // 2):50}| {done}/100 [loss=0.5]" for done in range(101))
    log.write_text(f"Loading data\n{bar}\nValueError: boom\r\n")
    found = judge.tail(str(log)).splitlines()
    assert [found[0], found[-1], len(found)] == ["Loading data", "ValueError: boom", 3]
    assert found[1].startswith("100%|###")
    assert "\r" not in judge.tail(str(log))


def test_bubblewraps_status_is_read_only_when_whole(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text('{ "child-pid": 123, "ipc-namespace": 4 }\n{ "exit-code": 1')
    assert status_lines(str(status)) == {"child-pid": 123}
    status.write_text('{ "child-pid": 123, "ipc-namespace": 4 }\n{ "exit-code": 17 }\n')
    assert status_lines(str(status)) == {"child-pid": 123, "exit-code": 17}
    assert status_lines(str(tmp_path / "none")) == {}


def test_trouble_of_the_platform_is_not_the_fault_of_the_job() -> None:
    assert spawn.refusal(OSError(errno.ENOSPC, "No space left on device"), "x").code == spawn.NOT_NOW
    for trouble in (errno.EAGAIN, errno.EMFILE, errno.EIO, errno.EROFS):
        assert spawn.refusal(OSError(trouble, "trouble"), "x").code == spawn.NOT_NOW
    assert spawn.refusal(OSError(errno.E2BIG, "Argument list too long"), "x").code == "launch_failed"


def test_settings_survive_the_wire() -> None:
    settings = Settings(bwrap="/usr/bin/bwrap", cards={"n": Cards(False, ("GPU-1",), (("/dev/nvidia0",),))})
    assert settings_from_json(settings.to_json()) == settings


def test_a_real_card_is_named_by_its_uuid_and_only_its_device_is_shown(tmp_path: Path) -> None:
    cards = {"node-1": Cards(False, ("GPU-a", "GPU-b"), (("/dev/nvidia0",), ("/dev/nvidia1",)))}
    settings = Settings(bwrap="/usr/bin/bwrap", environment="/usr", package="/usr/lib/x", cards=cards)
    (task,) = prepare(gang(gpus=1).role("w", 1, "true").build(), Layout(str(tmp_path)), settings)
    assert task.env["CUDA_VISIBLE_DEVICES"] == "GPU-a"
    assert "/dev/nvidia0" in task.options
    assert "/dev/nvidia1" not in task.options


def test_slices_of_one_card_are_shown_with_all_their_files_and_no_other_slice(tmp_path: Path) -> None:
    files = tuple(("/dev/nvidia0", f"/dev/nvidia-caps/nvidia-cap{number}") for number in (12, 21, 30))
    cards = {"node-1": Cards(False, ("MIG-a", "MIG-b", "MIG-c"), files)}
    settings = Settings(bwrap="/usr/bin/bwrap", environment="/usr", package="/usr/lib/x", cards=cards)
    (task,) = prepare(gang(gpus=2).role("w", 1, "true").build(), Layout(str(tmp_path)), settings)
    assert task.env["CUDA_VISIBLE_DEVICES"] == "MIG-a,MIG-b"
    shown = [one for one in task.options if one.startswith("/dev/nvidia") and one.rstrip("0123456789") != one]
    assert shown == [
        one
        for file in ("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap21")
        for one in (file, file)
    ]


def test_a_jobs_variable_cannot_replace_the_platforms(tmp_path: Path) -> None:
    env = (("TRAINMASTER_TASK", "forged"), ("MINE", "kept"))
    (task,) = prepare(gang(env=env).role("w", 1, "true").build(), Layout(str(tmp_path)), Settings(environment="/usr"))
    assert task.env["TRAINMASTER_TASK"].endswith("-1/task0-0")
    assert task.env["MINE"] == "kept"


def test_a_virtual_environment_shows_its_base_interpreter_too(tmp_path: Path) -> None:
    base, venv = tmp_path / "private" / "python", tmp_path / "venv"
    (base / "bin").mkdir(parents=True)
    (base / "bin" / "python3").touch()
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python3").symlink_to(base / "bin" / "python3")
    (venv / "pyvenv.cfg").write_text(f"home = {base}/bin\nversion = 3\n")
    found = sandbox.environment(str(venv), "/elsewhere")
    assert set(found.folders) == {str(venv), str(base)}
    assert str(tmp_path / "private") not in found.folders
    assert found.package == "/elsewhere"


def test_small_folders_are_removed_at_once_and_large_ones_left(tmp_path: Path) -> None:
    for name, count in (("small", 3), ("large", 100)):
        (tmp_path / name / "in").mkdir(parents=True)
        for number in range(count):
            (tmp_path / name / "in" / str(number)).touch()
        spawn.remove_small(str(tmp_path / name))
    assert os.listdir(tmp_path) == ["large"]


def test_counters_do_not_fall_when_a_process_ends() -> None:
    totals = samples.Totals()
    assert totals.add({1: (1.0, 10.0, 0.0), 2: (2.0, 0.0, 5.0)}) == (3.0, 10.0, 5.0)
    assert totals.add({1: (1.5, 10.0, 0.0)}) == (3.5, 10.0, 5.0)


def _version_2(root: Path, controllers: str) -> None:
    (root / "cgroup.controllers").write_text(controllers)
    for name in ("cgroup.subtree_control", "cgroup.procs"):
        (root / name).touch()
    ours = root / Cgroups("/home/x", root=str(root / "nowhere"), own="0::/\n").base
    ours.mkdir()
    (ours / "cgroup.subtree_control").touch()


def test_version_2_is_used_where_its_controllers_are(tmp_path: Path) -> None:
    _version_2(tmp_path, "cpuset cpu io memory pids")
    groups = Cgroups("/home/x", root=str(tmp_path), own="0::/\n")
    assert groups.version == 2
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_version_2_without_controllers_is_refused_in_words(tmp_path: Path) -> None:
    _version_2(tmp_path, "")
    groups = Cgroups("/home/x", root=str(tmp_path), own="0::/\n")
    assert groups.version == 0
    assert groups.why is not None
    assert groups.why.code == "no_control_groups"


def test_own_paths_reads_both_versions() -> None:
    assert own_paths("4:memory:/a\n2:cpu,cpuacct:/b\n0::/c\n") == {
        "memory": "/a",
        "cpu": "/b",
        "cpuacct": "/b",
        "": "/c",
    }


def test_a_group_limits_memory_and_processes_and_is_used_again() -> None:
    """Version 1 or 2, whatever this machine has; where neither is writable the agent says so."""
    groups = Cgroups(f"/home/test-{os.getpid()}")
    if not groups.version:
        assert groups.why
        return
    first = groups.take(Limits(64, 10, 0.5))
    assert groups.members(first) == []
    groups.give(first)
    assert groups.take(Limits(64, 10, 0.5)) is first
    for folder in first.folders.values():
        os.rmdir(folder)
    groups.give(first)
    assert groups.take(Limits(64, 10, 0.5)) is not first  # somebody removed it: another one is made
    groups.close()
    groups.sweep(set())
    groups.close()
    assert not any(os.path.exists(parent) for parent in groups.parents.values())
