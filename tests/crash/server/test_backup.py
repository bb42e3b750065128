"""Backups of a real server while jobs are submitted and end, restored by the command line, and a restore that is killed
(B7).
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.crash.server.harness import ROOT, Feeder, Home, Promises
from tests.fixtures.backups import files_of, rows_of
from tests.fixtures.ports import free_ports
from tests.fixtures.postgres import cluster
from tests.fixtures.watcher import PATIENCE_S
from tests.scenario.stage import spec
from trainmaster.core.folders.layout import Layout

SETTINGS: dict[str, Any] = {"local": {"cpu": 4.0, "memory_mib": 4096}}


def tm(home: Path, *words: str, code: int = 0) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "trainmaster.cli", "--home", str(home), *words, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        env={**os.environ, "TRAINMASTER_LANG": "en"},
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout) if code == 0 else done.stderr


def serve(home: Path, client: httpx.Client) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "trainmaster.cli",
        "serve",
        "--home",
        str(home),
        "--port",
        str(client.base_url.port),
    ]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 60
    while True:
        try:
            token = Path(Layout(str(home)).cli_token).read_text().strip()
            client.headers["Authorization"] = f"Bearer {token}"
            if client.get("/api/v1/jobs").is_success:
                return server
        except (OSError, httpx.TransportError):
            assert time.monotonic() < give_up
            time.sleep(0.05)  # until it is up: nobody tells


@pytest.mark.postgres
def test_backups_beside_a_busy_server_hold_all_that_was_acknowledged(tmp_path: Path) -> None:
    """Whatever was acknowledged before a backup began is in it, with the files of jobs that had ended; what is restored
    is served, and goes on, also on PostgreSQL.
    """
    home = Home(tmp_path / "home", SETTINGS)
    promises, made = Promises(), []
    try:
        feeder = Feeder(home, spec("fed", "echo said > $TRAINMASTER_OUTPUT_DIR/said"), promises, 400)
        feeder.start()
        for number in range(3):
            while len(promises.jobs) < 10 * (number + 1):
                assert feeder.error is None
                time.sleep(0.05)  # the feed goes on beside the backups
            before = set(promises.jobs.values())
            made.append((before, tm(home.folder, "backup", str(tmp_path / f"{number}.tar"))))
        feeder.enough.set()
        feeder.join()
        assert feeder.error is None
        client = home.client()
        ended = [one["id"] for one in client.ask("GET", "/jobs?limit=500&state=succeeded")["items"]]
    finally:
        home.end()
    assert ended, "some had ended while it was backed up"
    for number, (before, told) in enumerate(made):
        there = tmp_path / f"restored-{number}"
        assert tm(there, "restore", told["file"])["jobs"] == told["jobs"] >= len(before)
        rows = rows_of(f"sqlite:///{there}/trainmaster.db")
        assert before <= {row[1] for row in rows["job"]}
        assert [row[0] for row in rows["event"]] == sorted({row[0] for row in rows["event"]}), "no number twice"
        jobs = {row[1] for row in rows["job"] if row[13] == "succeeded"}
        for job in jobs:
            assert Path(Layout(str(there)).outputs(job), "said").read_text() == "said\n"
    goes_on(tmp_path / "restored-2", made[2][1]["jobs"])
    with cluster() as postgres:
        moved = tmp_path / "moved"
        moved.mkdir(mode=0o700)
        (moved / "config.toml").write_text(f'[server]\ndatabase = "{postgres.database()}"\n')
        (moved / "config.toml").chmod(0o600)
        assert tm(moved, "restore", made[2][1]["file"])["jobs"] == made[2][1]["jobs"]
        assert not (moved / "trainmaster.db").exists()
        goes_on(moved, made[2][1]["jobs"])


def goes_on(home: Path, jobs: int) -> None:
    """Serve a restored home: all its jobs are told, what ran is over, and a new job runs to its end."""
    address = f"http://127.0.0.1:{free_ports(1, 10_000, 17_000)}"
    with httpx.Client(base_url=address, timeout=30.0) as client:
        server = serve(home, client)
        try:
            assert sum(client.get("/api/v1/jobs").json()["counts"].values()) == jobs
            new = client.post("/api/v1/jobs", json={"spec": spec("new", "echo moved", priority="urgent")})
            assert new.status_code == 201, new.text
            give_up = time.monotonic() + PATIENCE_S
            while (state := client.get(f"/api/v1/jobs/{new.json()['id']}").json()["state"]) != "succeeded":
                assert state not in ("failed", "stopped", "expired"), state
                assert time.monotonic() < give_up
                time.sleep(0.1)  # what was restored may run before it
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
            restored = Home.__new__(Home)
            restored.folder, restored.layout, restored._process = home, Layout(str(home)), None
            restored.end()


def test_a_killed_restore_leaves_no_home_and_a_killed_backup_no_file(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", SETTINGS)
    try:
        client = home.client()
        job = client.ask("POST", "/jobs", {"spec": spec("one", "true")}, {"Idempotency-Key": "1"})["id"]
        while client.ask("GET", f"/jobs/{job}")["state"] != "succeeded":
            time.sleep(0.1)  # or its outputs are saved while they are written here
        large = Path(home.layout.outputs(job)) / "large"
        large.parent.mkdir(parents=True, exist_ok=True)
        with open(large, "wb") as file:
            for _ in range(100):
                file.write(os.urandom(1 << 20))
        killed(home.folder, "backup", str(tmp_path / "a.tar"), until=tmp_path / "a.tar.partial")
        assert not (tmp_path / "a.tar").exists()
        tm(home.folder, "backup", str(tmp_path / "a.tar"))
    finally:
        home.end()
    there = tmp_path / "there"
    killed(there, "restore", str(tmp_path / "a.tar"), until=there / "restoring")
    said = tm(there, "backup", str(tmp_path / "b.tar"), code=2)
    assert "did not finish" in said
    done = subprocess.run(
        [sys.executable, "-m", "trainmaster.cli", "serve", "--home", str(there), "--port", "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "did not finish" in done.stderr) == (2, True), done.stderr
    tm(there, "restore", str(tmp_path / "a.tar"))
    outputs = {name: what for name, what in files_of(there).items() if name.endswith("large")}
    wanted = large.read_bytes()
    assert outputs
    assert all(what[2] == wanted for what in outputs.values())
    assert not (there / "restoring").exists()


def killed(home: Path, *words: str, until: Path) -> None:
    """kill -9 of a command once a file is there that it makes on the way."""
    command = [sys.executable, "-m", "trainmaster.cli", "--home", str(home), *words]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not until.exists():
        assert process.poll() is None, "it ended before it was killed"
    process.kill()
    process.wait()
