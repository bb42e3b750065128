"""The two ends of a mirror without a cluster: a node that keeps to the rules, one that lies, and what the script says."""

import asyncio
import contextlib
import json
import os
import shlex
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.gangs import gang
from tests.fixtures.pythons import OLD
from trainmaster.agent import mirror as node_side
from trainmaster.agent import mirrored
from trainmaster.agent.folder import Folder, Work, read
from trainmaster.agent.settings import Settings
from trainmaster.agent.survey import REQUEST
from trainmaster.core.errors import ProblemList, StorageFailed
from trainmaster.core.launch import Mount
from trainmaster.core.layout import Layout
from trainmaster.core.records import Job, Policy
from trainmaster.engines.slurm import mirror, mirror_trees
from trainmaster.engines.slurm.commands import Access
from trainmaster.engines.slurm.delivery import deliver
from trainmaster.engines.slurm.following import Following
from trainmaster.engines.slurm.mirror import Mirror
from trainmaster.engines.slurm.mirror_disk import sound
from trainmaster.engines.slurm.mirror_trees import Shape
from trainmaster.engines.slurm.mirrors import Keeper, Kept, Mirrors, conclude, left_behind, moved, shape
from trainmaster.engines.slurm.parse import JobId
from trainmaster.engines.slurm.script import Member, Place, Terms, alone, batch, script, together
from trainmaster.service.saving import Saving
from trainmaster.service.settings import parse

PATIENCE_S: Final = 30.0
RUN: Final = str(uuid.UUID(int=1))
PYTHONS: Final = [sys.executable, *([OLD] if OLD else [])]


