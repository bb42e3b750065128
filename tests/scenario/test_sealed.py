"""No number that a stranger is given grows with what they may not see: a cursor, a position in the feed and an id are
sealed, and what counts, counts their own (B11).
"""

import asyncio
import re
from typing import Any, Final

import httpx
import pytest

from tests.fixtures.api_contract import signed_in
from tests.fixtures.audited import audit_event
from tests.fixtures.pages import ALWAYS
from tests.fixtures.people import person
from tests.fixtures.two_people import two_people
from tests.scenario.stage import ADMIN, PATIENCE_S, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.api.app import create_app
from trainmaster.api.openapi import contract
from trainmaster.api.policy import PREFIX
from trainmaster.api.routes.feed import _items
from trainmaster.core.folders.layout import Layout
from trainmaster.service.secrets.seals import Seals
from trainmaster.service.use_cases.people.credentials import WantedToken
from trainmaster.store.people.accounts import User
from trainmaster.store.people.members import Member

SEALED: Final = {"seq", "next_cursor"}
"""Another one in each answer."""
MOVES: Final = {
    "at",
    "now",
    "run_s",
    "wait_s",
    "planned_at",
    "made_at",
    "until",
    "gpu_s",
    "machine_s",
    "amount",
    "spent",
}
"""What goes on with time, whatever others do."""


async def stranger(stage: Stage) -> tuple[Principal, str]:
    """Return somebody and a token of theirs: in a workspace of their own, with three jobs that ended."""
    ann = person("ann", "default")
    rows = stage.platform.people._rows
    rows.add_user(User("ann", "", "user"), audit_event(name="ann"), [Member("default", "ann", "member", 0.0)])
    token = (await stage.platform.credentials.create(ann, WantedToken("of ann"))).token
    for number in range(3):
        made, _ = await stage.platform.submit({"spec": fake_spec(f"mine-{number}", "exit 3")}, ann, None)
        await stage.ended(made.id)
    async with asyncio.timeout(PATIENCE_S):
        while (await stage.platform.notifications.page(ann, 1, None, (), False)).unread < 3:
            await asyncio.sleep(0.02)  # they come a moment after the end
    return ann, token


async def hide(stage: Stage, count: int) -> None:
    """Let somebody else do a lot."""
    bodies = [{"spec": fake_spec(f"h{n}")} for n in range(count)]
    for one in (await stage.platform.submit_batch(bodies, ADMIN, None)).items if bodies else ():
        await stage.ended(one.id)


async def told(http: httpx.AsyncClient) -> dict[str, Any]:
    """Return what a stranger is told wherever something stands that is numbered."""
    jobs = (await http.get(f"{PREFIX}/jobs")).json()["items"]
    asked = ["/jobs?limit=1", "/jobs?limit=1&order=name", "/queue/history?limit=1", "/audit?limit=1", "/home"]
    asked += ["/notifications?limit=1", "/workspaces/default/entries?limit=1"]
    asked += [f"/jobs/{job['id']}{rest}" for job in jobs for rest in ("", "/events", "/versions")]
    found = {}
    for address in asked:
        answer = await http.get(PREFIX + address)
        assert answer.status_code == 200, (address, answer.text)
        found[address] = answer.json()
    return found


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Return what stands in an answer, by where it stands; without what goes on with time."""
    if isinstance(value, dict):
        parts: Any = ((name, one) for name, one in value.items() if name not in MOVES)
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        return {path: value}
    return {at: one for name, part in parts for at, one in leaves(part, f"{path}.{name}").items()}


def is_sealed(path: str) -> bool:
    """Return whether a mark stands there, which is another one each time. An event's `seq` is its place in its job."""
    return path.rpartition(".")[2] in SEALED and "/events" not in path


async def test_nothing_a_stranger_is_told_grows_with_a_hundred_hidden_jobs(fake: Stage) -> None:
    """What they ask before and after is the same but for marks, which are others each time, also when nothing happened
    between, and always as long.
    """
    _, token = await stranger(fake)
    async with signed_in(create_app(fake.platform), fake.platform, token) as http:
        before, still = leaves(await told(http)), leaves(await told(http))
        await hide(fake, 100)
        after = leaves(await told(http))
    marks = [path for path in before if is_sealed(path) and before[path] is not None]
    assert {path for path in before if before[path] != after.get(path)} == set(marks)
    assert {path for path in before if before[path] != still.get(path)} == set(marks)
    assert {path.rpartition(".")[2] for path in marks} == SEALED
    for path in marks:
        assert isinstance(before[path], str)
        assert len(before[path]) == len(after[path]) == len(still[path]), path
        assert re.fullmatch(r"[\w-]{40,}", after[path])


