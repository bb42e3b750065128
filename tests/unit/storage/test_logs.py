"""Log windows, line index, search, tail and downloads (R207, R208; issue 2, item 9), on real files with real holes."""

import ctypes
import io
import json
import os
import random
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.core.errors import InvalidSpec
from trainmaster.storage.logs import logs, logsearch
from trainmaster.storage.logs.lineindex import STEP, LineIndex
from trainmaster.storage.logs.logfile import LogFile

TEXTS = st.one_of(
    st.text(max_size=200).map(str.encode), st.binary(max_size=200), st.just("进度\r50%\r".encode()), st.just(b"\n")
)


def write(folder: Path, data: bytes) -> str:
    path = folder / "log"
    path.write_bytes(data)
    return str(path)


def cut(path: str, offset: int, length: int) -> None:
    """What the agent does at the size limit: punch a hole and say so."""
    with open(path, "r+b") as file:
        libc = ctypes.CDLL(None, use_errno=True)
        done = libc.fallocate(file.fileno(), 0x03, ctypes.c_int64(offset), ctypes.c_int64(length))
        assert done == 0, os.strerror(ctypes.get_errno())
    with open(path + ".cuts", "a") as cuts:
        cuts.write(json.dumps({"offset": offset, "length": length}) + "\n")


def chain(path: str, limit: int, *, ended: bool = True) -> list[logs.LogWindow]:
    windows, offset = [], 0
    while True:
        window = logs.read(path, offset, limit, ended=ended)
        if not window.text and not window.cut:
            return windows
        assert window.next_offset > offset
        windows.append(window)
        offset = window.next_offset


class TestWindows:
    @settings(max_examples=examples(150))
    @given(pieces=st.lists(TEXTS, max_size=30), limit=st.integers(16, 300))
    def test_windows_concatenate_to_the_file(self, tmp_path_factory: pytest.TempPathFactory, pieces, limit) -> None:
        """R208: whatever the bytes and the size of the windows, following next_offset gives the whole log."""
        data = b"".join(pieces)
        path = write(tmp_path_factory.mktemp("w"), data)
        windows = chain(path, limit)
        assert "".join(window.text for window in windows) == data.decode("utf-8", "replace")
        assert all(len(window.text.encode()) <= 3 * limit for window in windows)

    @given(position=st.integers(0, 40))
    @settings(max_examples=examples(60))
    def test_a_character_is_never_split(self, tmp_path_factory: pytest.TempPathFactory, position: int) -> None:
        path = write(tmp_path_factory.mktemp("w"), "训练🚀abcé".encode() * 2)
        assert "\ufffd" not in logs.read(path, position, 16, ended=True).text
        assert "\ufffd" not in logs.read(path, -position - 1, 16, ended=True).text

    def test_an_unfinished_character_waits_for_its_rest_until_the_task_has_ended(self, tmp_path: Path) -> None:
        path = write(tmp_path, "a训".encode()[:-1])
        assert logs.read(path, 0).text == "a"
        assert logs.read(path, 1).next_offset == 1
        assert logs.read(path, 1, ended=True).text == "\ufffd"

    def test_negative_offsets_missing_logs_and_offsets_behind_the_end(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"0123456789")
        assert logs.read(path, -4).text == "6789"
        assert logs.read(path, -400).text == "0123456789"
        behind = logs.read(path, 500)
        assert (behind.offset, behind.next_offset, behind.text) == (10, 10, "")
        assert logs.read(str(tmp_path / "none"), 0).size == 0

    def test_traps_read_as_empty(self, tmp_path: Path) -> None:
        """A task could put a link or a pipe where its log should be; neither is followed nor waited for."""
        secret = tmp_path / "secret"
        secret.write_text("password")
        (tmp_path / "link").symlink_to(secret)
        os.mkfifo(tmp_path / "pipe")
        assert logs.read(str(tmp_path / "link"), 0).text == ""
        assert logs.read(str(tmp_path / "pipe"), 0).text == ""

    def test_holes_are_skipped_and_named(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"head\n" + b"x" * 99_995 + b"m" * 200_000 + b"tail\n")
        cut(path, 100_000, 200_000)
        windows = chain(path, 1 << 16)
        text = "".join(window.text for window in windows)
        assert text == "head\n" + "x" * 99_995 + "tail\n"
        assert [window.cut for window in windows if window.cut] == [((100_000, 200_000),)]
        assert logs.read(path, 150_000).cut == ((150_000, 150_000),)
        assert b"200000 bytes were cut" in b"".join(logs.stream(path))

    def test_a_terabyte_of_nothing_costs_nothing(self, tmp_path: Path) -> None:
        """A program may write far behind the end; the hole is neither read nor counted nor searched."""
        path = write(tmp_path, b"first\n")
        with open(path, "r+b") as file:
            file.seek(1 << 40)
            file.write(b"last needle\n")
        started = time.monotonic()
        line = logs.read_lines(path, 1, 1)
        assert line.text.strip("\0") == ""
        after = logs.read(path, line.next_offset)
        assert after.text.endswith("last needle\n")
        assert after.cut
        assert len(logsearch.search(path, "needle").items) == 1
        assert time.monotonic() - started < 5

    def test_a_gigabyte_line_and_no_line_at_all(self, tmp_path: Path) -> None:
        path = str(tmp_path / "log")
        with open(path, "wb") as file:
            for _ in range(64):
                file.write(b"y" * (1 << 20))
            file.write(b" needle end\nnext\n")
        assert len(logs.read_lines(path, 0, 1).text) == logs.MAX_WINDOW
        assert logs.read_lines(path, 1, 5).text == "next\n"
        hits = logsearch.search(path, "needle")
        assert [hit.line for hit in hits.items] == [0]
        assert len(hits.items[0].text) <= 2 * logsearch.CLIP
        assert logs.tail_offset(path, 1) == os.path.getsize(path) - 5


