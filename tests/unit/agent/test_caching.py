"""The cache of a node (R187): one copy of each content, whole or not there, never removed under whoever reads it."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.fixtures.small_disk import small_disk
from trainmaster.agent.caching import filling
from trainmaster.agent.caching.cache import NodeCache, root_of
from trainmaster.agent.caching.filling import CacheLimits, Filled, NotCached, WantedCopy, bring, sweep
from trainmaster.agent.caching.showing import at_copies, give_back, with_copies
from trainmaster.agent.settings import Settings
from trainmaster.core.launch import Gang, Mount
from trainmaster.messages import render

PATIENCE_S: Final = 60.0
KIB: Final = 1 << 10
MIB: Final = 1 << 20


def nothing() -> None:
    """Go on."""


@pytest.fixture
def cache(tmp_path: Path) -> NodeCache:
    made = NodeCache(str(tmp_path / "fast"))
    made.open()
    return made


def tree(folder: Path, size: int = 3 * MIB) -> Path:
    """Return a version of something: files of several modes, a link, an empty folder."""
    (folder / "train" / "empty").mkdir(parents=True)
    (folder / "labels.txt").write_bytes(b"daisy\n")
    (folder / "train" / "large").write_bytes(os.urandom(size))
    (folder / "run.sh").write_bytes(b"#!/bin/sh\n")
    (folder / "latest").symlink_to("labels.txt")
    for name, mode in (("labels.txt", 0o444), ("train/large", 0o440), ("run.sh", 0o555)):
        os.chmod(folder / name, mode)
    return folder


def brought(cache: NodeCache, source: Path, key: str = "a", limits: CacheLimits | None = None) -> Filled:
    """Bring a copy, and hold it no longer."""
    filled = Filled()
    os.close(bring(cache, WantedCopy(key, str(source), "/dataset"), limits or CacheLimits(), nothing, filled))
    return filled


def refused(cache: NodeCache, source: Path, limits: CacheLimits, go_on: Callable[[], None] = nothing) -> str:
    """Return why there is no copy."""
    with pytest.raises(NotCached) as why:
        bring(cache, WantedCopy("new", str(source), "/dataset"), limits, go_on, Filled())
    assert cache.whole("new") is None
    assert "new" not in cache.listed(), "something half was left"
    assert render.text(why.value.said, "zh")
    return render.text(why.value.said)


def copy_of(cache: NodeCache, key: str = "a") -> Path:
    return Path(cache.path(key, "files"))


def test_a_copy_is_what_it_is_a_copy_of_and_only_its_owner_reaches_it(cache: NodeCache, tmp_path: Path) -> None:
    source = tree(tmp_path / "version")
    filled = brought(cache, source)
    assert (filled.done_bytes, filled.all_bytes) == (3 * MIB + 16, 3 * MIB + 16)
    copy = copy_of(cache)
    for path in sorted(source.rglob("*")):
        there, here = os.lstat(path), os.lstat(copy / path.relative_to(source))
        assert (there.st_mode & 0o170555, there.st_size if path.is_file() else 0) == (
            here.st_mode & 0o170555,
            here.st_size if path.is_file() else 0,
        )
        if path.is_file() and not path.is_symlink():
            assert path.read_bytes() == (copy / path.relative_to(source)).read_bytes()
            assert (there.st_mtime_ns, here.st_mode & 0o222) == (here.st_mtime_ns, 0)
    assert os.readlink(copy / "latest") == "labels.txt"
    assert sorted(p.relative_to(copy) for p in copy.rglob("*")) == sorted(
        p.relative_to(source) for p in source.rglob("*")
    )
    assert os.stat(cache.root).st_mode & 0o777 == 0o700


def test_who_comes_later_has_the_same_copy(cache: NodeCache, tmp_path: Path) -> None:
    source = tree(tmp_path / "version")
    brought(cache, source)
    before = os.stat(copy_of(cache)).st_ino
    assert brought(cache, source).done_bytes == 0
    assert os.stat(copy_of(cache)).st_ino == before


def test_two_at_the_same_moment_make_it_once(cache: NodeCache, tmp_path: Path) -> None:
    source, fills = tree(tmp_path / "version"), [Filled(), Filled()]
    wanted, held = WantedCopy("a", str(source), "/dataset"), []

    def work(mine: Filled, other: Filled) -> None:
        def go_on() -> None:  # who copies goes on once the other one has come upon it
            limit = time.monotonic() + PATIENCE_S
            while mine.done_bytes and not other.waits and not other.done_bytes and time.monotonic() < limit:
                time.sleep(0.001)

        held.append(bring(cache, wanted, CacheLimits(), go_on, mine))

    threads = [threading.Thread(target=work, args=pair) for pair in (fills, fills[::-1])]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(filled.done_bytes for filled in fills) == [0, 3 * MIB + 16]
    assert len(held) == 2
    for fd in held:
        os.close(fd)


def test_nothing_is_left_of_a_copy_that_nobody_wants_any_more(cache: NodeCache, tmp_path: Path) -> None:
    source, filled = tree(tmp_path / "version", 3 * filling.BLOCK), Filled()

    class Enough(Exception):
        """Somebody stopped the job."""

    def go_on() -> None:
        if filled.done_bytes >= filling.BLOCK:
            raise Enough

    with pytest.raises(Enough):
        bring(cache, WantedCopy("a", str(source), "/dataset"), CacheLimits(), go_on, filled)
    assert filled.done_bytes < 3 * filling.BLOCK, "it was stopped within a file"
    assert cache.listed() == []


def test_what_changes_while_it_is_copied_is_not_cached(cache: NodeCache, tmp_path: Path) -> None:
    source = tree(tmp_path / "version")
    grown: list[int] = []

    def go_on() -> None:
        if os.path.exists(cache.path("new", "part", "train", "large")) and not grown:
            grown.append(1)
            with open(source / "train" / "large", "ab") as file:
                file.write(b"more")

    assert "changed while it was copied" in refused(cache, source, CacheLimits(), go_on)
    assert grown


def test_what_is_neither_file_nor_folder_nor_link_is_not_cached(cache: NodeCache, tmp_path: Path) -> None:
    source = tree(tmp_path / "version")
    os.mkfifo(source / "pipe")
    assert "kind that is not copied" in refused(cache, source, CacheLimits())


KILLED: Final = """
import os, sys, time
from trainmaster.agent.caching.cache import NodeCache
from trainmaster.agent.caching.filling import CacheLimits, Filled, WantedCopy, bring
filled = Filled()
def go_on():
    if filled.done_bytes:
        print("half", flush=True)
        time.sleep(3600)
