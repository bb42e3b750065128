"""Version 2 of control groups under a real kernel: a group that hands controllers down holds no process itself (B13).

Where version 1 holds memory, pids and cpu, the unified hierarchy has others left, for which the kernel's rule is the
same.
"""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainmaster.agent.host.cgroups import LEAF

OTHERS = ("memory", "io", "hugetlb", "rdma", "misc")
"""Controllers under which the rule holds."""
AGENT = textwrap.dedent("""
    import json, os, sys
    from trainmaster.agent.host.cgroups import Cgroups
    group, root, own, controller = sys.argv[1:]
    with open(group + "/cgroup.procs", "w") as file:
        file.write("0")
    groups = Cgroups("/home/story", root, own, (controller,))
    if groups.version == 2:
        groups.leave()
    with open("/proc/self/cgroup") as file:
        ended_in = next(line.strip() for line in file if line.startswith("0::"))
    print(json.dumps([groups.version, groups.why and groups.why.to_json(), groups.parents, ended_in]))
""")


@pytest.fixture
def unit() -> Iterator[tuple[Path, Path, str]]:
    """A group as a service manager delegates it, the root of its hierarchy, and a controller that it may hand down."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    root = Path(next(at for _, at, kind, *_ in mounts if kind == "cgroup2"))
    have, handed = ((root / name).read_text().split() for name in ("cgroup.controllers", "cgroup.subtree_control"))
    controller = next(name for name in OTHERS if name in have)
    if controller not in handed:
        (root / "cgroup.subtree_control").write_text(f"+{controller}")
    unit = root / f"story-{os.getpid()}.service"
    unit.mkdir()
    yield unit, root, controller
    for folder, _, _ in sorted(os.walk(unit), reverse=True):
        os.rmdir(folder)
    if controller not in handed:
        (root / "cgroup.subtree_control").write_text(f"-{controller}")


def start(group: Path, root: Path, controller: str) -> list[object]:
    """Start an agent in `group`; return version, detail and parents of its groups, and where it is then."""
    own = f"0::/{group.relative_to(root)}\n"
    words = [sys.executable, "-c", AGENT, str(group), str(root), own, controller]
    found: list[object] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found


def test_the_leaf_of_a_unit_lets_it_hand_its_controllers_down(unit: tuple[Path, Path, str]) -> None:
    """And the next start, with groups of jobs still there, is put into the leaf as the first was."""
    group, root, controller = unit
    (group / LEAF).mkdir()
    for _ in range(2):
        version, _, parents, ended_in = start(group / LEAF, root, controller)
        assert version == 2
        assert isinstance(parents, dict)
        assert Path(parents[""]).parent == group
        assert controller in Path(parents[""], "cgroup.subtree_control").read_text()
        assert ended_in == f"0::/{group.name}/{LEAF}"


def test_a_unit_that_holds_the_server_itself_is_left_as_it_is_and_says_so(unit: tuple[Path, Path, str]) -> None:
    """Moved out of it, its controllers handed down, no service manager could start the server there again while jobs
    run.
    """
    group, root, controller = unit
    version, detail, _, ended_in = start(group, root, controller)
    assert version == 0
    assert f"DelegateSubgroup={LEAF}" in str(detail)
    assert ended_in == f"0::/{group.name}"
    (group / LEAF).mkdir()
    start(group / LEAF, root, controller)
    with pytest.raises(OSError, match="busy"):
        (group / "cgroup.procs").write_text(str(os.getpid()))
