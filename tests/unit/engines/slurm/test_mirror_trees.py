"""What the tasks of several nodes make, change and remove, as it comes to the server."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engines.slurm.test_mirror import Site
from trainmaster.engines.slurm.mirror_trees import Trees


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def below(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def entry(site: Site, path: str, kind: str, target: str = "") -> list[Any]:
    """Return what a node tells of `path` in `model`; each file is the three bytes of `collect`."""
    size, mtime, mode = (3, 5, 0o644) if kind == "f" else (0, 0, 0)
    return [f"{site.shape.trees[0]}/{path}", kind, size, mtime, mode, target]


def collect(site: Site, order: int, *entries: Sequence[Any], data: bytes = b"abc") -> Trees:
    """Fetch at the end from the `order`-th node, which tells these entries and has `data` in each file."""

    def ask(op: str, **more: Any) -> tuple[dict[str, Any], bytes]:
        if op == "made":
            return {"more": False, "now": 10**18}, json.dumps(entries).encode()
        return {"got": [[len(data), 3, 5] for _ in more["files"]]}, data * len(more["files"])

    trees = Trees(site.shape, f"0-n{order + 1}", order, ask, lambda: None)
    trees.collect(final=True)
    return trees


def restarted(site: Site) -> None:
    """Be a new server."""
    site.shape = replace(site.shape, givers=None)


def test_a_folder_that_was_removed_stays_removed(site: Site) -> None:
    here = site.tree("model", site.data)
    (here / "checkpoint-9" / "shards").mkdir(parents=True)
    (here / "checkpoint-9" / "shards" / "w").write_text("w")
    site.wait()
    with site.connected():
        site.begun()
        shutil.rmtree(site.tree("model") / "checkpoint-9")
        site.leave()
    assert below(here) == set()


@pytest.mark.parametrize("new_server", [False, True])
def test_what_one_node_removes_is_not_taken_from_another(site: Site, new_server: bool) -> None:
    here = site.tree("model", site.data)
    here.mkdir()
    (here / "brought").write_text("w")
    collect(site, 0, entry(site, "ck", "d"), entry(site, "ck/w", "f"), entry(site, "ck/l", "l", "w"))
    if new_server:
        restarted(site)
    gone = ("own", "ck/w", "ck/l", "ck", "brought")
    collect(site, 1, entry(site, "own", "f"))
    collect(site, 1, *(entry(site, path, "") for path in gone))
    assert below(here) == {"ck", "ck/w", "ck/l"}
    collect(site, 0, *(entry(site, path, "") for path in gone))
    assert below(here) == set()


def test_who_gave_a_file_that_is_here_already_is_known_as_well(site: Site) -> None:
    collect(site, 0, entry(site, "w", "f"))
    (site.here / "givers").unlink()
    restarted(site)
    collect(site, 0, entry(site, "w", "f"))
    collect(site, 1, entry(site, "w", ""))
    assert below(site.tree("model", site.data)) == {"w"}


def test_who_was_killed_while_a_giver_was_written_down_harms_nobody(site: Site) -> None:
    collect(site, 0, entry(site, "w", "f"))
    with open(site.here / "givers", "a") as file:
        file.write('["jobs/')
    for path in ("x", "y"):
        restarted(site)
        collect(site, 0, entry(site, path, "f"))
    restarted(site)
    collect(site, 1, *(entry(site, path, "") for path in "wxy"))
    assert below(site.tree("model", site.data)) == {"w", "x", "y"}


def test_a_file_does_not_replace_a_folder_of_another_node(site: Site) -> None:
    here = site.tree("model", site.data)
    collect(site, 0, entry(site, "ck", "d"), entry(site, "ck/w", "f"))
    collect(site, 1, entry(site, "ck", "f"))
    collect(site, 1, entry(site, "ck", "l", "x"))
    assert below(here) == {"ck", "ck/w"}
    collect(site, 0, entry(site, "ck", "f"))
    assert (here / "ck").read_bytes() == b"abc"


def test_a_list_that_was_not_written_to_its_end_ends_nothing(site: Site) -> None:
    """The node was killed while it wrote what it has told: the next mirror there goes on."""
    site.wait()
    with site.connected():
        site.begun()
        (site.tree("outputs") / "made").write_text("x")
        with open(site.root / "known", "a") as file:
            file.write('["jobs/x/outp')
        site.leave()
    assert (site.tree("outputs", site.data) / "made").read_text() == "x"


def test_a_node_whose_disk_is_full_can_be_fetched_from(site: Site) -> None:
    """Nothing can be appended to the list of what was told."""
    site.wait()
    with site.connected():
        site.begun()
        (site.tree("outputs") / "made").write_text("x")
        (site.root / "known").unlink()
        (site.root / "known").symlink_to(site.root / "nowhere" / "known")
        site.leave()
    assert (site.tree("outputs", site.data) / "made").read_text() == "x"