class TestLines:
    @settings(max_examples=examples(40))
    @given(seed=st.integers(0, 10_000), lengths=st.sampled_from([(0, 3), (0, 200), (1000, 70_000)]))
    def test_the_index_agrees_with_splitting_the_file(self, tmp_path_factory, seed: int, lengths) -> None:
        """Line N found by the index is line N of the file, also while the log grows and loses a range."""
        chance = random.Random(seed)
        path = write(tmp_path_factory.mktemp("i"), b"")
        whole = b""
        for _ in range(3):
            for _ in range(chance.randrange(1, 60)):
                whole += b"z" * chance.randint(*lengths) + b"\n"
            whole += chance.choice([b"", b"open end"])
            Path(path).write_bytes(whole) if not os.path.getsize(path) else _append(path, whole)
            self._compare(path, whole, chance)

    @staticmethod
    def _compare(path: str, whole: bytes, chance: random.Random) -> None:
        with LogFile(path) as log:
            index = LineIndex.load(log)
            starts = [0] + [i + 1 for i, byte in enumerate(whole) if byte == 10]
            assert index.lines == whole.count(b"\n")
            for line in {0, len(starts) - 1, *(chance.randrange(len(starts)) for _ in range(20))}:
                expected = starts[line] if starts[line] < len(whole) else None
                assert index.offset_of(log, line) == expected
                assert index.line_at(log, starts[line]) == line
            assert index.offset_of(log, len(starts)) is None

    def test_the_saved_index_is_used_extended_and_forgotten_when_the_log_is_another(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"0123456789abcde\n" * (40 * STEP // 16))
        logs.read_lines(path, 1, 1)
        assert os.path.exists(path + ".idx")
        made = os.stat(path + ".idx").st_mtime_ns
        assert logs.read_lines(path, 300_000, 1).offset == 300_000 * 16
        assert os.stat(path + ".idx").st_mtime_ns == made
        Path(path).unlink()
        write(tmp_path, b"short\nlog\n")
        assert logs.read_lines(path, 1, 1).text == "log\n"
        Path(path + ".idx").write_bytes(b"garbage")
        assert logs.read_lines(path, 1, 1).text == "log\n"

    def test_lines_are_counted_again_behind_a_new_hole(self, tmp_path: Path) -> None:
        line = b"%015d\n"
        path = write(tmp_path, b"".join(line % n for n in range(400_000)))
        assert logs.read_lines(path, 399_999, 1).text.startswith("000000000399999")
        cut(path, 16 * 100_000, 16 * 200_000)
        assert logs.read_lines(path, 99_999, 1).text.startswith("000000000099999")
        assert logs.read_lines(path, 100_000, 1).text.startswith("000000000300000")
        assert logs.read_lines(path, 199_999, 9).text == f"{399_999:015d}\n"
        hit = logsearch.search(path, "000000000399999").items[0]
        assert hit.line == 199_999

    def test_a_count_of_lines_and_the_end(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"a\nb\nc\nd")
        assert logs.read_lines(path, 1, 2).text == "b\nc\n"
        assert logs.read_lines(path, 3, 2).text == "d"
        after = logs.read_lines(path, 9, 2)
        assert (after.text, after.offset, after.first_line) == ("", 7, 3)
        assert [logs.tail_offset(path, n) for n in (1, 2, 9)] == [6, 4, 0]


class TestSearch:
    def test_pages_give_every_line_once_with_its_number(self, tmp_path: Path) -> None:
        lines = [f"step {n} {'Error' if n % 7 == 0 else 'fine'}" for n in range(50_000)]
        path = write(tmp_path, "\n".join(lines).encode())
        found: list[int] = []
        offset, done = 0, False
        while not done:
            hits = logsearch.search(path, "error", offset=offset, limit=700)
            found += [hit.line for hit in hits.items]
            assert all(hit.text == lines[hit.line] for hit in hits.items)
            offset, done = hits.next_offset, hits.done
        assert found == list(range(0, 50_000, 7))
        assert not logsearch.search(path, "eRROR").items, "a capital in the query makes capitals matter"

    def test_a_murderous_pattern_ends_in_time(self, tmp_path: Path) -> None:
        """The classic that keeps a backtracking engine busy for centuries; and blocks of no newline at all."""
        path = write(tmp_path, b"a" * (8 << 20))
        started = time.monotonic()
        assert not logsearch.search(path, r"(a*)*(a|aa)+b$", regex=True).items
        assert time.monotonic() - started < 10

    @pytest.mark.parametrize(
        ("pattern", "remedy"), [("(", "RE2"), ("(?=a)b", "RE2"), (r"(a)\1", "RE2"), ("x" * 1001, "shorter")]
    )
    def test_a_pattern_that_cannot_be_run_is_refused_with_a_remedy(
        self, tmp_path: Path, pattern: str, remedy: str
    ) -> None:
        with pytest.raises(InvalidSpec) as refused:
            logsearch.search(write(tmp_path, b"x"), pattern, regex=True)
        assert refused.value.problems[0].path == "q"
        assert remedy in refused.value.problems[0].remedy
        assert "RE2" in refused.value.remedy

    def test_a_match_stays_in_its_line_and_anchors_mean_lines(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"begin\nmiddle\nend\n")
        assert not logsearch.search(path, r"begin\smiddle", regex=True).items
        assert [hit.line for hit in logsearch.search(path, "^e.*d$", regex=True).items] == [2]

    def test_a_call_is_bounded_and_goes_on(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"line\n" * 2_000_000 + b"needle\n")
        ticks = iter(range(1000))
        first = logsearch.search(path, "needle", clock=lambda: next(ticks) * 0.2)
        assert not first.done
        assert 0 < first.next_offset < os.path.getsize(path)
        assert logsearch.search(path, "needle", offset=first.next_offset).items


class TestDownloads:
    def test_all_logs_of_all_attempts_in_one_archive(self, tmp_path: Path) -> None:
        """R207: download one or all."""
        for attempt, task, text in ((1, "task0-0", "first"), (2, "task0-0", "second"), (10, "task1-3", "tenth")):
            folder = tmp_path / str(attempt) / task
            folder.mkdir(parents=True)
            (folder / "log").write_text(text)
        entries = logs.attempt_logs(str(tmp_path))
        archive = zipfile.ZipFile(io.BytesIO(b"".join(logs.zip_stream(entries))))
        assert archive.testzip() is None
        assert {name: archive.read(name).decode() for name in archive.namelist()} == {
            "attempt-1/task0-0.log": "first",
            "attempt-2/task0-0.log": "second",
            "attempt-10/task1-3.log": "tenth",
        }

    def test_a_large_archive_is_streamed(self, tmp_path: Path) -> None:
        path = write(tmp_path, os.urandom(1 << 20) * 24)
        biggest = max(len(block) for block in logs.zip_stream([("big", path)]))
        assert biggest < 4 << 20


def _append(path: str, whole: bytes) -> None:
    with open(path, "ab") as file:
        file.write(whole[os.path.getsize(path) :])
