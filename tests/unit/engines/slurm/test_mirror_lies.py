"""A mirror whose node lies: it gets nothing but the end of its own connection."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.unit.engines.slurm.pretended import PATIENCE_S, RUN, Site
from trainmaster.engines.slurm.mirror import mirror, mirror_growth
from trainmaster.engines.slurm.mirror.mirror import Mirror

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


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


NAMES: Final = (
    "step.json", "orders.jsonl", "run", "closed", "slurm.jsonl", "fetched-0-n2", "facts-0-n2.jsonl", "facts-1-n1.jsonl",
    "beat-0-n2", "../2/facts-0-n1.jsonl", "/etc/x", "task0-2/log", "task1-0/log", "task0-0/../../x",
    "task0-0/metrics/../../../x", "task0-0/metrics", "task0-0/metrics//x", "task0-0/metrics/a\0b", "task0-0/gate",
    "task0-0/tmp/x", "task0-0/metrics/" + "x" * 300, ".mirror-0-n1",
)  # fmt: skip


def test_names_that_are_not_its_own_are_not_written(honest: Site) -> None:
    before = files(honest.folder)
    sizes = dict.fromkeys(NAMES, 3)
    state = [{"sizes": sizes, "stands": STANDS, "beat": 0}, ""]
    lie(honest, state=state, made=[{"more": False, "now": 0}, "[]"], get=[{"got": []}, ""])
    assert files(honest.folder) - before - {"liar", "liar.py"} == {f"data/{honest.shape.folder}/fetched-0-n1"}


ENTRIES: Final = (
    ("{tree}/../../../../outside", "f", 3, 1, 0o644, ""),
    ("../outside", "f", 3, 1, 0o644, ""),
    ("/etc/x", "f", 3, 1, 0o644, ""),
    ("{tree}/a\0b", "f", 3, 1, 0o644, ""),
    ("{tree}", "f", 3, 1, 0o644, ""),
    ("{tree}/..", "d", 0, 0, 0, ""),
    ("{tree}/x", "p", 0, 0, 0, ""),
    ("{tree}/abs", "l", 0, 0, 0, "/etc/passwd"),
    ("{tree}/up", "l", 0, 0, 0, "../../../outside"),
    ("{tree}/self", "l", 0, 0, 0, "."),
    ("{tree}/../x", "", 0, 0, 0, ""),
    ("{tree}/" + "d/" * 70 + "x", "d", 0, 0, 0, ""),
)


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
            get=[{"got": [[3, 3, 1, 0]]}, "bad"],
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
    with pytest.raises(OSError, match="'out' is not a folder here"):
        lie(
            honest,
            state=state,
            made=[{"more": False, "now": 0}, json.dumps(entries)],
            get=[{"got": [[3, 3, 1, 0]]}, "bad"],
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
            "get": [{"got": [[9, 9, 9, 0]]}, "short"],
        },
        {
            "state": [{"sizes": {"slurm.log": 3}, "stands": STANDS, "beat": 0}, ""],
            "get": [{"got": [[9, 9, 9, 0]]}, "too long!"],
        },
        {
            "state": [{"sizes": {"slurm.log": 9}, "stands": STANDS, "beat": 0}, ""],
            "get": [{"got": [[3, 9, 9, 6]]}, "sat"],
        },
        {"state": [{"sizes": {"slurm.log": 3}, "stands": STANDS, "beat": 0}, ""], "get": [{"got": []}, ""]},
    ],
)
def test_what_is_no_answer_ends_the_connection_and_nothing_else(honest: Site, answers: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        lie(honest, **answers)
    assert not (honest.here / "fetched-0-n1").exists()


def test_a_log_far_beyond_its_limit_is_not_fetched_any_further(honest: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_growth, "PIECE", 1 << 20)
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
        (log.parent / "log.cuts").write_text('{"offset": 4096, "length": 2097152}\n{"offset": "x"}\n')
        log.write_bytes(b"x" * (3 << 20))  # after its cuts: it is fetched at any moment
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
        cuts = ({"offset": head + number * cut, "length": cut} for number in range(count))
        (log.parent / "log.cuts").write_text("".join(json.dumps(one) + "\n" for one in cuts))
        with log.open("wb") as file:  # after its cuts: it is fetched at any moment
            file.write(b"h" * head)
            file.seek(head + count * cut)
            file.write(tail)
        honest.leave()
    here = honest.here / "task0-0" / "log"
    is_whole = here.read_bytes() == b"h" * head + bytes(count * cut) + tail
    assert is_whole  # ten megabytes need not be shown
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
    monkeypatch.setattr(mirror_growth, "MOST_NAMES", 1000)
    state = [{"sizes": dict.fromkeys((f"x{number}" for number in range(500)), 1), "stands": STANDS, "beat": 0}, ""]
    with pytest.raises(ValueError, match="500 files"):
        lie(honest, state=state, made=[{"more": False, "now": 0}, "[]"])


def test_what_srun_says_without_end_is_not_kept(honest: Site) -> None:
    """The first of it is."""
    text = "import os\nfor _ in range(64):\n try: os.write(2, b'x' * (1 << 16))\n except OSError: pass"
    made = Mirror(honest.shape, "0-n1", 0, [sys.executable, "-c", text], {"PATH": "/usr/bin:/bin"})
    try:
        made.process.wait(PATIENCE_S)
        assert made.last_words().startswith("xxxx")
        assert os.fstat(made._said).st_size == mirror.MOST_SAID
    finally:
        made.closed()
