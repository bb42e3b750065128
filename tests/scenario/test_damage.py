"""Anything that is stored may be damaged: each page shows what is whole and says what is not, and the server starts and
goes on.
"""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.fixtures.api_contract import signed_in
from tests.fixtures.audited import audit_event
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.fixtures.pages import Page, every_page
from tests.scenario.conftest import WatchfulMachines
from tests.scenario.stage import ADMIN, PATIENCE_S, Stage, fake_spec
from trainmaster.api.app import create_app
from trainmaster.core.errors import Conflict
from trainmaster.core.sending import SendState, SendTarget
from trainmaster.messages.jobs.files import output_not_readable
from trainmaster.service.platform import Platform
from trainmaster.store import tables
from trainmaster.store.assets.models import ModelRows, saved_model
from trainmaster.store.people.accounts import User
from trainmaster.store.people.members import Member
from trainmaster.store.sending.rows import SendRows

DAMAGE = {
    "cut": '{"a": "b',
    "another kind": "[7]",
    "keys of others": (
        '{"role": "x", "code": 7, "message": [], "roles": 7, "policy": null, "placement": 7, "gpus": "x"}'
    ),
}
JSON = {"record", "data", "document", "jobs", "raw", "about", "place", "said"}
NOT_JSON = {("send_target", "place"), ("send_file", "said")}  # the second is read by nobody but who sends
COLUMNS = [
    (table.name, column.name)
    for table in tables.META.sorted_tables
    for column in table.columns
    if column.name in JSON and (table.name, column.name) not in NOT_JSON
]
"""Every column that holds JSON."""


