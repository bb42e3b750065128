"""The process that submits, with a program that stands for sbatch: what it starts, when, and what is written down
before it answers.
"""

import asyncio
import json
import os
import re
import signal
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from socket import SHUT_WR, socketpair
from typing import Any

import pytest

from tests.fixtures.open_files import open_files
from trainmaster.agent.folder import Folder
from trainmaster.agent.host import procs
from trainmaster.core.errors import Unavailable
from trainmaster.engines.slurm.attempts import submitter, submitting, turn
from trainmaster.engines.slurm.attempts.program import Program
from trainmaster.engines.slurm.attempts.submitting import Hand
from trainmaster.engines.slurm.client.commands import Access, ClusterDown

ONE = (("--ntasks=1",),), ("exec srun",)
TWO = (("--ntasks=1",), ("--ntasks=2",)), ("exec srun",)
PATIENCE_S = 20.0


async def until(what: Any) -> None:
    """Wait until `what` is true."""
    async with asyncio.timeout(PATIENCE_S):
        while not what():
            await asyncio.sleep(0.01)


def waits(hand: Hand, lock: Path) -> bool:
    """Return whether the submitter has come as far as the lock."""
    return hand._process is not None and str(lock) in open_files(hand._process.pid)


class Site:
    """A folder with a program called sbatch in it, and a submitter. Each start and each script is written down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hand = self.another()
        self.argv = [str(folder / "sbatch")]
        self.sbatch("echo 7")

    def another(self) -> Hand:
        """Return the hand of one more server."""
        return Hand(Access(timeout_s=3.0), str(self.folder / "lock"))

    def crash(self) -> None:
        """Kill the submitter alone, as one who needs its memory would."""
        assert self.hand._process is not None
        self.hand._process.kill()
        self.hand._process.wait()

    def sbatch(self, text: str) -> None:
        """Let it do `text` with its whole input in a file called `$given`."""
        path = self.folder / "new"  # one that is just being started cannot be written
        begins = (
            f"cd {self.folder}; echo $$ >> starts; given=given-$$; cat > .$given; [ -s .$given ] || exit 0; "
            "mv .$given $given"
        )
        path.write_text(f"#!/bin/sh\n{begins}\n{text}\n")
        path.chmod(0o755)
        path.rename(self.folder / "sbatch")

    @property
    def starts(self) -> int:
        path = self.folder / "starts"
        return len(path.read_text().split()) if path.exists() else 0

    @property
    def scripts(self) -> list[str]:
        return [path.read_text() for path in self.folder.glob("given-*")]

    def release(self) -> None:
        """Let programs end that wait for it."""
        (self.folder / "go").touch()

    def attempt(self, number: int) -> str:
        return f"t{number:032x}-1"

    def at(self, number: int) -> Folder:
        return Folder(str(self.folder / "attempts" / str(number)))

    def written(self, number: int) -> list[dict[str, Any]]:
        path = Path(self.at(number).file(submitter.SUBMITTED))
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    async def begin(self, number: int, batch: Any = ONE, user: str = "") -> bool:
        told = {"folder": self.at(number).path, "attempt": self.attempt(number), "step": "{}", "user": user}
        return bool((await self.hand.ask("begin", **told, batch=batch, argv=self.argv, alone=False))["ok"])

    async def submit(self, number: int, batch: Any = ONE, user: str = "") -> dict[str, Any]:
        await self.begin(number, batch, user)
        told = await self.hand.ask("submit", folder=self.at(number).path)
        del told["id"]
        return told


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    made = Site(tmp_path)
    yield made
    made.release()
    await made.hand.close()


async def test_what_is_begun_is_written_down_once(site: Site) -> None:
    assert await site.begin(1)
    assert Path(site.at(1).file("step.json")).read_text() == "{}"
    assert not await site.begin(1)
    assert Path(site.at(1).path).stat().st_mode & 0o777 == 0o700


async def test_what_is_closed_is_not_begun(site: Site) -> None:
    os.makedirs(site.at(1).path)
    Path(site.at(1).file(submitter.CLOSED)).touch()
    assert not await site.begin(1)
    assert not site.at(1).begun


async def test_what_slurm_takes_is_written_down_with_its_script(site: Site) -> None:
    assert await site.submit(1) == {"ok": [site.attempt(1), 7, None]}
    given, taken = site.written(1)
    assert (given["name"], given["element"], given["user"]) == (site.attempt(1), None, "")
    assert [given["script"]] == site.scripts
    assert taken == {"job": 7}


async def test_one_waits_ahead_for_what_is_begun_and_for_what_may_follow(site: Site) -> None:
    await site.begin(1)
    await until(lambda: site.starts == 1)
    assert site.scripts == []
    await site.submit(1)
    await until(lambda: site.starts == 2)
    await site.submit(2)
    await until(lambda: site.starts == 3)
    assert len(site.scripts) == 2


async def test_what_comes_while_sbatch_takes_its_time_goes_together(site: Site) -> None:
    site.sbatch("while [ ! -e go ]; do sleep 0.01; done; echo $$")
    first = [asyncio.create_task(site.submit(number)) for number in (1, 2)]
    await until(lambda: len(site.scripts) == 2)
    like = [asyncio.create_task(site.submit(number)) for number in (3, 4, 5)]
    other = asyncio.create_task(site.submit(6, ((("--ntasks=9",),), ONE[1])))
    mixed = [asyncio.create_task(site.submit(number, TWO)) for number in (7, 8)]
    person = [asyncio.create_task(site.submit(number, user="ann")) for number in (9, 10)]
    await until(lambda: all(site.at(number).begun for number in range(1, 11)))
    assert not await site.begin(1)  # all that was asked before it has been read
    site.release()
    for number, task in enumerate((*first, other, *mixed, *person)):
        name, _, element = (await task)["ok"]
        assert (name, element) == (site.attempt((1, 2, 6, 7, 8, 9, 10)[number]), None)
    answers = [(await task)["ok"] for task in like]
    order = {element: number for number, (_, _, element) in zip((3, 4, 5), answers, strict=True)}
    assert sorted(order) == [0, 1, 2]
    ((name, job),) = {(name, job) for name, job, _ in answers}
    assert re.fullmatch("a[0-9a-f]{32}", name)
    (array,) = [text for text in site.scripts if "--array=0-2" in text]
    assert f"--comment={','.join(site.attempt(order[element]) for element in range(3))}\n" in array
    for element, number in order.items():
        assert site.written(number) == [{"name": name, "element": element, "user": "", "script": array}, {"job": job}]


async def test_what_is_refused_together_says_so(site: Site) -> None:
    """A cluster may know no arrays: the server lets each be tried alone."""
    site.sbatch(
        "while [ ! -e go ]; do sleep 0.01; done; if grep -q array $given; then echo no arrays >&2; exit 1; fi; echo 5"
    )
    tasks = [asyncio.create_task(site.submit(number)) for number in (1, 2)]
    await until(lambda: len(site.scripts) == 2)
    tasks += [asyncio.create_task(site.submit(number)) for number in (3, 4, 5)]
    await until(lambda: site.at(5).begun and site.at(4).begun and site.at(3).begun)
    await site.begin(1)
    site.release()
    answers = [await task for task in tasks]
    assert [answer["ok"] for answer in answers[:2]] == [[site.attempt(number), 5, None] for number in (1, 2)]
    assert answers[2:] == [{"refused": [1, "no arrays\n"], "together": True}] * 3


async def test_what_is_closed_before_its_turn_is_not_submitted(site: Site) -> None:
    await site.begin(1)
    Path(site.at(1).file(submitter.CLOSED)).touch()
    assert "refused" in await site.hand.ask("submit", folder=site.at(1).path)
    assert site.scripts == []


async def test_a_request_that_is_not_understood_is_answered(site: Site) -> None:
    await site.begin(1)
    with pytest.raises(Unavailable, match="KeyError"):
        await site.hand.ask("begin", folder=site.at(2).path, step="{}")
    assert (await site.submit(1))["ok"] == [site.attempt(1), 7, None]


async def test_what_nobody_has_begun_is_not_submitted(site: Site) -> None:
    """The submitter that knew of it may have been killed."""
    assert "unknown" in await site.hand.ask("submit", folder=site.at(1).path)
    assert site.scripts == []


async def test_how_it_ended_instead(site: Site) -> None:
    site.sbatch("echo said; echo wrong >&2; exit 3")
    assert await site.submit(1) == {"refused": [3, "wrong\n"], "together": False}
    assert site.written(1) == []
    site.sbatch("echo what")
    await site.submit(2)  # the one that waited ahead was of the former kind
    assert await site.submit(3) == {"late": True}


async def test_who_is_killed_or_does_not_end_has_not_answered(site: Site) -> None:
    site.sbatch("kill -9 $$")
    assert await site.submit(1) == {"late": True}
    site.sbatch("exec sleep 60")
    await site.submit(2)
    assert await site.submit(3) == {"late": True}


async def test_a_missing_program_is_said_to_who_needs_it(site: Site) -> None:
    (site.folder / "sbatch").unlink()
    assert await site.begin(1)
    with pytest.raises(Unavailable, match="No such file"):
        await site.submit(1)


async def test_a_folder_that_cannot_be_written_is_named(site: Site) -> None:
    (site.folder / "attempts").write_text("in the way")
    with pytest.raises(Unavailable, match="Not a directory"):
        await site.begin(1)


async def test_what_was_given_is_written_down_when_the_server_is_gone(site: Site) -> None:
    site.sbatch("while [ ! -e go ]; do sleep 0.01; done; echo 7")
    task = asyncio.create_task(site.submit(1))
    await until(lambda: len(site.scripts) == 1)
    waiting = [asyncio.create_task(site.submit(number)) for number in (2, 3)]
    await until(lambda: site.at(3).begun and site.at(2).begun)
    await site.hand.close()
    site.release()
    for one in (task, *waiting):
        with pytest.raises(ClusterDown):
            await one
    await until(lambda: len(site.written(1)) == 2)


async def test_a_submitter_that_was_killed_is_started_again(site: Site) -> None:
    """Also for who asks before the news of its end has come."""
    await site.submit(1)
    site.crash()
    assert (await site.submit(2))["ok"][1] == 7


async def test_what_one_that_is_killed_meanwhile_does_not_answer_is_asked_of_the_next(site: Site) -> None:
    await site.hand.turn()
    process = site.hand._process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    asked = [asyncio.create_task(site.begin(1)), asyncio.create_task(site.hand.turn())]
    await until(lambda: len(site.hand._asked) == 2)
    process.kill()
    assert [await task for task in asked] == [True, None]
    assert site.hand._process is not process


async def test_a_submission_that_was_not_answered_is_not_asked_of_the_next(site: Site) -> None:
    """It may have come to Slurm: who submits it again looks for it first."""
    await site.begin(1)
    process = site.hand._process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    asked = asyncio.create_task(site.hand.ask("submit", folder=site.at(1).path))
    await until(lambda: site.hand._asked)
    process.kill()
    with pytest.raises(ClusterDown, match="has stopped"):
        await asked
    assert site.scripts == []


async def test_the_next_one_begins_when_all_that_the_first_had_is_written_down(site: Site) -> None:
    """And finds it: nobody submits it again."""
    site.sbatch("while [ ! -e go ]; do sleep 0.01; done; echo 7")
    task = asyncio.create_task(site.submit(1))
    await until(lambda: len(site.scripts) == 1)
    first, site.hand = site.hand, site.another()
    process = first._process
    await first.close()
    with pytest.raises(ClusterDown):
        await task
    again, asked = asyncio.create_task(site.begin(1)), asyncio.create_task(site.hand.turn())
    fresh = asyncio.create_task(site.submit(2))
    await until(lambda: waits(site.hand, site.folder / "lock"))
    assert process is not None
    assert process.poll() is None
    assert not site.at(2).begun
    site.release()
    assert not await again
    await asked
    assert [line.get("job") for line in site.written(1)] == [None, 7]
    assert "ok" in await fresh
    assert process.wait() == 0


async def test_a_server_that_goes_while_it_waits_for_its_turn_leaves_nothing(site: Site) -> None:
    site.sbatch("while [ ! -e go ]; do sleep 0.01; done; echo 7")
    task = asyncio.create_task(site.submit(1))
    await until(lambda: len(site.scripts) == 1)
    second = site.another()
    await second.start()
    asked = second.send(
        "begin", folder=site.at(2).path, attempt=site.attempt(2), step="{}", user="", batch=ONE, argv=[], alone=False
    )
    await second.close()
    with pytest.raises(ClusterDown):
        await asked
    assert second._process is not None
    await asyncio.to_thread(second._process.wait)
    site.release()
    assert (await task)["ok"]
    assert not site.at(2).begun


async def test_what_a_killed_submitter_has_begun_comes_to_its_end_before_the_next_one_begins(
    site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    site.sbatch("while [ ! -e go ]; do sleep 0.01; done; touch came; echo 7")
    task = asyncio.create_task(site.submit(1))
    await until(lambda: len(site.scripts) == 1)
    (pid,) = (site.folder / "starts").read_text().split()
    site.crash()
    with pytest.raises(ClusterDown):
        await task
    said = ""

    def waited() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return "waits for the submitter" in said

    asked = asyncio.create_task(site.hand.turn())
    await until(waited)
    assert re.search(rf"\(pid .*\b{pid}\b", said)
    assert not asked.done()
    site.release()
    await asked
    assert (site.folder / "came").exists()


async def test_what_waits_for_an_input_ends_with_a_killed_submitter(site: Site) -> None:
    await site.begin(1)
    await until(lambda: site.starts == 1)
    (pid,) = (site.folder / "starts").read_text().split()
    site.crash()
    await until(lambda: (found := procs.stat(int(pid))) is None or not found.alive)
    await site.hand.turn()
    assert site.scripts == []


async def test_a_submitter_that_hangs_is_killed_by_who_waits_for_its_turn(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.hand.access = Access(timeout_s=0.1)
    await site.hand.turn()
    assert site.hand._process is not None
    site.hand._process.send_signal(signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(turn, "DYING_S", 0.0)
        patch.setattr(submitting, "SLACK_S", 0.0)
        with pytest.raises(ClusterDown, match="does not answer"):
            await site.hand.turn()
    assert await asyncio.to_thread(site.hand._process.wait) == -9
    await until(lambda: not site.hand.there)
    await site.hand.turn()


def test_one_that_cannot_be_killed_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sudo's cannot: it may come to Slurm as long as it lives."""
    monkeypatch.setattr(Program, "end", lambda program: None)
    monkeypatch.setattr(submitter, "SWEEP_S", 0.01)
    argv = ["/bin/sh", "-c", f"cd {tmp_path}; cat > given; until [ -e go ]; do sleep 0.01; done; touch came"]
    begun = {"attempt": f"t{1:032x}-1", "step": "{}", "user": "", "batch": ONE, "argv": argv, "alone": False}
    ours, its = socketpair()
    with ours, its:
        for request in ({"op": "begin", **begun}, {"op": "submit"}):
            ours.sendall(json.dumps({"id": 1, "folder": str(tmp_path / "attempt"), **request}).encode() + b"\n")
        ours.shutdown(SHUT_WR)
        serving = threading.Thread(target=submitter.Submitter(its, 0.0).serve, daemon=True)
        serving.start()
        ours.settimeout(PATIENCE_S)
        assert any(b'"late": true' in line for line in ours.makefile("rb"))
        (tmp_path / "go").touch()
        serving.join(PATIENCE_S)
    assert (tmp_path / "came").exists()
