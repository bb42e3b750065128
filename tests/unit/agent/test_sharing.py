"""Files of two users: lists as the kernel keeps them, and what of them programs of the system see."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainmaster.agent.host import sharing

ADA, EVE = 54_321, 54_322


def listed(path: Path) -> list[str]:
    """Return a list as getfacl(1) tells it."""
    program = shutil.which("getfacl")
    assert program is not None, "Debian's acl is not installed"
    told = subprocess.run([program, "-cpnE", str(path)], capture_output=True, text=True, check=True)
    return told.stdout.split()


def test_a_user_is_let_in_and_nobody_else(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch(0o600)
    sharing.grant(str(file), {ADA: 4})
    assert listed(file) == ["user::rw-", f"user:{ADA}:r--", "group::---", "mask::r--", "other::---"]
    assert (sharing.granted(str(file), ADA), sharing.granted(str(file), EVE)) == (4, 0)
    sharing.grant(str(file), {EVE: 6, ADA: 0})
    assert listed(file) == ["user::rw-", f"user:{ADA}:---", f"user:{EVE}:rw-", "group::---", "mask::rw-", "other::---"]


def test_what_is_made_below_is_for_both_when_it_asks_for_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    sharing.bequeath(str(tmp_path), {ADA: 7})
    assert listed(tmp_path) == [
        "user::rwx",
        "group::---",
        "other::---",
        "default:user::rwx",
        f"default:user:{ADA}:rwx",
        "default:group::---",
        "default:mask::rwx",
        "default:other::---",
    ]
    assert sharing.granted(str(tmp_path), ADA) == 0
    os.close(os.open(tmp_path / "both", os.O_CREAT | os.O_WRONLY, sharing.FILE))
    os.close(os.open(tmp_path / "own", os.O_CREAT | os.O_WRONLY, 0o600))
    os.mkdir(tmp_path / "folder", sharing.FOLDER)
    both, own = str(tmp_path / "both"), str(tmp_path / "own")
    assert (sharing.granted(both, ADA), sharing.granted(own, ADA)) == (6, 0)
    assert sharing.granted(str(tmp_path / "folder"), ADA) == 7
    assert {"group::---", "other::---"} <= set(listed(Path(both)))


def test_without_a_list_nobody_is_let_in_by_a_private_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        os.close(os.open(tmp_path / "file", os.O_CREAT | os.O_WRONLY, sharing.FILE))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_what_programs_made_private_is_opened_and_links_are_left_alone(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.touch(0o600)
    (root / "shut").mkdir(parents=True)
    (root / "shut" / "in").touch(0o600)
    (root / "shut").chmod(0o500)
    (root / "link").symlink_to(outside)
    (root / "away").symlink_to(tmp_path)
    os.mkfifo(root / "pipe", 0o600)
    sharing.open_up(str(root), ADA)
    rights = {name: sharing.granted(str(root / name), ADA) for name in ("", "shut", "shut/in")}
    assert rights == {"": 7, "shut": 7, "shut/in": 6}
    assert (sharing.granted(str(outside), ADA), sharing.granted(str(tmp_path), ADA)) == (0, 0)


def test_nobody_is_left_in_but_who_was_let_in(tmp_path: Path) -> None:
    open_to_all, listed_one = tmp_path / "all", tmp_path / "one"
    for path in (open_to_all, listed_one):
        path.mkdir()
        path.chmod(0o755)
    sharing.grant(str(listed_one), {ADA: 5})
    for path in (open_to_all, listed_one):
        sharing.shut(str(path))
    assert stat.S_IMODE(open_to_all.stat().st_mode) == 0o700
    assert listed(listed_one) == ["user::rwx", f"user:{ADA}:r-x", "group::---", "mask::r-x", "other::---"]


def test_all_folders_on_the_way_are_private(tmp_path: Path) -> None:
    sharing.make_private(str(tmp_path / "a" / "b" / "c"))
    sharing.make_private(str(tmp_path / "a" / "b" / "c"))
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/c")]
    assert modes == [0o700] * 3


def test_a_file_system_without_lists_says_so() -> None:
    with pytest.raises(OSError, match="not supported"):
        sharing.grant("/proc/self/status", {ADA: 4})


RIGHTS = st.dictionaries(st.integers(1, 2**32 - 2), st.integers(0, 7), max_size=5)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RIGHTS, RIGHTS, st.integers(0, 0o777))
def test_what_was_granted_is_told_again_and_adds_up(
    tmp_path: Path, one: dict[int, int], two: dict[int, int], mode: int
) -> None:
    path = tmp_path / os.urandom(8).hex()
    path.touch()
    path.chmod(mode | 0o400)
    sharing.grant(str(path), one)
    sharing.grant(str(path), two)
    for user, rights in {**one, **two}.items():
        assert sharing.granted(str(path), user) == rights
    told = dict(entry.rsplit(":", 1) for entry in listed(path))
    others = "".join(sign if mode & bit else "-" for sign, bit in zip("rwx", (4, 2, 1), strict=True))
    assert told["other:"] == others, "nobody gets more than before"