@dataclass
class Kept:
    """A home in which everything that can be stored is stored. `job` has ended, on its second attempt."""

    home: Path
    job: str
    model: str
    sweep: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The home, its server ended. Each test harms a copy."""
    home = tmp_path_factory.mktemp("kept")
    async with Stage(home, engine=lambda: FakeEngine(WatchfulMachines())) as stage:
        job = await stage.submit(fake_spec("twice", "exit 3", retries=1), key="k1")
        await stage.ended(job)
        broken = await stage.submit(fake_spec("broken", "true"))
        await stage.ended(broken)
        database = stage.platform._life._database
        database.write(lambda c: c.exec_driver_sql(f"UPDATE job SET record = 'x' WHERE id = '{broken}'")).result()
        assert stage.platform.context.records.get_job(broken) is None
        saved = saved_model("sha256:1", 3, 1, 1000.0, job, 2, "models/m1/1", {"loss": 0.5})
        ModelRows(database).register(model_id="m1", name="net", owner="admin", saved=saved)
        deleted = saved_model("sha256:2", 3, 1, 1000.0, job, 1, "models/m2/1", {"loss": 0.5})
        ModelRows(database).register(model_id="m2", name="older", owner="admin", saved=deleted)
        ended = stage.platform.context.records.get_job(job)
        assert ended is not None
        sent = SendTarget(job, ended.seq, 0, "default", "store/prefix", "outputs", "keep")
        failed = replace(sent, state=SendState.FAILED, open=False, said=output_not_readable())
        SendRows(database).add([failed])
        app = create_app(stage.platform)
        async with signed_in(app, stage.platform) as http:
            gone = await http.delete("/api/v1/models/m2")
            assert gone.status_code < 300, gone.text
            made = await http.put("/api/v1/workspaces/vision", json={"weight": 2.0})
            assert made.status_code < 300, made.text
            swept = {**fake_spec("swept", "true"), "sweep": {"grid": {"lr": [1]}}}
            made = await http.post("/api/v1/sweeps", json={"spec": swept})
            assert made.status_code < 300, made.text
            sweep = made.json()["id"]
            chosen = await http.patch("/api/v1/notifications/settings", json={"kinds": {"ended": {"console": False}}})
            assert chosen.status_code < 300, chosen.text
            async with asyncio.timeout(PATIENCE_S):
                while not (await http.get("/api/v1/notifications")).json()["items"]:
                    await asyncio.sleep(0.02)
    assert {table for table, column in COLUMNS} == {
        table for table, column in COLUMNS if rows(home, f"SELECT count({column}) FROM {table}") != [(0,)]
    }, "something is not stored here"
    return Kept(home, job, "m1", sweep)


def rows(home: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(home / "trainmaster.db")) as connection, connection:
        return connection.execute(sql).fetchall()


@asynccontextmanager
async def served(home: Path, machines: FakeMachines) -> AsyncIterator[Platform]:
    """A server on `home`, its ledger as it is."""
    platform = Stage(home, engine=lambda: FakeEngine(machines)).platform
    await platform.start()
    try:
        yield platform
    finally:
        await platform.close()


async def pages(kept: Kept, platform: Platform) -> list[Page]:
    real = {
        "ref": kept.job,
        "models/ref": kept.model,
        "sweeps/ref": kept.sweep,
        "number": "1",
        "task": "task0-0",
        "version": "1",
        "name": "n1",
    }
    return await every_page(create_app(platform), platform, real)


@pytest.fixture
def another(kept: Kept, tmp_path: Path) -> Iterator[Path]:
    """A copy of the home, to be damaged."""
    shutil.copytree(kept.home, tmp_path / "another")
    yield tmp_path / "another"
    shutil.rmtree(tmp_path / "another")


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=[f"{table}.{column}" for table, column in COLUMNS])
async def test_no_stored_json_that_is_damaged_fails_a_page(
    kept: Kept, tmp_path: Path, machines: FakeMachines, table: str, column: str
) -> None:
    """R200: in each row of the table, in every way."""
    for number, harm in enumerate(DAMAGE.values()):
        home = tmp_path / f"harm{number}"
        shutil.copytree(kept.home, home)
        with closing(sqlite3.connect(home / "trainmaster.db")) as connection, connection:
            connection.execute("DROP TRIGGER audit_never_changed")  # a disk asks none
            connection.execute(f"UPDATE {table} SET {column} = ?", (harm,))
        async with served(home, machines) as platform:
            seen = await pages(kept, platform)
            assert not [page for page in seen if page.status >= 500], (harm, [p for p in seen if p.status >= 500])
            view, _ = await platform.submit({"spec": fake_spec("again", "sleep infinity")}, ADMIN, None)
            await platform.stop(view.id, ADMIN)


async def test_a_damaged_document_is_set_aside_and_said_and_can_be_stored_again(
    another: Path, kept: Kept, machines: FakeMachines
) -> None:
    """A single letter is enough: what the digest is not of is not run, not copied and not shown as if it were whole."""
    rows(another, "UPDATE spec SET document = replace(document, 'exit 3', 'exit 4')")
    async with served(another, machines) as platform:
        page = await platform.job(kept.job, ADMIN)
        assert page.spec == {}
        assert page.verdict.exit_code == 3
        assert [note.code for note in page.warnings] == ["malformed"]
        assert page.warnings[0].message.zh
        assert page.warnings[0].message.en
        async with signed_in(create_app(platform), platform) as http:
            for path in ("/spec", "/spec?dialect=pai"):
                answer = await http.get(f"/api/v1/jobs/{kept.job}{path}")
                assert (answer.status_code, answer.json()["kind"]) == (404, "not_found")
            assert (await clone(http, kept.job)).status_code == 404
        assert any(one.job.startswith("sha256:") for one in platform.context.records.quarantined())
        await platform.submit({"spec": fake_spec("twice", "exit 3", retries=1)}, ADMIN, None)
        assert (await platform.job(kept.job, ADMIN)).spec != {}, "the same document heals the older job's page"


async def clone(http: httpx.AsyncClient, job: str) -> httpx.Response:
    return await http.post(f"/api/v1/jobs/{job}/clone", json={})


async def test_what_is_damaged_of_a_job_is_said_where_it_was(another: Path, kept: Kept, machines: FakeMachines) -> None:
    """An event stands as a note in its place; a lost attempt is counted."""
    rows(another, "UPDATE event SET data = '{' WHERE kind = 'task_exited'")
    rows(another, "UPDATE attempt SET record = '{' WHERE number = 1")
    async with served(another, machines) as platform:
        page = await platform.job(kept.job, ADMIN)
        assert [attempt.number for attempt in page.attempt_list] == [2]
        assert len(page.warnings) == 3
        events = (await platform.events(kept.job, ADMIN, 0)).items
        assert sum("can no longer be read" in event.text.en for event in events) == 2
        assert [event.seq for event in events] == sorted(event.seq for event in events)


async def test_a_key_whose_answer_is_damaged_makes_no_second_job(another: Path, machines: FakeMachines) -> None:
    """B4: it may have been accepted, so that it is not accepted again."""
    rows(another, "UPDATE idempotency SET jobs = '[\"'")
    async with served(another, machines) as platform:
        with pytest.raises(Conflict, match="no longer be read"):
            await platform.submit({"spec": fake_spec("twice", "exit 3", retries=1)}, ADMIN, "k1")


@pytest.mark.parametrize("name", ["forecast.json", "shares.json", "trainmaster.mark"])
async def test_a_damaged_file_beside_the_ledger_stops_nothing(
    kept: Kept, another: Path, machines: FakeMachines, name: str
) -> None:
    """They are made anew."""
    for number, harm in enumerate([*DAMAGE.values(), json.dumps({"at": "x", "used": [[7, {"gpu": "x"}]]}), "\udcff"]):
        (another / name).write_bytes(harm.encode(errors="surrogateescape"))
        async with served(another, machines) as platform:
            assert not [page for page in await pages(kept, platform) if page.status >= 500], number


@pytest.mark.parametrize("harm", [*DAMAGE.values(), '{"owners_told": "no"}'])
async def test_a_damaged_privacy_switch_hides_owners_says_so_and_can_be_set_again(
    another: Path, machines: FakeMachines, harm: str
) -> None:
    """Somebody had wanted owners hidden: what cannot be read hides them, from all that look at it."""
    async with served(another, machines) as platform:
        assert (await platform.privacy.change(False, ADMIN)).unreadable is False
        user = User("ann", "", "user")
        platform.people._rows.add_user(user, audit_event(name="ann"), [Member("default", "ann", "member", 0.0)])
    with closing(sqlite3.connect(another / "trainmaster.db")) as connection, connection:
        connection.execute("UPDATE cluster_setting SET record = ? WHERE name = 'privacy'", (harm,))
    async with served(another, machines) as platform:
        ann = await asyncio.to_thread(platform.people._rows.person, "ann")
        assert (ann is not None, ann and ann.owners_told) == (True, False)
        app = create_app(platform)
        async with signed_in(app, platform) as http:
            told = (await http.get("/api/v1/cluster/privacy")).json()
            assert (told["owners_told"], told["unreadable"]) == (False, True)
            for wanted in (False, True, False):
                mended = (await http.put("/api/v1/cluster/privacy", json={"owners_told": wanted})).json()
                assert (mended["owners_told"], mended["unreadable"]) == (wanted, False)
                ann = await asyncio.to_thread(platform.people._rows.person, "ann")
                assert ann is not None
                assert ann.owners_told is wanted
