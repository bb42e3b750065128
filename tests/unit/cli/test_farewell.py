"""What a server says at its end: of jobs only where some run."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.fixtures.histories import new_job
from trainmaster.cli.server.greeting import farewell
from trainmaster.core.states import JobState


def platform(*states: JobState) -> Any:
    live = {f"t{number}": new_job(number, state=state) for number, state in enumerate(states)}
    return SimpleNamespace(context=SimpleNamespace(master=SimpleNamespace(live=live)))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_jobs_go_on_only_where_some_run(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("TRAINMASTER_LANG", language)
    alone = farewell(platform())
    assert farewell(platform(JobState.QUEUED)) == alone
    assert {"en": "Trainmaster has stopped.", "zh": "Trainmaster 已停止。"}[language] == alone
    with_jobs = farewell(platform(JobState.QUEUED, JobState.ACTIVE))
    assert {"en": "running jobs go on", "zh": "任务继续运行"}[language] in with_jobs
