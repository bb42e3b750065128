"""Which folders of the machine a job may see: what belongs to the system is none, whatever the roots are."""

import os
from pathlib import Path

import pytest

from trainmaster.service.folders.inputs import path_problem

OWN = ("/nowhere/home",)
NOBODY = 65534


def code(path: str, *roots: str) -> str | None:
    found = path_problem(path, "inputs.0.path", OWN, roots)
    return None if found is None else found.code


@pytest.mark.parametrize(
    "path",
    [
        "/proc",
        "/proc/1/root",
        "/proc/self/cwd/x",
        "/sys/kernel",
        "/dev/shm",
        "/dev",
        "/run",
        "/var/run/lock",
        "/x/../proc/1/root",
    ],
)
def test_nothing_of_the_system_can_be_mounted(path: str) -> None:
    assert code(path, "/") == "mount_system"


def test_nor_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc/1/root")
    (tmp_path / "devices").symlink_to("/dev")
    assert code(str(tmp_path / "devices"), str(tmp_path), "/") == "mount_system"
    assert code(str(tmp_path / "link" / "etc"), str(tmp_path)) in ("mount_root", "mount_unreadable")


def test_a_root_beneath_the_systems_folders_is_the_administrators_word() -> None:
    assert code("/dev/shm", "/dev/shm") is None
    assert code("/dev/shm/../null", "/dev/shm") == "mount_system"


def test_a_path_the_server_cannot_read_is_a_problem_and_no_failure(tmp_path: Path) -> None:
    """As for a server that is not root, which may not even read where /proc/1/root leads."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "data").mkdir()
    assert os.geteuid() == 0
    link = "/proc/1/root"
    for folder in (tmp_path, *tmp_path.parents):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    os.symlink(link, tmp_path / "away")
    os.seteuid(NOBODY)
    try:
        assert code(f"{link}/tmp", "/") == "mount_system"
        assert code(str(tmp_path / "away"), "/") == "mount_unreadable"
        assert code(str(closed / "data"), "/") in ("mount_missing", "mount_unreadable")
    finally:
        os.seteuid(0)
