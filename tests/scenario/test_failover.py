"""Several servers on one home (docs/design/processes.md): what one that stands by answers, and how it leads and steps
down.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.fixtures.api_contract import signed_in
from tests.fixtures.postgres import Server, cluster
from tests.scenario.stage import PATIENCE_S, Stage, spec
from trainmaster.api.app import create_app
from trainmaster.core.errors import Conflict, Unavailable
from trainmaster.messages import render
from trainmaster.messages.server.ledger import ledger_closed, nobody_leads
from trainmaster.messages.server.server import leader_silent
from trainmaster.service import failover as module
from trainmaster.service import wiring
from trainmaster.service.failover import Failover
from trainmaster.service.upkeep import results
from trainmaster.service.use_cases import readiness
from trainmaster.service.wiring import follow, prepare

pytestmark = pytest.mark.postgres
NOWHERE = "http://127.0.0.1:1"
READ = (
    "/jobs",
    "/jobs/{ref}",
    "/jobs/{ref}/events",
    "/jobs/{ref}/spec",
    "/session",
    "/tokens",
    "/models",
    "/audit",
    "/meta",
)
FILES = ("/jobs/{ref}/attempts/last/tasks/task0-0/log", "/jobs/{ref}/usage", "/jobs/{ref}/metrics", "/jobs/{ref}/files")
LEADERS_FIGURES = ("trainmaster_jobs_", "trainmaster_nodes", "trainmaster_gpus", "trainmaster_events")
NEED_THE_LEADER = ("/jobs/{ref}/explain", "/queue", "/cluster", "/pools", "/nodes", "/workspaces", "/feed")


@pytest.fixture
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of this test's own."""
    with cluster() as server:
        yield server


@pytest.fixture
async def stage(tmp_path: Path, postgres: Server) -> AsyncIterator[Stage]:
    """A platform that leads, its ledger in PostgreSQL."""
    async with Stage(tmp_path / "home", {"server": {"database": postgres.database()}}) as made:
        yield made


async def until_it_leads(failover: Failover, leads: bool = True) -> None:
    """Wait until `failover` leads, or does not any more."""
    async with asyncio.timeout(PATIENCE_S):
        while failover.leads is not leads:
            await asyncio.sleep(0.02)


async def asked(http: httpx.AsyncClient, path: str, ref: str) -> httpx.Response:
    """Ask once."""
    return await http.get("/api/v1" + path.format(ref=ref))


