"""Something is done to all jobs of a filter (R193, R202): to all that were told of, never to more, in parts."""

import asyncio

import pytest

from tests.fixtures.api_contract import signed_in
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.api.app import create_app
from trainmaster.core.errors import Conflict
from trainmaster.core.states import Shown
from trainmaster.service.use_cases import listing
from trainmaster.service.use_cases.listing import Chosen
from trainmaster.store.jobs.read_jobs import JobQuery

LONG = "sleep infinity"


async def _batch(stage: Stage, count: int, name: str, command: str, **fields: object) -> list[str]:
    bodies = [{"spec": fake_spec(f"{name}-{number}", command, **fields)} for number in range(count)]
    return [item.id for item in (await stage.platform.submit_batch(bodies, ADMIN, None)).items]


async def test_all_of_a_filter_are_stopped_in_parts(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """R202: more than one request takes; each once; what else there is stays, and so does what had ended."""
    monkeypatch.setattr(listing, "MANY", 20)
    ended = await _batch(fake, 1, "sweep-done", "true")
    await fake.ended(ended[0])
    sweep = await _batch(fake, 50, "sweep", LONG, labels={"round": "2"})
    other = await _batch(fake, 2, "other", LONG)
    query = JobQuery(q="sweep")
    page = await fake.platform.jobs(query, 10, None, ADMIN)
    assert page.total == 51
    with pytest.raises(Conflict):
        await fake.platform.many("stop", Chosen(query=query, expected=50), ADMIN)
    done: list[str] = []
    chosen, parts = Chosen(query=query, expected=page.total), 0
    while True:
        outcome = await fake.platform.many("stop", chosen, ADMIN)
        done, parts = done + outcome.done, parts + 1
        assert not outcome.refused
        if outcome.after is None:
            break
        chosen = Chosen(query=query, expected=outcome.left, after=outcome.after)
    assert (done, parts) == (sweep, 3)
    for job in sweep:
        assert (await fake.ended(job)).state == "stopped"
    assert {(await fake.view(job)).state for job in other} <= {"queued", "running", "initialising"}
    assert (await fake.view(ended[0])).state == "succeeded"
    outcome = await fake.platform.many("delete", Chosen(query=JobQuery(labels=("round=2",)), expected=50), ADMIN)
    assert len(outcome.done) == 20
    assert (outcome.left, outcome.after is None) == (30, False)


async def test_what_came_after_the_look_is_not_reached(fake: Stage) -> None:
    """R202: the list tells its moment; with it as `until`, what is submitted meanwhile is not chosen."""
    first = await _batch(fake, 3, "job", LONG)
    app = create_app(fake.platform)
    async with signed_in(app, fake.platform) as http:
        page = (await http.get("/api/v1/jobs", params={"q": "job-"})).json()
        await asyncio.sleep(0.002)  # the clock moves on: what comes now is after the page
        later = await _batch(fake, 1, "job-late", LONG)
        body = {"filter": {"q": "job-", "until": page["at"]}, "expected": page["total"]}
        answer = (await http.post("/api/v1/jobs/stop", json=body)).json()
    assert (answer["done"], answer["refused"], answer["left"], answer["after"]) == (first, [], 0, None)
    assert (await fake.view(later[0])).state != "stopping"


async def test_the_time_limit_of_several_is_changed_at_once(fake: Stage) -> None:
    """R193: by ids and by a filter; each for itself: what has ended is refused, a wrong limit changes nothing."""
    ended = (await _batch(fake, 1, "done", "true"))[0]
    await fake.ended(ended)
    live = await _batch(fake, 3, "live", LONG)
    app = create_app(fake.platform)
    async with signed_in(app, fake.platform) as http:
        answer = (await http.post("/api/v1/jobs/change", json={"ids": [*live[:2], ended], "duration_s": 7200})).json()
        assert answer["done"] == live[:2]
        assert [one["id"] for one in answer["refused"]] == [ended]
        assert [(await fake.view(job)).duration_s for job in live] == [7200.0, 7200.0, None]
        body = {"filter": {"mine": True}, "expected": 4, "duration_s": None}
        assert (await http.post("/api/v1/jobs/change", json=body)).json()["done"] == live
        answer = (await http.post("/api/v1/jobs/change", json={"ids": live, "duration_s": -1})).json()
        assert [one["kind"] for one in answer["refused"]] == ["invalid_spec"] * 3
    assert [(await fake.view(job)).duration_s for job in live] == [None] * 3


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "ids"),
        ({"ids": ["x"], "filter": {}, "expected": 1}, "ids"),
        ({"filter": {}}, "expected"),
        ({"filter": {"mine": True, "owner": "somebody"}, "expected": 1}, "owner"),
        ({"filter": {"order": "name"}, "expected": 1}, "filter.order"),
    ],
)
async def test_a_choice_that_means_nothing_is_refused(fake: Stage, body: dict[str, object], path: str) -> None:
    """Never guessed: an empty body is not all jobs."""
    app = create_app(fake.platform)
    async with signed_in(app, fake.platform) as http:
        answer = await http.post("/api/v1/jobs/stop", json=body)
    assert answer.status_code == 422, answer.text
    assert [problem["path"] for problem in answer.json()["problems"]] == [path]


async def test_a_page_tells_how_many_there_are(fake: Stage) -> None:
    """R200: on all pages, in the states asked for."""
    done = await _batch(fake, 3, "done", "true")
    for job in done:
        await fake.ended(job)
    await _batch(fake, 2, "live", LONG)
    for query, total in (
        (JobQuery(), 5),
        (JobQuery(states=(Shown.SUCCEEDED,)), 3),
        (JobQuery(states=(Shown.SUCCEEDED,), q="done-1"), 1),
        (JobQuery(q="done"), 3),
    ):
        page = await fake.platform.jobs(query, 1, None, ADMIN)
        assert (len(page.items), page.total) == (1, total)
