"""What the tasks of several nodes make, change and remove, as it comes to the server."""

import io
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.unit.engines.slurm.pretended import PATIENCE_S, RUN, Site
from trainmaster.engines.base import Note
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.client.parse import JobId
from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.mirror import mirror_growth
from trainmaster.engines.slurm.mirror.mirror_growth import Growth
from trainmaster.engines.slurm.mirror.mirror_trees import Trees
from trainmaster.engines.slurm.mirror.mirrors import AttemptMirrors, left_behind
from trainmaster.engines.slurm.node import mirror as node_side
from trainmaster.engines.slurm.node.mirror_start import BEGIN
from trainmaster.messages import render


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
        return {"got": [[len(data), 3, 5, at] for _, at, _ in more["files"]]}, data * len(more["files"])

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


def test_holes_are_neither_fetched_nor_stored(site: Site) -> None:
    """Four such files would take days on the way, and all of the disk here."""
    site.wait()
    with site.connected():
        site.begun()
        for name, size, written in (
            ("hole", 2 << 40, ()),
            ("some", 2 << 40, (1 << 30, (2 << 40) - 3)),
            ("end", 3 << 20, (2 << 20,)),
        ):
            with (site.tree("model") / name).open("wb") as file:
                for at in written:
                    file.seek(at)
                    file.write(b"abc")
                file.truncate(size)
        site.leave()
    here = site.tree("model", site.data)
    assert {path.name: path.stat().st_size for path in here.iterdir()} == {
        "hole": 2 << 40,
        "some": 2 << 40,
        "end": 3 << 20,
    }
    assert sum(path.stat().st_blocks * 512 for path in here.iterdir()) < 8 << 20
    for name, at in (("some", 1 << 30), ("some", (2 << 40) - 3), ("end", 2 << 20)):
        with (here / name).open("rb") as file:
            file.seek(at - 1)
            assert file.read(4) == b"\0abc"


def left(site: Site, make: Callable[[Path], None]) -> str:
    """Let tasks make something in `outputs` and leave; return why not everything was fetched."""
    site.wait()
    made, failed = site.connect(), []
    thread = threading.Thread(target=lambda: _keep(made.run, failed))
    thread.start()
    try:
        site.begun()
        make(site.tree("outputs"))
        (site.tree("outputs") / "beside").write_text("x")
        site.leave()
        thread.join(PATIENCE_S)
    finally:
        made.close()
        thread.join()
        made.closed()
    assert (site.tree("outputs", site.data) / "beside").read_text() == "x"
    assert (site.root / "fetched").exists() == (site.here / "fetched-0-n1").exists() == (not failed)
    return str(failed[0]) if failed else ""


def _keep(run: Callable[[], None], failed: list[Exception]) -> None:
    try:
        run()
    except Exception as error:
        failed.append(error)


def test_a_name_that_is_no_text_stays_on_the_node(site: Site) -> None:
    why = left(site, lambda there: Path(os.fsdecode(os.fsencode(there) + b"/m\xe9.bin")).touch())
    assert why.startswith("1 of its files and folders could not be fetched; the first is jobs/")
    assert "outputs/m\\udce9.bin: " in why


def test_what_lies_too_deep_stays_on_the_node(site: Site) -> None:
    why = left(site, lambda there: there.joinpath(*"d" * 70).mkdir(parents=True))
    assert "more than 64 parts" in why


def test_what_cannot_be_looked_at_stays_on_the_node(site: Site) -> None:
    """A path that is longer than the system takes, as no right can be missing for root."""

    def make(there: Path) -> None:
        here = os.open(there, os.O_RDONLY)
        for _ in range(20):
            os.mkdir("d" * 250, dir_fd=here)
            here, above = os.open("d" * 250, os.O_RDONLY, dir_fd=here), here
            os.close(above)
        os.close(here)

    assert "File name too long" in left(site, make)


def test_what_cannot_be_read_there_is_told(site: Site) -> None:
    def ask(op: str, **more: Any) -> tuple[dict[str, Any], bytes]:
        if op == "made":
            return {"more": False, "now": 10**18}, json.dumps(entries).encode()
        return {"got": [[0, -1, 0, at] for _, at, _ in more["files"]]}, b""

    for names in (("a",), ("a", "b"), ("a.tfevents.b",)):
        entries = [entry(site, name, "f") for name in names]
        trees = Trees(site.shape, "0-n1", 0, ask, lambda: None)
        trees.collect(final=True)
        with pytest.raises(OSError, match=f"{len(names)} of its files .* it cannot be read there"):
            trees.complete()
    assert below(site.tree("model", site.data)) == set()