async def test_the_ids_of_what_is_numbered_do_not_tell_of_hidden_jobs(fake: Stage) -> None:
    """Those of what came after a hundred hidden jobs look as those of what came before."""
    ann, token = await stranger(fake)
    seen: list[str] = []
    async with signed_in(create_app(fake.platform), fake.platform, token) as http:
        for others in (0, 100):
            await hide(fake, others)
            made, _ = await fake.platform.submit({"spec": fake_spec("another")}, ann, None)
            await fake.ended(made.id)
            page = (await http.get(f"{PREFIX}/audit?limit=1")).json()
            events = (await http.get(f"{PREFIX}/jobs/{made.id}/events")).json()["items"]
            assert [one["seq"] for one in events] == [*range(1, len(events) + 1)]
            assert (await http.get(f"{PREFIX}/jobs/{made.id}/events?after=2")).json()["items"] == events[2:]
            seen.append(page["items"][0]["id"])
    assert len(seen[0]) == len(seen[1]) >= 30
    assert not any(one.isdigit() for one in seen)


async def test_the_feed_tells_a_stranger_nothing_of_hidden_jobs(fake: Stage) -> None:
    """Each event has a mark of its own, from which one can go on, and that is all it is good for."""
    ann, _ = await stranger(fake)
    feed, heard = fake.platform.feed, []
    start = feed.position(feed.here())
    for others in (0, 100):
        await hide(fake, others)
        made, _ = await fake.platform.submit({"spec": fake_spec("heard")}, ann, None)
        await fake.ended(made.id)
        async for sent in _items(fake.platform, ann, start, None):
            assert sent.event in ("job", "cluster", "notices")
            heard.append(sent.seq)
            if sent.event == "job":
                assert (sent.data.id, sent.data.seq) == (made.id, sent.seq)
                start = feed.position(str(sent.seq))
                if sent.data.state == "succeeded":
                    break
    assert len(set(heard)) == len(heard)
    assert len({len(str(one)) for one in heard}) == 1


def lists(app: Any) -> list[str]:
    """Return the address of every list of which there is more than one page, as the contract has it."""
    found = []
    for path, methods in contract(app.app)["paths"].items():
        asked = {one["name"] for one in methods.get("get", {}).get("parameters", ())}
        if "cursor" in asked:
            found.append(re.sub("{(\\w+)}", lambda name: ALWAYS.get(name[1], "default"), path))
    return found


async def test_every_list_gives_sealed_cursors_and_takes_no_others(fake: Stage, tmp_path: Any) -> None:
    """Neither what was made up, nor what another home has sealed, nor the cursor of another list."""
    first, _, admin = await two_people(fake)
    app, elsewhere, given = create_app(fake.platform), Seals(Layout(str(tmp_path / "elsewhere"))), {}
    async with admin.client(app) as http:
        addresses = lists(app)
        assert len(addresses) >= 13
        for address in addresses:
            answer = await http.get(f"{address}?limit=1")
            given[address] = answer.json()["next_cursor"]
        marks = [mark for mark in given.values() if mark is not None]
        assert len(marks) >= 6, given
        for address in addresses:
            foreign = elsewhere.text_mark(address.rpartition("/")[2], "1")
            others = [mark for at, mark in given.items() if mark is not None and at != address]
            for forged in ("1", "e30", "💥", foreign, others[0]):
                answer = await http.get(address, params={"cursor": forged})
                assert answer.status_code == 422, (address, forged, answer.text)
                assert answer.json()["code"] == "cursor_of_another_list"
                assert answer.json()["problems"][0]["path"].endswith("cursor")
            if (mark := given[address]) is not None:
                assert len(mark) > 150
                assert (await http.get(address, params={"cursor": mark, "limit": 1})).status_code == 200
    async with first.client(app) as http:  # it is no right to see what lies behind it
        jobs = (await http.get(f"{PREFIX}/jobs", params={"cursor": given[f"{PREFIX}/jobs"]})).json()["items"]
        assert {job["owner"] for job in jobs} == {first.name}


@pytest.mark.parametrize("given", ["1", "x", "é"])
async def test_a_position_that_nobody_was_told(fake: Stage, given: str) -> None:
    """Is refused where somebody writes it; who resumes as browsers do of their own accord is told to list again."""
    async with signed_in(create_app(fake.platform), fake.platform) as http:
        refused = await http.get(f"{PREFIX}/feed", params={"after": given})
        assert (refused.status_code, refused.json()["code"]) == (422, "position_not_known")
        assert refused.json()["problems"][0]["path"] == "after"
        part = {"filter": {}, "expected": 9, "after": given}
        refused = await http.post(f"{PREFIX}/jobs/stop", json=part)
        assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "after")
