"""What the server does with an attempt whose submitter dies at a bad moment: it comes to Slurm all the same, and
once.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.gangs import gang, key
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang
from trainmaster.engines.slurm.attempts.submitting import Submitting
from trainmaster.engines.slurm.client.parse import JobId
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig

PATIENCE_S = 20.0


@pytest.fixture
async def submitting(tmp_path: Path) -> AsyncIterator[Submitting]:
    """The part of an engine that submits, with programs that stand for Slurm's: nothing is in the queue, everything is
    taken.
    """
    for name, text in {"sbatch": '[ -n "$(cat)" ] && echo 7', "squeue": ""}.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\ncd {tmp_path}\n{text}\n")
        path.chmod(0o755)
    (tmp_path / "run").mkdir()
    layout = Layout(str(tmp_path), str(tmp_path / "data"))
    engine = SlurmEngine("bed", SlurmEngineConfig(programs=str(tmp_path)), layout, Config())
    engine.submitting.package = str(tmp_path)
    await engine.submitting.hand.start()
    yield engine.submitting
    await engine.close()


def job() -> Gang:
    return gang(node="").role("w", 1, "true").build()


async def test_what_was_announced_to_one_that_died_is_begun_by_the_next(submitting: Submitting) -> None:
    one, process = job(), submitting.hand._process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    submitting.announce(one)
    async with asyncio.timeout(PATIENCE_S):
        while not submitting.hand._asked:
            await asyncio.sleep(0.01)
    process.kill()
    assert (await submitting.submit(key(one), one)).id == JobId(7)


async def test_nothing_is_announced_to_one_that_has_died(submitting: Submitting) -> None:
    one, process = job(), submitting.hand._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    submitting.announce(one)
    assert (await submitting.submit(key(one), one)).id == JobId(7)


async def test_an_announcement_that_comes_after_the_launch_is_not_begun(
    submitting: Submitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was of another gang, whose decision did not come to the disk: of the two, whichever is written down first
    would run.
    """
    told, real = [], submitting.hand.send

    def send(op: str, **more: Any) -> Any:
        told.append((op, more.get("step")))
        return real(op, **more)

    monkeypatch.setattr(submitting.hand, "send", send)
    other, one = (gang(job="t" + "3" * 32, node="").role("w", 1, text).build() for text in ("exit 3", "exit 4"))
    submitting.announce(other)  # in the loop's next turn
    assert (await submitting.submit(key(one), one)).id == JobId(7)
    assert [op for op, _ in told] == ["begin", "submit"]
    assert "exit 4" in told[0][1]
