"""Fifty requests at the same moment against one limit, over HTTP and a real server: exactly what the limit allows
passes, whichever way it is asked for, and the rest is refused in words (R18, R20, R171).
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.shell import Shell, serving
from trainmaster.core.folders.layout import Layout

MANY = 50
SETTINGS = "[local]\nvirtual_nodes = 1\ncpu = 8.0\nmemory_mib = 16384\n"
HALF = 5.0
"""Cores, of eight: one such job runs, the others wait."""


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=SETTINGS) as shell:
        yield shell


@pytest.fixture
async def http(tm: Shell) -> AsyncIterator[httpx.AsyncClient]:
    """The administrator, with a connection for each request."""
    async with client(tm, Path(Layout(str(tm.home)).cli_token).read_text().strip()) as made:
        yield made
        while alive := await live(made):
            for one in alive:
                await made.post(f"/jobs/{one['id']}/stop", json={})
            await asyncio.sleep(0.2)  # another process: nothing tells


def client(tm: Shell, token: str) -> httpx.AsyncClient:
    url = json.loads((tm.home / "run" / "server.json").read_text())["url"]
    return httpx.AsyncClient(
        base_url=f"{url}/api/v1",
        headers={"authorization": f"Bearer {token}"},
        limits=httpx.Limits(max_connections=MANY),
        timeout=60,
        trust_env=False,
    )


async def somebody(tm: Shell, http: httpx.AsyncClient, name: str, workspace: str) -> httpx.AsyncClient:
    """Return a client of a new member of the workspace, by a token of theirs."""
    made = await http.post("/users", json={"name": name, "workspace": workspace})
    assert made.is_success, made.text
    token = await http.post("/tokens", json={"name": "race", "user": name})
    return client(tm, token.json()["token"])


def job(workspace: str, flavor: str = "", cpu: float = 0.1, **fields: Any) -> dict[str, Any]:
    """Return the body of a job that runs until it is stopped."""
    holds = {"flavors": [flavor]} if flavor else {"resources": {"cpu": cpu, "memory": 64}}
    role = {"name": "main", "command": "sleep infinity", **holds}
    return {"spec": {"name": "raced", "workspace": workspace, "roles": [role], **fields}}


def codes(answers: list[httpx.Response]) -> set[str]:
    """Return all that the refusals among them say; each is one, and none a fault of the server."""
    refused = [one for one in answers if not one.is_success]
    assert {one.status_code for one in refused} <= {422}, [one.text for one in refused][:3]
    return {problem["code"] for one in refused for problem in one.json()["problems"]}


async def live(http: httpx.AsyncClient, **where: str) -> list[dict[str, Any]]:
    """Return the jobs that have not ended."""
    page = (await http.get("/jobs", params={"limit": 200, **where})).json()
    return [one for one in page["items"] if one["ended_at"] is None]


async def test_urgent_jobs(tm: Shell, http: httpx.AsyncClient) -> None:
    """Submits, batches of two and raised priorities side by side, of two people (R20, R171)."""
    limits = {"urgent_per_user": 3, "urgent_total": 5}
    assert (await http.put("/workspaces/hurried", json=limits)).is_success
    async with await somebody(tm, http, "ann", "hurried") as ann, await somebody(tm, http, "bob", "hurried") as bob:
        people = (ann, bob)
        calm = [(await people[n % 2].post("/jobs", json=job("hurried", cpu=HALF))).json()["id"] for n in range(10)]
        urgent = job("hurried", cpu=HALF, priority="urgent")

        async def one(number: int) -> httpx.Response:
            who = people[number % 2]
            if number < len(calm):
                return await who.patch(f"/jobs/{calm[number]}", json={"priority": "urgent"})
            if number % 5 == 0:
                return await who.post("/jobs/batch", json={"items": [urgent, urgent]})
            return await who.post("/jobs", json=urgent)

        answers = await asyncio.gather(*map(one, range(MANY)))
        assert codes(answers) <= {"urgent_limit_user", "urgent_limit_workspace"}
        mine = await live(http, workspace="hurried")
        held = Counter(found["owner"] for found in mine if found["priority"] == "urgent")
        assert sum(held.values()) == 5
        assert sorted(held.values()) == [2, 3]
        shown = (await http.get("/workspaces")).json()["items"]
        assert [found["urgent"]["used"] for found in shown if found["name"] == "hurried"] == [5]


async def test_running_jobs_of_a_person(tm: Shell, http: httpx.AsyncClient) -> None:
    """All fifty are taken, three run, the others say what they wait for; whoever comes next is not held up."""
    limits = {"per_person": {"default": {"jobs": 3}}}
    assert (await http.put("/workspaces/narrow", json=limits)).is_success
    async with await somebody(tm, http, "cyd", "narrow") as cyd, await somebody(tm, http, "dan", "narrow") as dan:
        answers = await asyncio.gather(*(cyd.post("/jobs", json=job("narrow")) for _ in range(MANY)))
        assert codes(answers) == set()
        later = (await dan.post("/jobs", json=job("narrow"))).json()["id"]
        most, states = 0, Counter[str]()
        while states["running"] < 3 or (await dan.get(f"/jobs/{later}")).json()["state"] != "running":
            states = Counter(one["state"] for one in await live(http, workspace="narrow", owner="cyd"))
            most = max(most, sum(states.values()) - states["queued"])
            await asyncio.sleep(0.05)  # another process: nothing tells
        assert most == 3
        assert states == {"running": 3, "queued": MANY - 3}
        waits = (await cyd.get("/jobs", params={"state": "queued", "limit": 1})).json()["items"][0]
        told = (await cyd.get(f"/jobs/{waits['id']}")).json()["reason"]
        assert told["code"] == "quota"
        assert "cyd in workspace narrow runs 3 jobs" in told["message"]["en"]


async def test_a_balance(tm: Shell, http: httpx.AsyncClient) -> None:
    """A balance that pays for four jobs of ten minutes: four pass, by submits, clones and longer limits (R18)."""
    assert (await http.put("/workspaces/poor", json={})).is_success
    flavor = {"cpu": HALF, "memory_mib": 64, "price": "3600"}  # a second costs 1.00
    assert (await http.put("/workspaces/poor/flavors/dear", json=flavor)).is_success
    async with await somebody(tm, http, "eve", "poor") as eve, await somebody(tm, http, "fay", "poor") as fay:
        first = (await eve.post("/jobs", json=job("poor", flavor="dear", duration=600, share="read"))).json()["id"]
        assert (await http.put("/workspaces/poor/budget", json={"credit_limit": "0"})).is_success
        assert (await http.post("/workspaces/poor/entries", json={"amount": str(4 * 600)})).is_success
        dear = job("poor", flavor="dear", duration=600)

        async def one(number: int) -> httpx.Response:
            who = (eve, fay)[number % 2]
            if number % 10 == 3:
                return await who.post(f"/jobs/{first}/clone", json={})
            if number % 10 == 6:
                return await eve.patch(f"/jobs/{first}", json={"duration_s": 1200})
            return await who.post("/jobs", json=dear)

        answers = await asyncio.gather(*map(one, range(MANY)))
        assert codes(answers) == {"not_enough_balance"}
        longer = (await eve.get(f"/jobs/{first}")).json()["duration_s"] == 1200
        passed = len(await live(http, workspace="poor")) - 1 + longer
        assert passed == 3, "one was there before"
        stands = (await http.get("/workspaces/poor/balance")).json()
        assert 0 <= float(stands["available"]) < 600
