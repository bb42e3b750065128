"""The two ends of a mirror without a cluster: a node that keeps to the rules."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engines.slurm.pretended import RUN, Site, quietly, until
from trainmaster.agent.folder import Folder
from trainmaster.engines.slurm.mirror import mirror, mirror_trees


def test_what_a_node_needs_is_there_before_anything_begins(site: Site) -> None:
    before = site.tree("model", site.data)
    before.mkdir()
    (before / "checkpoint").write_text("of the attempt before")
    site.wait()
    with site.connected():
        site.begun()
        run, package, folder = json.loads((site.root / "ready").read_text())
        assert (run, folder) == (RUN, str(site.there))
        assert Path(package, "x.py").read_text() == "x"
        code = site.root / "uploads" / "abc"
        assert os.access(code / "train.py", os.X_OK)
        assert os.readlink(code / "link") == "train.py"
        assert (site.tree("model") / "checkpoint").read_text() == "of the attempt before"
        assert site.tree("outputs").is_dir()
        work = Folder(folder).work()
        assert work.data == str(site.root)
        assert [mount.source for mount in work.gang.mounts] == [str(code), "/elsewhere"]
        assert (work.settings.package, work.gang.roles) == (package, site.gang.roles)
        site.leave()
    assert (site.root / "fetched").exists()
    assert (site.here / "fetched-0-n1").exists()


def test_another_run_is_told_who_has_it_and_gets_nothing(site: Site) -> None:
    assert site.shared.claim("the first")
    site.wait()
    with site.connected():
        pass
    assert json.loads((site.root / "ready").read_text())[0] == "the first"
    assert not (site.root / "uploads").exists()


def test_a_run_of_a_strange_name_claims_nothing(site: Site) -> None:
    assert site.shared.claim(RUN)
    site.wait("..")
    with site.connected():
        pass
    assert sorted(path.name for path in site.here.iterdir()) == ["orders.jsonl", "run"]


def test_all_goes_on_where_it_was_when_a_connection_breaks(site: Site) -> None:
    site.wait()
    first = site.connect()
    thread = threading.Thread(target=quietly, args=(first.run,))
    thread.start()
    site.begun()
    log, facts = site.there / "task0-0" / "log", site.there / "facts-0-n1.jsonl"
    log.parent.mkdir()
    log.write_bytes(b"one\n")
    facts.write_bytes(b'{"event": "began"}\n{"ev')
    until(lambda: (site.here / "facts-0-n1.jsonl").exists() and (site.here / "facts-0-n1.jsonl").stat().st_size == 23)
    first.close()
    thread.join()
    first.closed()
    log.write_bytes(b"one\ntwo\n")
    facts.write_bytes(b'{"event": "began"}\n{"event": "left"}\n')
    site.shared.order("end", grace_s=1)
    (site.tree("outputs") / "made").write_text("made")
    with site.connected():
        until(lambda: "end" in (site.there / "orders.jsonl").read_text())
        site.leave()
    assert (site.here / "task0-0" / "log").read_bytes() == log.read_bytes()
    assert (site.here / "facts-0-n1.jsonl").read_bytes() == facts.read_bytes()
    assert (site.there / "orders.jsonl").read_bytes() == Path(site.shared.orders).read_bytes()
    assert (site.tree("outputs", site.data) / "made").read_text() == "made"


def test_what_tasks_change_and_remove_is_changed_and_removed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while they run: a checkpoint outlives its node. What is being written waits."""
    monkeypatch.setattr(mirror, "COLLECT_S", 0.1)
    monkeypatch.setattr(mirror_trees, "QUIET_S", 0.5)
    here = site.tree("model", site.data)
    here.mkdir()
    for name in ("kept", "changed", "removed"):
        (here / name).write_text(name)
    site.wait()
    with site.connected():
        site.begun()
        there = site.tree("model")
        (there / "changed").write_text("anew")
        (there / "removed").unlink()
        (there / "deep" / "er").mkdir(parents=True)
        (there / "deep" / "er" / "new").write_bytes(os.urandom(3 << 20))
        (there / "latest").symlink_to("deep/er/new")
        until(lambda: (here / "deep" / "er" / "new").exists() and (here / "changed").read_text() == "anew")
        assert (here / "removed").exists(), "only at the end it is sure"
        (there / "deep" / "er" / "new").rename(there / "moved")
        site.leave()
    assert {str(path.relative_to(here)) for path in here.rglob("*")} == {
        "kept",
        "changed",
        "deep",
        "deep/er",
        "latest",
        "moved",
    }
    assert (here / "moved").read_bytes() == (there / "moved").read_bytes() if there.exists() else True
    assert os.readlink(here / "latest") == "deep/er/new"


def test_orders_do_not_wait_for_what_is_large(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "WAIT_S", 0.0)
    there, heard, asked = site.there / "orders.jsonl", [], mirror_trees.pieces

    def pieces(ask: Any, folder: str, files: Any, holes: bool = False) -> Any:
        if files[0][1] == 1 << 20:  # the second piece
            site.shared.order("end", grace_s=1)
        answer = list(asked(ask, folder, files, holes))  # the node does one thing after the other
        heard.append(there.stat().st_size > 0)
        return answer

    monkeypatch.setattr(mirror_trees, "pieces", pieces)
    site.wait()
    with site.connected():
        site.begun()
        (site.tree("outputs") / "large").write_bytes(os.urandom(4 << 20))
        site.leave()
    assert heard == [False, False, True, True]


def test_of_several_nodes_the_first_has_a_file(site: Site) -> None:
    assert site.shape.giver("a", 1)
    assert site.shape.giver("a", 0)
    assert not site.shape.giver("a", 1)
    assert site.shape.giver("b", 1)
    assert site.shape.twice == {"a"}