def until(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < give_up, "nothing happened"
        time.sleep(0.02)  # files of another process


@dataclass
class Site:
    """A server's data folder and a node's scratch folder; no srun is between them."""

    folder: Path
    python: str = sys.executable

    def __post_init__(self) -> None:
        self.data, self.scratch = self.folder / "data", self.folder / "scratch"
        self.data.mkdir()
        made = gang(node="").role("w", 2, "true").build()
        self.layout, self.job = Layout("", str(self.data)), made.job
        code, package = self.data / "uploads" / "abc", self.data / "agent" / "p"
        for path in (code, package):
            path.mkdir(parents=True)
        (code / "train.py").write_text("print()")
        (code / "train.py").chmod(0o755)
        (code / "link").symlink_to("train.py")
        (package / "x.py").write_text("x")
        self.gang = replace(made, placement=(), mounts=(Mount(str(code), "/code"), Mount("/elsewhere", "/dataset")))
        self.work = Work(self.gang, Settings(package=str(package)), str(self.data), (((0, 0), (0, 1)),))
        self.shared = Folder(self.layout.attempt(made.job, made.attempt))
        os.makedirs(self.shared.path)
        Path(self.shared.orders).touch()
        self.shape = shape(f"{made.job}-1", self.shared, self.work, str(self.scratch))
        self.root = Path(f"{self.shape.base}-0-n1")

    @property
    def there(self) -> Path:
        """The attempt's folder on the node."""
        return self.root / self.shape.folder

    @property
    def here(self) -> Path:
        """The attempt's folder."""
        return Path(self.shared.path)

    def tree(self, name: str, of: Path | None = None) -> Path:
        """Return the folder `model` or `outputs` of the job, on the node unless it is `of` the server."""
        return (of or self.root) / os.path.relpath(self.layout.job(self.job), self.data) / name

    def wait(self, run: str = RUN) -> None:
        """Be a run that waits on the node."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.root / f"wants-{run}").touch()

    def connect(self, part: str = "0-n1", order: int = 0) -> Mirror:
        return Mirror(self.shape, part, order, [self.python], {"PATH": "/usr/bin:/bin"})

    @contextlib.contextmanager
    def connected(self) -> Iterator[Mirror]:
        """Run a mirror beside; it must have come to its end by itself."""
        made, failed = self.connect(), []

        def run() -> None:
            try:
                made.run()
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield made
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
            assert failed == [], made.words()
        finally:
            made.close()
            thread.join()
            made.closed()

    def begun(self) -> None:
        until((self.root / "ready").exists)

    def leave(self) -> None:
        (self.root / "left").touch()


@pytest.fixture(params=PYTHONS)
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return Site(tmp_path, request.param)


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
    thread = threading.Thread(target=_quiet, args=(first.run,))
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


def _quiet(run: Callable[[], None]) -> None:
    with contextlib.suppress(Exception):
        run()


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

    def pieces(ask: Any, folder: str, files: Any) -> Any:
        if files[0][1] == 1 << 20:  # the second piece
            site.shared.order("end", grace_s=1)
        answer = list(asked(ask, folder, files))  # the node does one thing after the other
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


# --------------------------------------------------------------------------------------- what the batch script runs there


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
    words = [site.python, "-I", "-S", "-c", node_side.BEGIN, site.shape.base, RUN, "0", str(patience_s), "survey"]
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
            exec(node_side.BEGIN, {})
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
        thread = threading.Thread(target=_quiet, args=(first.run,))
        thread.start()
        looked.begun()
        first.close()
        thread.join()
        first.closed()
        said = process.communicate(timeout=PATIENCE_S)[1]
    assert (process.returncode, said) == (0, f"the server has not fetched everything: it is kept in {looked.root}\n")
    assert (looked.there / "facts-0-n1.jsonl").stat().st_size
    one = Following("t-1", looked.shared, looked.work, "t-1", JobId(1))
    (note,) = left_behind(Kept(looked.shape, {}), one)
    assert note.message == (
        f"Not everything that its tasks wrote on n1 was fetched: it is kept there, in {looked.shape.base}-* (nobody asked for it)"
    )


# ----------------------------------------------------------------------------------------------------- a node that lies

LIAR: Final = """
import json, struct, sys
def read(n): return sys.stdin.buffer.read(n)
read(int.from_bytes(read(4), "big"))
answers = json.loads(sys.argv[-1])
while True:
    lengths = read(8)
    if len(lengths) < 8: break
    head, body = struct.unpack(">II", lengths)
    op = json.loads(read(head))["op"]; read(body)
    if op in ("put", "link", "folder"): continue
    said, text = answers[op]
    data, text = json.dumps(said).encode(), text.encode()
    sys.stdout.buffer.write(struct.pack(">II", len(data), len(text)) + data + text); sys.stdout.buffer.flush()
    if op == "fetched": break
"""
STANDS: Final = [[RUN], True, True, False]
FINE: Final = {"sync": [{"trouble": ""}, ""], "ready": [{"trouble": ""}, ""], "fetched": [{"trouble": ""}, ""]}


class Liar(Mirror):
    """A connection with a node that answers whatever it wants."""

    def __init__(self, site: Site, **answers: Any) -> None:
        self.words_there = json.dumps({**FINE, **answers})
        wrapper = site.folder / "liar"
        wrapper.write_text(f"#!/bin/sh\nexec {sys.executable} {site.folder}/liar.py {shlex.quote(self.words_there)}\n")
        wrapper.chmod(0o755)
        (site.folder / "liar.py").write_text(LIAR)
        super().__init__(site.shape, "0-n1", 0, [str(wrapper)], {"PATH": "/usr/bin:/bin"})


def lie(site: Site, **answers: Any) -> None:
    """Let a node answer so, to the end."""
    made = Liar(site, **answers)
    try:
        made.run()
    finally:
        made.closed()


@pytest.fixture
def honest(tmp_path: Path) -> Site:
    (tmp_path / "outside").write_text("mine")
    return Site(tmp_path)


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


NAMES: Final = (
    "step.json", "orders.jsonl", "run", "closed", "slurm.jsonl", "fetched-0-n2", "facts-0-n2.jsonl", "facts-1-n1.jsonl", "beat-0-n2",
    "../2/facts-0-n1.jsonl", "/etc/x", "task0-2/log", "task1-0/log", "task0-0/../../x", "task0-0/metrics/../../../x", "task0-0/metrics",
    "task0-0/metrics//x", "task0-0/metrics/a\0b", "task0-0/gate", "task0-0/tmp/x", "task0-0/metrics/" + "x" * 300, ".mirror-0-n1",
)  # fmt: skip


def test_names_that_are_not_its_own_are_not_written(honest: Site) -> None:
    before = files(honest.folder)
    sizes = dict.fromkeys(NAMES, 3)
    state = [{"sizes": sizes, "stands": STANDS, "beat": 0}, ""]
    lie(honest, state=state, made=[{"more": False, "now": 0}, "[]"], get=[{"got": []}, ""])
    assert files(honest.folder) - before - {"liar", "liar.py"} == {f"data/{honest.shape.folder}/fetched-0-n1"}


ENTRIES: Final = (
    ("{tree}/../../../../outside", "f", 3, 1, 0o644, ""), ("../outside", "f", 3, 1, 0o644, ""), ("/etc/x", "f", 3, 1, 0o644, ""),
    ("{tree}/a\0b", "f", 3, 1, 0o644, ""), ("{tree}", "f", 3, 1, 0o644, ""), ("{tree}/..", "d", 0, 0, 0, ""),
    ("{tree}/x", "p", 0, 0, 0, ""),
    ("{tree}/abs", "l", 0, 0, 0, "/etc/passwd"), ("{tree}/up", "l", 0, 0, 0, "../../../outside"), ("{tree}/self", "l", 0, 0, 0, "."),
    ("{tree}/../x", "", 0, 0, 0, ""), ("{tree}/" + "d/" * 70 + "x", "d", 0, 0, 0, ""),
)  # fmt: skip


def test_entries_that_lead_elsewhere_are_not_made(honest: Site) -> None:
    tree = honest.shape.trees[1]
    entries = [[path.format(tree=tree), *more] for path, *more in ENTRIES]
    before = files(honest.folder)
    state = [{"sizes": {}, "stands": STANDS, "beat": 0}, ""]
    with pytest.raises(OSError, match="8 of its files and folders could not be fetched"):
        lie(
            honest,
            state=state,
            made=[{"more": False, "now": 0}, json.dumps(entries)],
            get=[{"got": [[3, 3, 1]]}, "bad"],
        )
    assert files(honest.folder) - before - {"liar", "liar.py"} == set()
    assert (honest.folder / "outside").read_text() == "mine"


def test_no_link_that_lies_here_is_followed(honest: Site) -> None:
    outputs = honest.tree("outputs", honest.data)
    outputs.mkdir()
    (outputs / "out").symlink_to(honest.folder)
    (honest.here / "task0-0").mkdir()
    (honest.here / "task0-0" / "log").symlink_to(honest.folder / "outside")
    entries = [[f"{honest.shape.trees[1]}/out/outside", "f", 3, 1, 0o644, ""]]
    state = [{"sizes": {}, "stands": STANDS, "beat": 0}, ""]
    with pytest.raises(OSError, match="'out' is no folder here"):
        lie(
            honest,
            state=state,
            made=[{"more": False, "now": 0}, json.dumps(entries)],
            get=[{"got": [[3, 3, 1]]}, "bad"],
        )
    with pytest.raises(OSError):
        lie(
            honest,
            state=[{"sizes": {"task0-0/log": 9}, "stands": STANDS, "beat": 0}, ""],
        )
    assert (honest.folder / "outside").read_text() == "mine"


@pytest.mark.parametrize(
    "answers",
    [
        {"state": [[], ""]},
        {"state": [{"sizes": 3, "stands": STANDS, "beat": 0}, ""]},
        {"state": [{"sizes": {}, "stands": STANDS, "beat": 0}, ""], "made": [{"more": True, "now": 0}, "[3]"]},
        {
            "state": [{"sizes": {"slurm.log": 9}, "stands": STANDS, "beat": 0}, ""],
            "get": [{"got": [[9, 9, 9]]}, "short"],
        },
        {
            "state": [{"sizes": {"slurm.log": 3}, "stands": STANDS, "beat": 0}, ""],
            "get": [{"got": [[9, 9, 9]]}, "too long!"],
        },
        {"state": [{"sizes": {"slurm.log": 3}, "stands": STANDS, "beat": 0}, ""], "get": [{"got": []}, ""]},
    ],
)
def test_what_is_no_answer_ends_the_connection_and_nothing_else(honest: Site, answers: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        lie(honest, **answers)
    assert not (honest.here / "fetched-0-n1").exists()


def test_a_log_far_beyond_its_limit_is_not_fetched_any_further(honest: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "PIECE", 1 << 20)
    honest.shape.log_mib = 1
    honest.wait()
    with honest.connected():
        honest.begun()
        log = honest.there / "task0-0" / "log"
        log.parent.mkdir()
        log.write_bytes(b"x" * (8 << 20))
        honest.leave()
    assert 2 << 20 < (honest.here / "task0-0" / "log").stat().st_size <= 4 << 20


def test_what_its_node_has_cut_of_a_log_is_cut_here(honest: Site) -> None:
    honest.wait()
    with honest.connected():
        honest.begun()
        log = honest.there / "task0-0" / "log"
        log.parent.mkdir()
        log.write_bytes(b"x" * (3 << 20))
        (log.parent / "log.cuts").write_text('{"offset": 4096, "length": 2097152}\n{"offset": "x"}\n')
        honest.leave()
    here = honest.here / "task0-0" / "log"
    assert here.stat().st_size == 3 << 20
    assert here.read_bytes() == b"x" * 4096 + bytes(2 << 20) + b"x" * ((1 << 20) - 4096)


def test_cuts_that_touch_are_one_and_the_end_of_the_log_is_there(honest: Site) -> None:
    honest.shape.log_mib = 1
    head, cut, count, tail = 256 << 10, 128 << 10, 64, b"t" * (768 << 10)
    honest.wait()
    with honest.connected():
        honest.begun()
        log = honest.there / "task0-0" / "log"
        log.parent.mkdir()
        with log.open("wb") as file:
            file.write(b"h" * head)
            file.seek(head + count * cut)
            file.write(tail)
        cuts = ({"offset": head + number * cut, "length": cut} for number in range(count))
        (log.parent / "log.cuts").write_text("".join(json.dumps(one) + "\n" for one in cuts))
        honest.leave()
    here = honest.here / "task0-0" / "log"
    assert here.read_bytes() == b"h" * head + bytes(count * cut) + tail
    assert here.stat().st_blocks * 512 <= 2 << 20


def test_a_list_of_cuts_has_an_end(honest: Site) -> None:
    honest.wait()
    with honest.connected():
        honest.begun()
        cuts = honest.there / "task0-0" / "log.cuts"
        cuts.parent.mkdir()
        cuts.write_bytes(b"x" * (8 << 20))
        honest.leave()
    assert (honest.here / "task0-0" / "log.cuts").stat().st_size <= 2 << 20


def test_names_without_end_end_the_connection(honest: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "MOST_NAMES", 1000)
    state = [{"sizes": dict.fromkeys((f"x{number}" for number in range(500)), 1), "stands": STANDS, "beat": 0}, ""]
    with pytest.raises(ValueError, match="500 files"):
        lie(honest, state=state, made=[{"more": False, "now": 0}, "[]"])


def test_what_srun_says_without_end_is_not_kept(honest: Site) -> None:
    """The first of it is."""
    text = "import os\nfor _ in range(64):\n try: os.write(2, b'x' * (1 << 16))\n except OSError: pass"
    made = Mirror(honest.shape, "0-n1", 0, [sys.executable, "-c", text], {"PATH": "/usr/bin:/bin"})
    try:
        made.process.wait(PATIENCE_S)
        assert made.words().startswith("xxxx")
        assert os.fstat(made._said).st_size == mirror.MOST_SAID
    finally:
        made.closed()


# ----------------------------------------------------------------------------------------------------- one beside others


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

        def words(self) -> str:
            return ""

    def connect() -> Any:
        connecting.set()
        assert gate.wait(PATIENCE_S)
        return Connection()

    keeper = Keeper("0-n1", connect)
    keeper.start()
    assert connecting.wait(PATIENCE_S)
    ending = threading.Thread(target=keeper.end)
    ending.start()
    ending.join(PATIENCE_S / 2)
    blocked = ending.is_alive()
    gate.set()
    keeper.join(PATIENCE_S)
    assert (blocked, keeper.is_alive(), ran) == (False, False, [True])


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
    monkeypatch.setattr(Keeper, "start", lambda keeper: keeper.progress.reached("get", keeper.part, 1))
    assert made.progressed(one) == 0.0
    before = time.monotonic()
    made.tend([one])
    assert made.progressed(one) >= before


def test_what_is_not_here_whole_is_not_saved(honest: Site) -> None:
    """Until all of it was fetched after all. Where nothing was written and nothing is to be saved nobody minds."""
    incomplete = honest.layout.incomplete(honest.job, 1)
    honest.wait()
    first = honest.connect()
    thread = threading.Thread(target=_quiet, args=(first.run,))
    thread.start()
    honest.begun()
    first.close()
    thread.join()
    first.closed()
    conclude(honest.shared, incomplete)
    none: Any = None
    saving = Saving(honest.layout, none, none, none, time.time, os.urandom)
    policy = Policy(save_model=True)
    job = Job(honest.job, "n", "o", honest.gang.roles, "spec", 0.0, attempts_used=1, policy=policy)
    with pytest.raises(StorageFailed, match="Not everything"):
        asyncio.run(saving.save(job))
    kept_alone = replace(job, policy=replace(policy, save_model=False))
    assert asyncio.run(saving.save(kept_alone))["model"] is None
    with honest.connected():
        honest.leave()
    conclude(honest.shared, incomplete)
    assert asyncio.run(saving.save(job))["model"] is None


# ------------------------------------------------------------------------------------------------------ script, settings


def test_the_script_is_the_same_for_whatever_a_user_writes_and_ends_in_the_nodes_folder() -> None:
    made = gang(node="").role("w", 2, "true").build()
    place = Place("/server/data/jobs/x", "/server/data/agent/p", scratch="/var/tmp/tm", patience_s=600.0)
    text = script(made, Terms("batch"), place)
    assert "/server" not in text
    assert "#SBATCH --output=/dev/null" in text.splitlines()
    assert f"folder=/var/tmp/tm/{made.job}-1" in text.splitlines()
    words = shlex.split(text[text.index("exec srun") :])
    assert words[-6:] == [node_side.BEGIN, "$folder", "$run", "0", "600.0", "step"]
    assert subprocess.run(["sh", "-n"], input=text, text=True, check=True).returncode == 0
    of = batch(made, Terms("batch"), place)
    members = [Member(f"{made.job}-{number}", "/server/data/jobs/x") for number in (1, 2)]
    both = together(of, "a" + "0" * 32, members)
    assert "/server" not in both
    assert f"1) folder=/var/tmp/tm/{made.job}-2 ;;" in both.splitlines()
    assert subprocess.run(["sh", "-n"], input=both, text=True, check=True).returncode == 0
    for bad in ("/var/tmp/t m", "/var/$x", "relative", "/a'b"):
        with pytest.raises(ValueError):
            alone(of._replace(scratch=bad), members[0])


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
