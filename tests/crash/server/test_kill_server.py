"""kill -9 of server, agent and keeper while jobs run, wait, start, finish and are submitted (issue's list, item 3).

TRAINMASTER_TEST_KILLS sets how many kills; the seed is printed and can be given as TRAINMASTER_TEST_SEED.
"""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.server.harness import Feeder, Home, Promises, Storm, median
from tests.fixtures.postgres import cluster
from tests.fixtures.seeing import ALL
from tests.scenario.stage import check_fold, marked, spec
from trainmaster.store.assets.versions import AssetKind, AssetReader
from trainmaster.store.database import Database
from trainmaster.store.jobs.read_ledger import LedgerReader

pytestmark = [pytest.mark.serial, pytest.mark.timeout(900)]

log = logging.getLogger(__name__)
KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_KILLS", "100"))
RUNNING, QUEUED, STOPPED, FED = 50, 500, 8, 400
RAN: Final = "echo ran >> /workspace/outputs/ran"
LONG: Final = f"{RAN}; i=0; until [ -e /marks/go ]; do i=$((i+1)); echo line $i; sleep 0.5; done; echo end"
SHORT: Final = f"{RAN}; for i in 1 2 3 4 5; do echo line $i; done; sleep 0.$((RANDOM % 4)); echo end"
TINY: Final = {"cpu": 1, "memory": 64}


@pytest.fixture
def seed() -> int:
    """Printed when the test fails."""
    chosen = int(os.environ.get("TRAINMASTER_TEST_SEED", time.time_ns() % 10**9))
    log.warning("TRAINMASTER_TEST_SEED=%s", chosen)
    return chosen


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of an empty database."""
    with cluster() as server:
        yield server.database()


def documents(marks: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return a job that runs until told, a short one, and a short one whose output is saved as a model."""
    mount = [{"name": "marks", "path": str(marks), "mount": "/marks"}]
    off = {"save": False}
    long = spec("long", LONG, inputs=mount, resources=TINY, model=off, grace=1)
    return (
        long,
        spec("short", SHORT, resources=TINY, model=off),
        spec("saved", f"{SHORT}; echo w > /model/w", resources=TINY),
    )


def test_nothing_is_lost_and_nothing_runs_twice(tmp_path: Path, seed: int) -> None:
    """50 jobs run, 500 wait, more come all the time; 100 kills; then every promise is looked at."""
    _story(tmp_path, seed, KILLS, running=RUNNING, queued=QUEUED, database="")


