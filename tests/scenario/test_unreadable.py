"""A ledger that cannot be read: a sentence and 503 at every page, and nothing to mend by hand once it can be read
again.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.fixtures.pages import every_page
from tests.fixtures.postgres import Server, cluster
from tests.scenario.stage import PATIENCE_S, Stage, fake_spec
from trainmaster.api.app import create_app
from trainmaster.core.errors import Unavailable


@pytest.fixture
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of this test's own: it is stopped on the way."""
    with cluster() as server:
        yield server


@pytest.fixture
async def on_postgres(tmp_path: Path, postgres: Server, machines: FakeMachines) -> AsyncIterator[Stage]:
    """The platform on the fake machines, its ledger in PostgreSQL."""
    config = {"server": {"database": postgres.database()}}
    async with Stage(tmp_path / "home", config, engine=lambda: FakeEngine(machines)) as stage:
        yield stage


@pytest.mark.postgres
async def test_while_postgres_is_away_every_page_says_so_and_then_all_goes_on(
    on_postgres: Stage, postgres: Server, machines: FakeMachines
) -> None:
    """The database server is stopped under a running platform, and started again."""
    stage = on_postgres
    old, runs = await stage.submit(fake_spec("old")), await stage.submit(fake_spec("runs", "sleep infinity"))
    await stage.ended(old)
    await stage.running(runs)
    app = create_app(stage.platform)
    real = {"ref": old, "number": "last", "task": "task0-0", "version": "1", "name": "n1"}
    before = await every_page(app, stage.platform, real)
    assert {page.status for page in before if page.path.endswith(f"/jobs/{old}")} == {200}

    postgres.stop()
    stage.platform.people._known.clear()  # who asks is looked up, too
    away = await every_page(app, stage.platform, real)
    assert not [page for page in away if page.status == 500], "a traceback"
    elsewhere = ("/readyz", "/api/v1/datasets/uploads/", "/api/v1/image-builds/")  # not of the database
    refused = [page for page in away if page.status >= 400 and not page.path.startswith(elsewhere)]
    assert {(page.status, page.kind) for page in refused} == {(503, "unavailable")}
    assert all(page.retry_after for page in refused)
    assert "psycopg" not in refused[0].text
    for name in ("refused", "again"):
        with pytest.raises(Unavailable) as said:
            await stage.submit(fake_spec(name))
        assert said.value.remedy
    machines.end_task(f"{runs}-1")

    postgres.start()
    assert (await stage.ended(runs)).state == "succeeded", "what happened meanwhile is found out"
    assert (await stage.ended(await stage.submit(fake_spec("later")))).state == "succeeded"
    async with asyncio.timeout(PATIENCE_S):
        while not (await stage.platform.ready()).ok:  # who asks soon shares the last look, of while it was away
            await asyncio.sleep(0.02)
    after = await every_page(app, stage.platform, real)
    assert [(page.path, page.status) for page in after] == [(page.path, page.status) for page in before]


def overwrite(path: Path, table: str) -> None:
    """Overwrite the root pages of a table and its indexes, in the middle of the file, as a failing disk does."""
    connection = sqlite3.connect(path)
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    found = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = ? AND rootpage > 1", (table,))
    pages = [page for (page,) in found]
    connection.close()
    assert pages
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


@pytest.mark.parametrize("table", ["spec", "attempt", "tokens", "asset"])
async def test_a_page_of_the_file_that_is_destroyed_is_said_and_the_rest_answers(
    tmp_path: Path, machines: FakeMachines, table: str
) -> None:
    """What lies on other pages is shown; what lay on this one is a sentence with a remedy, never a traceback."""
    home = tmp_path / "home"
    async with Stage(home, engine=lambda: FakeEngine(machines)) as stage:
        job = await stage.submit(fake_spec("whole"))
        await stage.ended(job)
    overwrite(home / "trainmaster.db", table)
    stage = Stage(home, engine=lambda: FakeEngine(machines))
    await stage.platform.start()
    try:
        stage.platform.people._known.clear()
        real = {"ref": job, "number": "last", "task": "task0-0", "version": "1", "name": "n1"}
        pages = await every_page(create_app(stage.platform), stage.platform, real)
        assert not [page for page in pages if page.status == 500], "a traceback"
        said = [page for page in pages if page.status == 503 and page.path != "/readyz"]
        assert said
        assert {page.kind for page in said} == {"unavailable"}
        assert all("doctor" in page.text for page in said)
        assert {page.status for page in pages if page.path.endswith(("/cluster", "/nodes", "/session"))} == {200}
    finally:
        await stage.platform.close()


async def test_a_server_whose_newest_events_are_destroyed_does_not_start(
    tmp_path: Path, machines: FakeMachines
) -> None:
    """It would give numbers away twice. It says what is wrong instead, and leaves the file as it is."""
    home = tmp_path / "home"
    async with Stage(home, engine=lambda: FakeEngine(machines)) as stage:
        await stage.ended(await stage.submit(fake_spec("whole")))
    overwrite(home / "trainmaster.db", "event")
    damaged = (home / "trainmaster.db").read_bytes()

    async def start() -> None:
        """Where it looks how far the ledger is, it may say so already when it is opened."""
        stage = Stage(home, engine=lambda: FakeEngine(machines))
        try:
            await stage.platform.start()
        finally:
            await stage.platform.close()

    with pytest.raises(Unavailable, match="damaged") as said:
        await start()
    assert "doctor" in said.value.remedy
    assert (home / "trainmaster.db").read_bytes() == damaged