bring(NodeCache(sys.argv[1]), WantedCopy("a", sys.argv[2], "/dataset"), CacheLimits(), go_on, filled)
"""


def test_what_a_killed_process_left_is_not_there_and_is_made_anew(cache: NodeCache, tmp_path: Path) -> None:
    source = tree(tmp_path / "version", 3 * filling.BLOCK)
    words = [sys.executable, "-c", KILLED, str(tmp_path / "fast"), str(source)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        assert os.path.isdir(cache.path("a", "part"))
        assert cache.take("a", "attempt", str(tmp_path)) is None
        process.send_signal(signal.SIGKILL)
    assert cache.take("a", "attempt", str(tmp_path)) is None
    assert cache.coming("a") > 3 * filling.BLOCK
    assert brought(cache, source).done_bytes == 3 * filling.BLOCK + 16
    assert (copy_of(cache) / "train" / "large").read_bytes() == (source / "train" / "large").read_bytes()
    assert sorted(os.listdir(cache.path("a"))) == ["files", "lock", "whole"]


def test_what_a_killed_process_left_is_removed_by_the_next_look(cache: NodeCache) -> None:
    os.makedirs(cache.path("a", "part", "deep"))
    Path(cache.path("a", "coming")).write_text("99")
    sweep(cache, CacheLimits())
    assert cache.listed() == []


def three(cache: NodeCache, tmp_path: Path) -> tuple[Path, CacheLimits]:
    """Return a fourth version, and limits with which it fits only in place of another; a was used before b before c."""
    for at, key in enumerate("abc"):
        brought(cache, tree(tmp_path / key, MIB), key)
        os.utime(cache.path(key, "whole"), (1000 + at, 1000 + at))
    return tree(tmp_path / "new", MIB), CacheLimits(most_bytes=4 * MIB)


def test_what_was_used_longest_ago_goes_first(cache: NodeCache, tmp_path: Path) -> None:
    source, limits = three(cache, tmp_path)
    brought(cache, tmp_path / "a", "a")  # used again
    brought(cache, source, "new", limits)
    assert cache.listed() == ["a", "c", "new"]


def test_a_copy_that_somebody_has_or_will_have_is_not_removed(cache: NodeCache, tmp_path: Path) -> None:
    source, limits = three(cache, tmp_path)
    record = tmp_path / "record"
    record.write_text("of an attempt")
    assert cache.take("a", "attempt", str(record)) == cache.path("a", "files")
    os.utime(cache.path("a", "whole"), (1, 1))
    held = bring(cache, WantedCopy("b", str(tmp_path / "b"), "/dataset"), limits, nothing, Filled())
    os.utime(cache.path("b", "whole"), (2, 2))
    brought(cache, source, "new", limits)
    assert cache.listed() == ["a", "b", "new"], "only c was nobody's"
    sweep(cache, CacheLimits(keep_s=1.0))
    assert cache.listed() == ["a", "b", "new"]
    os.close(held)
    record.unlink()  # the attempt is over; its agent was killed before it could give anything back
    sweep(cache, CacheLimits(keep_s=1.0))
    assert cache.listed() == ["new"]


def test_where_there_is_no_room_it_says_how_much_there_is_and_removes_nothing(cache: NodeCache, tmp_path: Path) -> None:
    three(cache, tmp_path)
    said = refused(cache, tree(tmp_path / "large", 8 * MIB), CacheLimits(most_bytes=4 * MIB))
    assert "it takes 8MiB" in said
    assert "room for 4MiB" in said
    assert cache.listed() == ["a", "b", "c"]


def test_room_that_is_taken_by_a_copy_under_way_is_not_given_twice(cache: NodeCache, tmp_path: Path) -> None:
    fd = cache.lock("other", fcntl.LOCK_EX)
    Path(cache.path("other", "coming")).write_text(str(3 * MIB))
    assert "room for 1MiB" in refused(cache, tree(tmp_path / "v", 2 * MIB), CacheLimits(most_bytes=4 * MIB))
    os.close(fd)


def test_a_disk_has_to_keep_its_reserve(tmp_path: Path) -> None:
    source = tree(tmp_path / "version", 2 * MIB)
    with small_disk(tmp_path / "disk", 8) as disk:
        cache = NodeCache(str(disk.folder))
        assert "is not cached" in refused(cache, source, CacheLimits(reserve_bytes=7 * MIB))
        assert brought(cache, source, "a", CacheLimits(reserve_bytes=4 * MIB)).done_bytes


def test_a_disk_that_fills_up_meanwhile_leaves_nothing_half(tmp_path: Path) -> None:
    source = tree(tmp_path / "version", 3 * filling.BLOCK)
    with small_disk(tmp_path / "disk", 16) as disk:
        cache = NodeCache(str(disk.folder))

        def go_on() -> None:
            if os.path.exists(cache.path("new", "part", "train", "large")):
                disk.fill()

        assert "No space left" in refused(cache, source, CacheLimits(), go_on)
        disk.free()
        assert brought(cache, source).done_bytes == 3 * filling.BLOCK + 16


def test_what_nobody_used_for_long_is_removed_and_the_end_of_its_use_counts(cache: NodeCache, tmp_path: Path) -> None:
    week = CacheLimits(keep_s=7 * 86400.0)
    record = str(tmp_path / "record")
    Path(record).touch()
    for key in ("old", "given"):
        brought(cache, tree(tmp_path / key, KIB), key)
        cache.take(key, "attempt", record)
        os.utime(cache.path(key, "whole"), (1000, 1000))
    sweep(cache, week)
    assert cache.listed() == ["given", "old"], "both are in use"
    cache.give_back("given", "attempt", record)
    os.unlink(record)
    sweep(cache, week)
    assert cache.listed() == ["given"], "it was given back just now"
    sweep(cache, CacheLimits())
    assert cache.listed() == ["given"], "kept until room is needed"


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    source, folder = tree(tmp_path / "version"), tmp_path / "fast"
    os.makedirs(root_of(str(folder)))
    os.chown(root_of(str(folder)), 12345, 12345)
    with pytest.raises(NotCached) as why:
        brought(NodeCache(str(folder)), source)
    assert "belongs to somebody else" in render.text(why.value.said)


def gang_of(*mounts: Mount) -> Gang:
    return Gang("t" + "0" * 32, 1, "a", "ann", "single", (), (), (), mounts=mounts)


def test_tasks_see_the_copy_where_there_is_one_and_else_where_it_lies(cache: NodeCache, tmp_path: Path) -> None:
    brought(cache, tree(tmp_path / "version", KIB))
    record = tmp_path / "record"
    record.touch()
    plain, there = Mount("/code-of-somebody", "/code"), Mount("/kept/a", "/dataset/a", cache="a")
    gone = Mount("/kept/b", "/dataset/b", cache="b")
    settings, gang = Settings(cache=str(tmp_path / "fast")), gang_of(plain, there, gone)
    for _ in range(2):  # the second time by an agent that takes over
        shown, missing = with_copies(gang, settings, "attempt", str(record))
        assert [mount.source for mount in shown.mounts] == ["/code-of-somebody", cache.path("a", "files"), "/kept/b"]
        assert missing == (gone,)
    assert cache.used("a")
    moved = tmp_path / "moved"
    record.rename(moved)
    assert not cache.used("a")
    with_copies(gang, settings, "attempt", str(moved))
    assert cache.used("a")
    give_back(gang, settings, "attempt", str(record))  # of a home that it was copied from
    assert cache.used("a")
    give_back(gang, settings, "attempt", str(moved))
    assert not cache.used("a")
    assert with_copies(gang, Settings(), "attempt", str(record)) == (gang, (there, gone))
    assert [mount.source for mount in at_copies(gang, settings).mounts] == [
        "/code-of-somebody",
        cache.path("a", "files"),
        cache.path("b", "files"),
    ]