async def test_while_nobody_leads_rows_and_files_are_answered_and_all_else_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leader does not answer; then it is gone, and the one that stood by does everything."""
    monkeypatch.setattr(module, "LOOK_S", 0.1)
    done = await stage.submit(spec("done", "echo hello"))
    runs = await stage.submit(spec("runs", "echo started; until [ -e /tmp/go ]; do sleep 0.1; done"))
    waits = await stage.submit(spec("waits", replicas=2, resources={"cpu": 4, "memory": 64}))
    await stage.ended(done)
    await stage.running(runs, "started")
    before = {job: (await stage.view(job)).state for job in (done, runs, waits)}
    await stage.platform.context.master.durable()

    failover = Failover(stage.platform.layout, stage.platform.config, NOWHERE)
    assert not failover.leads
    app = create_app(failover.platform, failover=failover)
    async with app.running(), signed_in(app, stage.platform) as http:
        for path in (*READ, *FILES):
            answer = await asked(http, path, done)
            assert answer.status_code == 200, (path, answer.text)
        listed = (await asked(http, "/jobs", "")).json()
        assert {job["id"]: job["state"] for job in listed["items"]} == before
        assert listed["counts"] == dict.fromkeys(before.values(), 1)
        assert (await asked(http, f"/jobs/{waits}", "")).json()["reason"] is None, "only the leader knows why"
        log = (await asked(http, FILES[0], runs)).json()
        assert "started" in log["text"]
        assert log["ended"] is False
        for path in NEED_THE_LEADER:
            answer = await asked(http, path, done)
            assert (answer.status_code, answer.json()["code"]) == (503, "nobody_leads"), path
            assert answer.headers["retry-after"]
        refused = await http.post("/api/v1/jobs", json={"spec": spec("new")}, headers={"idempotency-key": "new"})
        assert (refused.status_code, refused.json()["code"]) == (503, "nobody_leads")
        ready = await http.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["checks"]["ledger"] == "ok"
        measured = (await http.get("/metrics")).text
        assert "trainmaster_leads 0.0" in measured
        assert "trainmaster_feed_listeners 0.0" in measured
        assert not any(name in measured for name in LEADERS_FIGURES), "a 0 would be added to what the leader says"

        await stage.platform.close()
        await until_it_leads(failover)
        assert (await http.get("/readyz")).json()["ok"]
        measured = (await http.get("/metrics")).text
        assert "trainmaster_leads 1.0" in measured
        assert all(name in measured for name in LEADERS_FIGURES)
        assert (await asked(http, "/jobs/{ref}/explain", waits)).json()["reason"] is not None
        made = await http.post("/api/v1/jobs", json={"spec": spec("new")}, headers={"idempotency-key": "new"})
        assert made.status_code == 201
        stopped = await http.post("/api/v1/jobs/stop", json={"ids": [runs, waits]})
        assert len(stopped.json()["done"]) == 2
        stage.platform = failover.platform
        assert (await stage.ended(made.json()["id"])).state == "succeeded"
        assert (await stage.ended(runs)).state == "stopped", (
            "the new leader has found the task that the old one started"
        )
    stage.platform = stage._build()
    await stage.platform.start()


async def fails() -> None:
    """Fail, as what ends badly does."""
    raise ZeroDivisionError


@pytest.mark.parametrize("ends_badly", [False, True])
async def test_a_leader_that_another_one_fenced_off_stands_by(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, ends_badly: bool
) -> None:
    """What it remembers is out of date: it begins anew from the ledger, and leads again only once nobody does. What is
    the new leader's it leaves alone.
    """
    monkeypatch.setattr(module, "LOOK_S", 0.1)
    await stage.platform.close()
    failover = Failover(stage.platform.layout, stage.platform.config, NOWHERE)
    seen: list[bool] = []
    failover.on_change.append(lambda platform: 1 / 0)  # who is told may fail; nothing hangs on it
    failover.on_change.append(lambda platform: seen.append(platform.context.leads))
    assert failover.leads
    await failover.start()
    if ends_badly:
        monkeypatch.setattr(failover.platform.context.forecasts, "close", fails)
    shares = Path(failover.platform.layout.path("shares.json"))
    shares.write_text("the new leader's")
    try:
        with psycopg.connect(failover.platform.config.server.database, autocommit=True) as connection:
            connection.execute("UPDATE meta SET value = (value::int + 1)::text WHERE key = 'epoch'")
        async with asyncio.timeout(PATIENCE_S):
            while seen != [False, True]:
                await asyncio.sleep(0.02)
        stage.platform = failover.platform
        assert (await stage.ended(await stage.submit(spec("later")))).state == "succeeded"
        assert shares.read_text() == "the new leader's"
    finally:
        await failover.close()
        stage.platform = stage._build()
        await stage.platform.start()


async def test_who_cannot_go_on_lets_go_of_the_lead(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one could not take over from a server that holds the lock and answers nobody."""
    await stage.platform.close()

    def refuse(*parts: object, **more: object) -> None:
        raise Unavailable(ledger_closed())

    with monkeypatch.context() as broken:
        broken.setattr(wiring, "assemble", refuse)
        with pytest.raises(Unavailable):
            Failover(stage.platform.layout, stage.platform.config, NOWHERE)
    failover = Failover(stage.platform.layout, stage.platform.config, NOWHERE)
    assert failover.leads
    await failover.start()
    monkeypatch.setattr(failover.platform.context.shares, "close", fails)
    with pytest.raises(ZeroDivisionError):
        await failover.close()
    again = Failover(stage.platform.layout, stage.platform.config, NOWHERE)
    assert again.leads
    await again.close()
    stage.platform = stage._build()
    await stage.platform.start()


