"""What was never written is neither read nor stored nor does it change a name: files of terabytes that take no room."""

import hashlib
import os
from pathlib import Path

import pytest

from trainmaster.storage import sparse
from trainmaster.storage.sparse import GRAIN, Content

SPARSE_FROM = 8 * GRAIN
"""Small here, so that both kinds of names are seen on small files."""

CONTENTS: dict[str, list[tuple[int, bytes]]] = {
    "empty": [],
    "short": [(0, b"hello")],
    "zeros": [(0, bytes(3 * GRAIN))],
    "as many zeros as just not count": [(0, b"x"), (8 * GRAIN, b"y" * GRAIN)],
    "as many as count": [(0, b"x"), (9 * GRAIN, b"y" * GRAIN)],
    "something between": [(4 * GRAIN, b"x"), (30 * GRAIN + 17, b"y" * 300), (99 * GRAIN, b"z")],
    "ends in a part of a grain": [(0, b"a" * GRAIN), (20 * GRAIN, b"b" * 99)],
}


def named(content: bytes) -> Content:
    """Return the name as the definition says it, from all bytes."""
    grains = [content[at : at + GRAIN] for at in range(0, len(content), GRAIN)]
    if sum(len(grain) for grain in grains if not any(grain)) < SPARSE_FROM:
        return Content(hashlib.sha256(content).hexdigest(), False)
    told = b"".join(number.to_bytes(8, "little") + grain for number, grain in enumerate(grains) if any(grain))
    return Content(
        hashlib.sha256(b"trainmaster sparse 1\n" + len(content).to_bytes(8, "little") + told).hexdigest(), True
    )


def copied(source: Path, target: Path, size: int) -> Content:
    with open(source, "rb") as file, open(target, "w+b") as out:
        return sparse.copy(file.fileno(), out.fileno(), size, lambda: None)


@pytest.mark.parametrize("which", CONTENTS)
@pytest.mark.parametrize("dense", [True, False])
def test_a_name_depends_on_the_bytes_alone(
    tmp_path: Path, which: str, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zeros that were written and zeros that were not are the same content."""
    monkeypatch.setattr(sparse, "SPARSE_FROM", SPARSE_FROM)
    content = bytearray()
    for at, data in CONTENTS[which]:
        content += bytes(at - len(content)) + data
    source = tmp_path / "source"
    with open(source, "wb") as file:
        for at, data in [(0, bytes(content))] if dense else CONTENTS[which]:
            file.seek(at)
            file.write(data)
    assert copied(source, tmp_path / "target", len(content)) == named(bytes(content))
    assert (tmp_path / "target").read_bytes() == content


def test_terabytes_of_nothing_cost_nothing(tmp_path: Path) -> None:
    """R149: 8 TiB that take no room are copied and named by what is in them."""
    source, target = tmp_path / "source", tmp_path / "target"
    with open(source, "wb") as file:
        file.truncate(8 << 40)
        file.seek(5 << 40)
        file.write(b"here")
    found = copied(source, target, 8 << 40)
    grain = b"here".ljust(GRAIN, b"\0")
    told = (8 << 40).to_bytes(8, "little") + ((5 << 40) // GRAIN).to_bytes(8, "little") + grain
    assert found == Content(hashlib.sha256(b"trainmaster sparse 1\n" + told).hexdigest(), True)
    assert (os.stat(target).st_size, os.stat(target).st_blocks * 512 <= 4 * GRAIN) == (8 << 40, True)
    with open(target, "rb") as file:
        file.seek(5 << 40)
        assert file.read(4) == b"here"


def test_what_grows_meanwhile_is_copied_as_it_was_and_what_shrinks_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"x" * 100_000)
    assert copied(source, tmp_path / "target", 70_000) == Content(hashlib.sha256(b"x" * 70_000).hexdigest(), False)
    assert (tmp_path / "target").read_bytes() == b"x" * 70_000

    def cut() -> None:
        os.truncate(source, 1000)

    with open(source, "rb") as file, open(tmp_path / "other", "w+b") as out, pytest.raises(OSError, match="shorter"):
        sparse.copy(file.fileno(), out.fileno(), 100_000, cut)


class Enough(Exception):
    pass


def test_it_ends_when_told(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(4 << 20))
    left = [3]

    def go_on() -> None:
        left[0] -= 1
        if not left[0]:
            raise Enough

    with open(source, "rb") as file, open(tmp_path / "target", "w+b") as out, pytest.raises(Enough):
        sparse.copy(file.fileno(), out.fileno(), 4 << 20, go_on)
