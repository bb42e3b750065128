"""What readers are shown of a job and of an event."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.histories import life, new_job, random_histories
from trainmaster.answers import ProgressView
from trainmaster.core.events import Event, Kind
from trainmaster.service import views
from trainmaster.service.views import JobViews, event_view, job_view

_MOMENTS = st.tuples(
    st.floats(3000, 9000),
    st.integers(1, 99),
    st.sampled_from([(), ("write",), ("write", "share")]),
    st.none(),
    st.none(),
    st.sampled_from([None, ProgressView(fraction=0.5, step=1.0, of=2.0, eta_s=None, step_s=None)]),
    st.sampled_from([{}, {"loss": 0.5}]),
    st.booleans(),
)


@given(st.lists(random_histories(), min_size=1, max_size=3), st.lists(_MOMENTS, min_size=1, max_size=3))
def test_what_is_kept_of_an_ended_job_is_what_would_be_made_anew(histories: list[Any], moments: list[Any]) -> None:
    """Whoever looks at it, whenever, after every event."""
    kept = JobViews()
    for history in histories:  # all of them have the same id
        for change in history.changes:
            for moment in moments:
                assert kept.view(change.job, *moment) == job_view(change.job, *moment)


def test_views_are_kept_of_what_has_ended_and_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_VIEWS", 2)
    kept, ended = JobViews(), life(1).job
    assert ended is not None
    for job in (new_job(5), *(replace(ended, id=f"t{number:032x}") for number in range(4))):
        kept.view(job, 1.0, 1, (), None, None, None, {}, False)
    assert [job.id for job, _ in kept._kept.values()] == [f"t{2:032x}", f"t{3:032x}"]


def test_of_large_jobs_no_views_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds its record, and that all of its replicas."""
    kept, ended = JobViews(), life(1).job
    assert ended is not None
    monkeypatch.setattr(views, "_REPLICAS", ended.tasks_total - 1)
    kept.view(ended, 1.0, "", (), None, None, None, {}, False)
    assert not kept._kept


def test_what_an_earlier_version_noted_for_its_engine_is_not_shown() -> None:
    event = Event("t1", Kind.STARTED, 1.0, attempt=1, data={"handle": "{}", "placement": []})
    assert event_view(event, 1, lambda job: None).data == {"placement": []}
