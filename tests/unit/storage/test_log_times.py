"""When lines were written: no more is said than what was seen of the log's growth (R207)."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from trainmaster.agent.measuring.logtimes import FINENESS, ROW, seen
from trainmaster.storage.logs import logs
from trainmaster.storage.logs.logtimes import LineTimes, line_times

START = (0, 0.0, 0.0)


def times_of(tmp_path: Path, text: bytes, rows: list[tuple[int, float]], now: float | None = None, at: int = 0):
    path = tmp_path / "log"
    path.write_bytes(text)
    (tmp_path / "log.times").write_bytes(b"".join(ROW.pack(size, int(when * 1000)) for size, when in rows))
    return line_times(str(path), logs.read(str(path), at), now)


def test_a_line_was_written_between_two_looks(tmp_path: Path) -> None:
    found = times_of(tmp_path, b"a\nb\nc\n", [(2, 10.0), (2, 18.0), (6, 20.0)])
    assert found == (LineTimes(1, None, 10.0), LineTimes(2, 18.0, 20.0))


def test_a_line_has_the_time_of_its_end(tmp_path: Path) -> None:
    """`step 1 ... done` was begun at 10 and ended at 30: it is told by its end."""
    found = times_of(tmp_path, b"step 1 ... done\n", [(6, 10.0), (10, 20.0), (16, 30.0)])
    assert found == (LineTimes(1, 20.0, 30.0),)
    assert times_of(tmp_path, b"x\nopen end", [(2, 1.0), (10, 2.0)]) == (
        LineTimes(1, None, 1.0),
        LineTimes(1, 1.0, 2.0),
    )


def test_what_nobody_has_seen_yet_was_written_by_now(tmp_path: Path) -> None:
    assert times_of(tmp_path, b"a\nb\n", [(2, 10.0)], now=12.0)[-1] == LineTimes(1, 10.0, 12.0)
    assert times_of(tmp_path, b"a\nb\n", [(2, 10.0)])[-1] == LineTimes(1, 10.0, None)


def test_a_log_without_rows_has_no_times(tmp_path: Path) -> None:
    """Of a job of an earlier version nothing is made up."""
    (tmp_path / "log").write_bytes(b"a\n")
    assert line_times(str(tmp_path / "log"), logs.read(str(tmp_path / "log")), 5.0) == ()


def test_a_log_that_was_cut_short_begins_anew(tmp_path: Path) -> None:
    assert times_of(tmp_path, b"new\n", [(900, 1.0), (0, 5.0), (4, 6.0)]) == (LineTimes(1, 5.0, 6.0),)


@given(
    writes=st.lists(st.tuples(st.text("ab\n", max_size=8), st.booleans()), max_size=30),
    at=st.integers(0, 40),
)
def test_every_line_lies_between_its_times(tmp_path_factory, writes: list[tuple[str, bool]], at: int) -> None:
    """Whatever is written, and whenever it is looked at: a window's lines are told of one by one, and truly."""
    state, rows, text, ends = START, [], "", []
    for second, (piece, looked) in enumerate(writes, 1):
        ends += [second] * piece.count("\n")
        text += piece
        if looked:
            more, state = seen(state, len(text), second + 0.5, 0.0)
            rows += more
    last = len(writes) + 1.0
    path = tmp_path_factory.mktemp("t")
    found = times_of(path, text.encode(), rows, now=last, at=at)
    window = text[min(at, len(text)) :]
    if not rows:
        assert found == ()
        return
    assert sum(one.lines for one in found) == window.count("\n") + (window != "" and not window.endswith("\n"))
    written = iter(ends[text[: min(at, len(text))].count("\n") :])
    for one in found:
        for _ in range(one.lines):
            when = next(written, None)
            assert when is None or (one.after or 0) < when <= (one.by or last)


def test_a_log_that_grows_for_years_keeps_few_rows() -> None:
    state, count, now = START, 0, 0.0
    while now < 30 * 86400:
        now += 20
        rows, state = seen(state, int(now), now, 0.0)
        count += len(rows)
    assert count < 6 * FINENESS