def test_links_that_are_left_out_are_told_and_hold_up_nobody(site: Site) -> None:
    def make(there: Path) -> None:
        (there / "ck").mkdir()
        (there / "latest").symlink_to(there / "ck")
        (there / "best").symlink_to("ck")

    assert left(site, make) == ""
    assert below(site.tree("outputs", site.data)) == {"beside", "ck", "best"}
    one = Following("t-1", site.shared, site.work, "t-1", JobId(1), began={"0-n1"})
    (note,) = left_behind(AttemptMirrors(site.shape, {}), one)
    latest = say.link_left_out(f"{site.shape.trees[1]}/latest", say.link_leads_elsewhere())
    assert note == Note("t-1", "left_out", say.links_left_out(1, [latest]))
    why = "a link that leads elsewhere or takes a detour"
    assert render.text(note.said) == f"1 link was left out: {site.shape.trees[1]}/latest ({why})"


def test_a_link_that_became_a_folder_is_one_here(site: Site) -> None:
    here = site.tree("model", site.data)
    (here / "a").mkdir(parents=True)
    (here / "latest").symlink_to("a")
    site.wait()
    with site.connected():
        site.begun()
        latest = site.tree("model") / "latest"
        latest.unlink()
        latest.mkdir()
        (latest / "w").write_text("the model")
        site.leave()
    assert (here / "latest" / "w").read_text() == "the model"
    assert below(here) == {"a", "latest", "latest/w"}


def test_links_that_lead_elsewhere_together_are_not_made(site: Site) -> None:
    """The second goes into what the first leads to, and up from there."""
    depth = len(site.shape.trees[0].split("/")) + 1
    deep = "p/q/r/t/u/v/w/x/d"
    out = f"{deep}/{'../' * (depth + 1)}outside"
    collect(site, 0, entry(site, "y", "d"), entry(site, deep, "l", "../" * 8 + "y"), entry(site, "l", "l", out))
    here = site.tree("model", site.data)
    assert (here / deep).resolve() == here / "y"
    assert not (here / "l").is_symlink()


def test_what_is_written_only_in_part_is_written_to_its_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: real(fd, data[:2], at))
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:2], 0))
    collect(site, 0, entry(site, "a", "f"))
    collect(site, 0, entry(site, "b", "f"), entry(site, "c", "f"))
    here = site.tree("model", site.data)
    assert [(here / name).read_bytes() for name in "abc"] == [b"abc"] * 3
    node = node_side.NodeMirror(str(site.folder), io.BytesIO(), io.BytesIO())
    node.put("whole", 0, b"abcde", mode=0o600, size=5)
    node.put("grows", 0, b"abcde")
    assert [(site.folder / name).read_bytes() for name in ("whole", "grows")] == [b"abcde"] * 2


def test_behind_a_piece_that_came_short_nothing_is_written(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that cannot be read there: what follows is fetched when it can be, and there is no hole."""
    monkeypatch.setattr(mirror_growth, "PIECE", 4)
    bad = True

    def ask(op: str, **more: Any) -> tuple[dict[str, Any], bytes]:
        ((_, at, most),) = more["files"]
        piece = b"" if bad and at == 4 else b"0123456789"[at : at + most]
        return {"got": [[len(piece), 10, 1, at]]}, piece

    growth, log = Growth(site.shape, "0-n1", ask), site.here / "task0-0" / "log"
    growth.fetch({"task0-0/log": 10})
    assert log.read_bytes() == b"0123"
    bad = False
    growth.fetch({"task0-0/log": 10})
    assert log.read_bytes() == b"0123456789"


@pytest.fixture
def ways(tmp_path: Path) -> Path:
    """Folders on the way to a scratch folder."""
    for name, mode in (("open", 0o777), ("group", 0o770), ("sticky", 0o1777), ("own", 0o755)):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name).chmod(mode)
    (tmp_path / "to_own").symlink_to("own")
    (tmp_path / "to_open").symlink_to("own/../open")
    return tmp_path


WAYS: Final = [("open", False), ("group", False), ("to_open", False), ("sticky", True), ("own", True), ("to_own", True)]


@pytest.mark.parametrize(("way", "fine"), WAYS)
def test_a_folder_that_others_can_replace_on_the_way_is_not_used(ways: Path, way: str, fine: bool) -> None:
    scratch = ways / way / "deep" / "er" / "tm"
    words = [sys.executable, "-I", "-S", "-c", BEGIN, str(scratch / "x-1"), RUN, "0", "0", "step"]
    ran = subprocess.run(words, check=False, env={"SLURMD_NODENAME": "n1"}, capture_output=True, text=True, umask=0o002)
    said = (
        "the server did not bring what the job needs"
        if fine
        else "others than this user and root can replace what lies there"
    )
    assert ran.stderr.strip().endswith(said)
    assert ran.returncode == 1
    assert (node_side.squatted(str(scratch)) == "") is fine
