"""What stands on a terminal while a job is awaited, and what stays there."""

import io
import re
import sys

import pytest

from tests.unit.sdk.made import view
from trainmaster import answers
from trainmaster.core.states import Shown
from trainmaster.sdk.progress import terminal

HALF = answers.ProgressView(fraction=0.5, step=5.0, of=10.0, eta_s=None, step_s=None)


class Terminal(io.StringIO):
    """Takes what a person would see."""

    def isatty(self) -> bool:
        return True


def last_lines(monkeypatch: pytest.MonkeyPatch, language: str, *seen: answers.JobView) -> list[str]:
    """Return what is left on the terminal after the last of `seen`."""
    for name, value in {"TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    with terminal(language) as show:
        for job in seen:
            show(job)
    frame = re.split(r"\x1b\[\d*[AJ]|\x1b\[2K|\r", out.getvalue())[-1]
    return [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", frame).splitlines() if line.strip()]


def test_no_half_drawn_bar_stays_of_a_job_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = view(state=Shown.FAILED, progress=HALF, ended_at=70.0, run_s=69.0)
    last = last_lines(monkeypatch, "en", view(progress=HALF), failed)
    assert last[0] == "✗ a Failed 1m 9s"
    assert not any("━" in line for line in last)


def test_how_long_it_ran_stands_there_in_the_readers_language(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = view(state=Shown.SUCCEEDED, ended_at=70.0, run_s=69.0)
    assert last_lines(monkeypatch, "zh", ended)[0] == "✓ a 成功 1 分 9 秒"