@pytest.mark.postgres
def test_nothing_is_lost_with_postgresql(tmp_path: Path, seed: int, postgres: str) -> None:
    """The same promises on the other database: leadership passes from every killed server to the next."""
    _story(tmp_path, seed, max(8, KILLS // 8), running=10, queued=60, database=postgres)


def _story(tmp_path: Path, seed: int, kills: int, *, running: int, queued: int, database: str) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    config: dict[str, dict[str, Any]] = {
        "server": {"database": database},
        "local": {"virtual_nodes": 2, "cpu": running / 2 + 6, "memory_mib": 100_000, "mount_roots": [str(tmp_path)]},
    }
    home = Home(tmp_path / "home", config)
    client, promises = home.client(), Promises()
    long, short, saved = documents(marks)
    try:
        first = client.ask("POST", "/jobs/batch", {"items": [{"spec": long}] * running}, {"Idempotency-Key": "long"})
        jobs = [item["id"] for item in first["items"]]
        _until(
            lambda: client.ask("GET", "/jobs?limit=1")["counts"].get("running", 0) == running, home, "the long jobs run"
        )
        _until(lambda: all(_lines(home, job) for job in jobs), home, "the long jobs write")
        still = _lasting(home, jobs)
        assert len(still) >= running
        waiting = {"items": [{"spec": short}] * (queued - queued // 10) + [{"spec": saved}] * (queued // 10)}
        second = client.ask("POST", "/jobs/batch", waiting, {"Idempotency-Key": "short"})["items"]
        for number, job in enumerate([*jobs, *(item["id"] for item in second)]):
            promises.take(f"batch-{number}", job)
        feeder = Feeder(home, short, promises, FED)
        feeder.start()
        storm = Storm(home, promises, seed)
        storm.rage(kills, still)
        for job in jobs[:STOPPED]:
            client.ask("POST", f"/jobs/{job}/stop", {})
            promises.stopped.add(job)
        storm.rage(max(4, kills // 20), {})
        feeder.enough.set()
        feeder.join()
        assert feeder.error is None, feeder.error
        (marks / "go").touch()
        live = ("queued", "initialising", "running", "saving", "stopping")
        _until(
            lambda: not any(client.ask("GET", "/jobs?limit=1")["counts"].get(s, 0) for s in live),
            home,
            "all have ended",
        )
        _check(home, config, promises, set(jobs))
        again, load = median(storm.listing), median(storm.imports)
        log.warning(
            "%d restarts: median %.2f s, longest %.2f s; imports alone %.2f s",
            len(storm.listing),
            again,
            max(storm.listing),
            load,
        )
        assert again <= 1.0 + 1.5 * load, "listing again takes more than loading the program and a second"
    finally:
        home.end()
    assert [found for found in marked() if found[2].partition("-")[0] in promises.jobs.values()] == []


def _check(home: Home, config: dict[str, dict[str, Any]], promises: Promises, long: set[str]) -> None:
    """Look at every promise with the server gone: in the ledger, in the files."""
    home.kill_server()
    url = config["server"]["database"] or f"sqlite:///{home.layout.database}"
    database = Database.open(url, backup_dir=str(home.folder / "backups"))
    try:
        records = LedgerReader(database)
        problems = []
        for job in promises.jobs.values():
            found = records.get_job(job)
            problems += [f"{job} {what}" for what in _wrong(home, job, found, job in promises.stopped)]
            check_fold(job, records)
        assert not problems, f"{len(problems)} problems: {problems[:20]}\n{home.said()}"
        models = AssetReader(database)
        versions = models.versions(ALL, models.list_assets(ALL, AssetKind.MODEL, "saved")[0].id)
        saved = [job for job in promises.jobs.values() if (found := records.get_job(job)) and found.name == "saved"]
        assert sorted(version.job or "" for version in versions) == sorted(saved)
        assert sorted(version.number for version in versions) == list(range(1, len(saved) + 1))
    finally:
        database.close()


def _wrong(home: Home, job: str, found: Any, stopped: bool) -> Iterator[str]:
    """Yield what is not as promised about one job."""
    if found is None:
        yield "is lost"
        return
    ran = Path(home.layout.outputs(job), "ran").read_text() if Path(home.layout.outputs(job), "ran").exists() else ""
    if (found.state.value, found.attempts_used) != ("stopped" if stopped else "succeeded", 1):
        yield f"is {found.state.value} after {found.attempts_used} attempts: {found.verdict}"
    if ran != "ran\n":
        yield f"ran {ran.count('ran')} times"
    lines = _lines(home, job)
    numbers = [int(line.split()[1]) for line in lines if line.startswith("line ")]
    if numbers != list(range(1, len(numbers) + 1)) or not numbers:
        yield f"has a torn log: {lines[:3]}...{lines[-3:]}"
    if not stopped and lines[-1:] != ["end"]:
        yield f"has no end in its log: {lines[-3:]}"


def _lasting(home: Home, jobs: list[str]) -> dict[int, str]:
    """Return pid -> start time of what stays of `jobs`: their shells and sandboxes, not the sleeps that come and go.

    A shell that writes its next line has seen the end of the sleep before it.
    """

    def alive() -> dict[int, str]:
        return {pid: start for pid, start, marker in marked() if marker.partition("-")[0] in jobs}

    first = alive()
    written = {job: len(_lines(home, job)) for job in jobs}
    _until(lambda: all(len(_lines(home, job)) > written[job] for job in jobs), home, "each writes its next line")
    return dict(first.items() & alive().items())


def _lines(home: Home, job: str) -> list[str]:
    path = Path(home.layout.task(job, 1, 0, 0).log)
    return path.read_text().splitlines() if path.exists() else []


def _until(true: Any, home: Home, what: str) -> None:
    limit = time.monotonic() + 240
    while not true():
        assert time.monotonic() < limit, f"waited in vain until {what}\n{home.said()}"
        time.sleep(0.1)
