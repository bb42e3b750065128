"""A zip that is written while it is sent."""

import io
import zipfile
from itertools import permutations

import pytest

from trainmaster.storage.zips import BLOCK, ZipMember, stream_zip

MEMBERS = [ZipMember("a.bin", [bytes(BLOCK), b"end"], 0.0), ZipMember("caf\udce9", [b"x"], 2**40)]


@pytest.mark.parametrize("compress", [True, False])
def test_what_is_sent_is_a_whole_archive(compress: bool) -> None:
    with zipfile.ZipFile(io.BytesIO(b"".join(stream_zip(MEMBERS, compress=compress)))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.bin", "caf%E9"]
        assert archive.read("a.bin") == bytes(BLOCK) + b"end"
        assert [info.date_time[0] for info in archive.infolist()] == [1980, 2107]


@pytest.mark.parametrize("order", [*permutations(("sink", "archive", "file"))])
def test_nothing_is_said_where_nobody_reads_on_whatever_is_collected_first(order: tuple[str, ...]) -> None:
    """A download that breaks off: its parts are ended by the garbage collector, in any order."""
    stream = stream_zip(MEMBERS, compress=False)
    assert next(iter(stream))
    parts = stream.gi_frame.f_locals  # type: ignore[attr-defined]
    for name in order:
        if (ends := getattr(type(parts[name]), "__del__", None)) is not None:
            ends(parts[name])
    stream.close()  # type: ignore[attr-defined]
