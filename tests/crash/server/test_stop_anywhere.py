"""SIGTERM ends a server whatever it waits for, and a server that cannot go on with what runs says so before it touches
the database.
"""

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.copies import Copy, who
from tests.fixtures.gangs import gang
from tests.fixtures.open_files import open_files
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.local.engine import LocalEngine
from trainmaster.engines.local.messages import local
from trainmaster.messages import render
from trainmaster.service.wiring import build

RUN = "import sys; sys.argv[1:] = {arguments!r}; from trainmaster.cli.main import run; run()"


@dataclass
class Serving:
    """A home, and the server that was started on it last."""

    home: Path
    process: subprocess.Popen[str] | None = None

    def serve(self, path: str = "") -> subprocess.Popen[str]:
        """Start a server; `path` goes before PATH."""
        arguments = ["serve", "--home", str(self.home), "--port", "0"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN.format(arguments=arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"},
            start_new_session=True,
        )
        return self.process

    def until_it_starts(self) -> None:
        """Return when the server waits for what it needs: then it hears SIGTERM itself."""
        assert self.process is not None
        while not self._hears():
            assert self.process.poll() is None, self.process.communicate()[0]
            time.sleep(0.02)  # another process is looked at

    def _hears(self) -> bool:
        assert self.process is not None
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        caught = next(int(line.split()[1], 16) for line in text.splitlines() if line.startswith("SigCgt"))
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def stop(self) -> str:
        """Ask the server to end; return what it said, once it has."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate()[0]

    def agent(self) -> tuple[int, int]:
        """Return the pids of agent and keeper."""
        pid = who(str(self.home))["pid"]
        return pid, int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

    async def with_agent(self) -> None:
        """Start agent and keeper, and no server."""
        engine = LocalEngine(Layout(str(self.home)), Config())
        await engine.start(lambda fact: None)
        await engine.close()

    def make_older(self) -> None:
        """Let the database be one of the release before."""
        platform = build(str(self.home))
        platform._life._ledger.close()
        platform._life._database.close()
        with sqlite3.connect(self.home / "trainmaster.db") as database:
            database.execute("UPDATE meta SET value = '2' WHERE key = 'schema'")
        database.close()

    def schema(self) -> str:
        """Return the schema that the database says it has."""
        with sqlite3.connect(self.home / "trainmaster.db") as database:
            found = database.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        database.close()
        return str(found[0])

    async def end(self) -> None:
        """End the agent and what it runs."""
        engine = LocalEngine(Layout(str(self.home)), Config())
        await engine.start(lambda fact: None)
        for attempt in os.listdir(self.home / "run" / "live"):
            await engine.reap(attempt, 0)
        await engine.shut_down_agent()
        await engine.close()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """An empty home."""
    (tmp_path / "home").mkdir()
    found = Serving(tmp_path / "home")
    yield found
    if found.process is not None and found.process.poll() is None:
        found.process.kill()
        found.process.wait()
    asyncio.run(found.end())


def test_while_the_agent_does_not_answer(serving: Serving) -> None:
    asyncio.run(serving.with_agent())
    halted = serving.agent()
    for pid in halted:
        os.kill(pid, signal.SIGSTOP)
    try:
        process = serving.serve()
        serving.until_it_starts()
        said = serving.stop()
        assert process.returncode == 0, said
    finally:
        for pid in halted:
            os.kill(pid, signal.SIGCONT)


def test_while_a_sandbox_is_tried_that_hangs(serving: Serving, tmp_path: Path) -> None:
    tried = tmp_path / "bin" / "bwrap"
    tried.parent.mkdir()
    tried.write_text(f"#!/bin/sh\ntouch {tmp_path}/tried\nexec sleep 600\n")
    tried.chmod(0o755)
    process = serving.serve(str(tried.parent))
    while not (tmp_path / "tried").exists():
        time.sleep(0.02)  # another process is looked at
    said = serving.stop()
    assert process.returncode == 0, said


def test_while_what_it_remembers_is_read_from_a_disk_that_hangs(serving: Serving) -> None:
    os.mkfifo(serving.home / "shares.json")
    process = serving.serve()
    serving.until_it_starts()
    said = serving.stop()
    assert process.returncode == 0, said
    assert stat.S_ISFIFO(os.stat(serving.home / "shares.json").st_mode)
    os.unlink(serving.home / "shares.json")


def test_while_the_agent_is_asked_before_a_migration(serving: Serving) -> None:
    serving.make_older()
    asyncio.run(serving.with_agent())
    halted = serving.agent()
    for pid in halted:
        os.kill(pid, signal.SIGSTOP)
    try:
        process = serving.serve()
        # It has an event loop from when it asks the agent.
        while not any("eventpoll" in name for name in open_files(process.pid)):
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.02)  # another process is looked at
        serving.stop()
        assert process.returncode == -signal.SIGTERM  # nothing is half done that would have to be ended first
        assert serving.schema() == "2"
    finally:
        for pid in halted:
            os.kill(pid, signal.SIGCONT)


def test_while_the_database_is_migrated(serving: Serving) -> None:
    serving.make_older()
    held = sqlite3.connect(serving.home / "trainmaster.db")
    held.execute("BEGIN IMMEDIATE")
    process = serving.serve()
    while not any(name.endswith("trainmaster.db.lock") for name in open_files(process.pid)):
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)  # another process is looked at
    serving.stop()
    assert process.returncode == -signal.SIGTERM
    held.close()
    assert serving.schema() == "2"


def test_an_agent_that_cannot_be_used_leaves_the_database_as_it_was(serving: Serving, tmp_path: Path) -> None:
    """B7: the release before can still be started again."""
    serving.make_older()
    stubborn = Copy.make(tmp_path / "blue").change("agent/keeper.py", '"place"', '"nowhere"')
    story = gang().shell("w", 1, "sleep 600").build()
    assert asyncio.run(stubborn.visit(str(serving.home), launch=story)) == []
    process = serving.serve()
    said = process.communicate()[0]
    assert process.returncode not in (0, None)
    assert render.text(local.agent_does_not_give_way()) in " ".join(said.split()), said
    assert serving.schema() == "2"
    assert not list((serving.home / "backups").iterdir())
    agent, keeper = serving.agent()
    os.kill(keeper, signal.SIGSTOP)  # it would start another agent that does not give way to the one of `end`
    os.kill(agent, signal.SIGKILL)
    os.kill(keeper, signal.SIGKILL)