async def test_ready_means_that_the_leader_answers(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before it has begun, nor while it was stopped: it listens, and holds its lock, all the time."""
    monkeypatch.setattr(readiness, "READY_S", 0.0)
    monkeypatch.setattr(readiness, "PATIENCE_S", 1.0)
    await stage.platform.close()
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    leader = Failover(stage.platform.layout, stage.platform.config, address)
    other = follow(stage.platform.layout, stage.platform.config)
    try:
        assert (await other.ready()).checks == {"ledger": "ok", "leader": render.text(nobody_leads())}
        await leader.start()
        assert (await other.ready()).checks == {"ledger": "ok", "leader": render.text(leader_silent(address))}

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(answer, sock=listening):
            assert (await other.ready()).ok
    finally:
        await leader.close()
        await other.close()
        listening.close()
    stage.platform = stage._build()
    await stage.platform.start()


async def test_what_is_damaged_stops_no_list_of_one_that_stands_by(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out, and left to the leader: only that may set it aside."""
    monkeypatch.setattr(results, "FIRST_S", 1000.0)  # the leader looks at no job that ended
    good, bad = [await stage.submit(spec(name)) for name in ("good", "bad")]
    await stage.ended(good)
    await stage.ended(bad)
    failover = Failover(stage.platform.layout, stage.platform.config, NOWHERE)
    with psycopg.connect(stage.platform.config.server.database, autocommit=True) as connection:
        record = connection.execute("SELECT record FROM job WHERE id = %s", (bad,)).fetchone()
        documents = connection.execute("SELECT document, digest FROM spec").fetchall()
        assert record is not None
        connection.execute("UPDATE job SET record = '{' WHERE id = %s", (bad,))
        connection.execute("UPDATE spec SET document = '{'")
        app = create_app(failover.platform, failover=failover)
        async with app.running(), signed_in(app, stage.platform) as http:
            listed = await asked(http, "/jobs", "")
            assert listed.status_code == 200, listed.text
            assert [job["id"] for job in listed.json()["items"]] == [good]
            assert (await asked(http, "/jobs/{ref}", bad)).status_code == 404
            unread = await asked(http, "/jobs/{ref}/spec", good)
            assert (unread.status_code, unread.json()["code"]) == (404, "no_readable_document")
        assert stage.platform.context.records.quarantined() == []
        connection.execute("UPDATE job SET record = %s WHERE id = %s", (*record, bad))
        for row in documents:
            connection.execute("UPDATE spec SET document = %s WHERE digest = %s", row)


async def test_two_that_start_together_on_an_empty_database_agree(tmp_path: Path, stage: Stage) -> None:
    """One leads; the other follows it, whoever makes the tables."""
    await stage.platform.close()
    with psycopg.connect(stage.platform.config.server.database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    with suppress(FileNotFoundError):
        Path(stage.platform.layout.mark).unlink()
    make = (Failover, stage.platform.layout, stage.platform.config)
    first, second = await asyncio.gather(
        asyncio.to_thread(*make, "http://127.0.0.1:1"), asyncio.to_thread(*make, "http://127.0.0.1:2")
    )
    assert sorted([first.leads, second.leads]) == [False, True]
    for one in (first, second):
        await one.close()
    stage.platform = stage._build()
    await stage.platform.start()


def test_a_home_on_sqlite_has_one_server(tmp_path: Path) -> None:
    """It says so, and what to do."""
    layout, config = prepare(str(tmp_path), None, None)
    with pytest.raises(Conflict) as said:
        Failover(layout, config, NOWHERE)
    assert said.value.code == "only_postgresql_is_shared"


def test_who_may_have_to_lead_has_an_address(tmp_path: Path) -> None:
    """Else the others would look for it on their own machines."""
    layout, config = prepare(str(tmp_path), "0.0.0.0", None, address="10.0.0.5:80")
    assert config.server.address == "10.0.0.5:80"
    server = replace(config.server, database="postgresql://nobody@nowhere/none")
    with pytest.raises(Conflict) as said:
        Failover(layout, replace(config, server=server), "")
    assert said.value.code == "standby_needs_address"
    assert "--address" in said.value.remedy
    assert "server.address" in said.value.remedy
