"""Uploads of data sets on the disk: nothing is left of one that the disk refused, each content is kept once, and what
nobody needs goes (R28, R60).
"""

import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainmaster.core.errors import Conflict, NotFound, StorageFailed
from trainmaster.core.folders.layout import Layout
from trainmaster.core.formats.frames import frame
from trainmaster.storage.datasets import arriving, building
from trainmaster.storage.datasets.arriving import Arrival, DatasetPlan
from trainmaster.storage.datasets.listing import judged


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(str(tmp_path))
    Path(made.datasets).mkdir()
    return made


def begun(layout: Layout, number: int, files: Mapping[str, bytes], **more: Any) -> Arrival:
    listed = [{"path": path, "size": len(one), "sha256": sha(one), **more} for path, one in files.items()]
    plan = DatasetPlan(f"u{number:032x}", "ann", "flowers", "default", 1.0, judged(listed, 0).entries)
    return arriving.begin(layout, plan, {})


def built(layout: Layout, number: int, files: Mapping[str, bytes], **more: Any) -> str:
    arrival = begun(layout, number, files, **more)
    contents = {one for one in files.values() if sha(one) in arrival.missing}
    arrival.take_batch(b"".join(frame(sha(one), one) for one in contents))
    place = building.build(layout, arrival)
    arrival.discard()
    return place


def full(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["batch", "piece", "build"])
def test_of_an_upload_that_the_disk_refuses_nothing_is_left(
    layout: Layout, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrival = begun(layout, 1, {"a": b"aaaa"})
    if step == "build":
        arrival.take_batch(frame(sha(b"aaaa"), b"aaaa"))
    monkeypatch.setattr(os, "rename", full)
    monkeypatch.setattr(os, "pwrite", full)
    monkeypatch.setattr(os, "link", full)
    with pytest.raises(StorageFailed):  # noqa: PT012 - one of three
        if step == "batch":
            arrival.take_batch(frame(sha(b"aaaa"), b"aaaa"))
        elif step == "piece":
            with arrival.piece(sha(b"aaaa"), 0) as piece:
                piece.write(b"aaaa")
        else:
            building.build(layout, arrival)
    monkeypatch.undo()
    assert os.listdir(arriving.uploads_folder(layout)) == []
    assert [name for name in os.listdir(layout.datasets) if not name.startswith(".")] == []
    assert not arrival.touch()
    with pytest.raises(NotFound):
        arriving.load(layout, arrival.plan.id)


def test_what_the_disk_could_never_hold_is_refused_before_it_begins(layout: Layout) -> None:
    plan = DatasetPlan("u" + "0" * 32, "ann", "x", "default", 1.0, judged([
        {"path": "a", "size": 2**52, "sha256": "1" * 64}
    ], 0).entries)  # fmt: skip
    with pytest.raises(StorageFailed):
        arriving.begin(layout, plan, {})
    assert os.listdir(arriving.uploads_folder(layout)) == []


def test_a_content_is_kept_once_and_once_more_as_what_can_be_executed(layout: Layout) -> None:
    """Nothing can be written, and what was built is built once."""
    one, two = built(layout, 1, {"a": b"x", "d/b": b"x"}), built(layout, 2, {"run": b"x"}, executable=True)
    paths = [Path(layout.version_files(place), name) for place, name in ((one, "a"), (one, "d/b"), (two, "run"))]
    assert [path.read_bytes() for path in paths] == [b"x"] * 3
    inodes = [path.stat().st_ino for path in paths]
    assert inodes[0] == inodes[1] != inodes[2]
    assert [path.stat().st_mode & 0o777 for path in (*paths, paths[1].parent)] == [0o444, 0o444, 0o555, 0o555]
    manifest = building.manifest_of(layout, one)
    assert manifest is not None
    assert [entry.path for entry in manifest.files] == ["a", "d/b"]
    arrival = begun(layout, 3, {"a": b"y"})
    with pytest.raises(Conflict):
        building.build(layout, arrival)


def test_a_file_with_as_many_links_as_it_may_have_is_copied(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """65,000 on ext4: then the content is kept anew, and the versions before keep theirs."""
    real, most = os.link, 3

    def link(source: str, target: str, **more: Any) -> None:
        if os.stat(source).st_nlink >= most:
            raise OSError(errno.EMLINK, "Too many links")
        real(source, target, **more)

    monkeypatch.setattr(os, "link", link)
    place = built(layout, 1, {f"{number}": b"x" for number in range(9)})
    files = [Path(layout.version_files(place), f"{number}") for number in range(9)]
    assert [path.read_bytes() for path in files] == [b"x"] * 9
    assert len({path.stat().st_ino for path in files}) > 1


def test_the_sweep_takes_what_nobody_needs_and_nothing_else(layout: Layout) -> None:
    kept, gone = built(layout, 1, {"a": b"a", "b": b"b"}), built(layout, 2, {"b": b"b", "c": b"c"})
    waits = begun(layout, 3, {"a": b"a", "new": b"new"})
    now = Path(layout.bulk, gone).stat().st_mtime
    for _ in building.sweep(layout, {kept}, now - 10):
        pass
    assert Path(layout.bulk, gone).exists()
    assert waits.touch()
    building.remove_version(layout, gone)
    for _ in building.sweep(layout, {kept}, now + 10):
        pass
    assert [Path(layout.version_files(kept), name).read_bytes() for name in ("a", "b")] == [b"a", b"b"]
    left = sorted(path.name for path in Path(building.contents_folder(layout)).glob("*/*"))
    assert left == sorted([sha(b"a"), sha(b"b")])
    assert os.listdir(arriving.uploads_folder(layout)) == []
    assert sorted(os.listdir(layout.datasets)) == sorted([".contents", ".uploads", os.path.basename(kept)])
