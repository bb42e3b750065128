"""One probe job in one partition: the real batch script, package and Python, and what a node there finds
(`engines.slurm.node.survey`).

Its folder lies beside those of real jobs and is removed with it. Invariant: the job is cancelled and the folder removed
however this ends, also when whoever looks has enough of waiting.
"""

import asyncio
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from trainmaster.agent import folder
from trainmaster.agent.folder import Folder
from trainmaster.agent.host import sharing
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.ids import attempt_id
from trainmaster.core.launch import Gang, RoleCommand
from trainmaster.core.records import Resources, Role
from trainmaster.engines.adding import Check
from trainmaster.engines.slurm import script
from trainmaster.engines.slurm.attempts.delivery import deliver
from trainmaster.engines.slurm.attempts.queue import Queue
from trainmaster.engines.slurm.checks import checks, probed
from trainmaster.engines.slurm.client import states
from trainmaster.engines.slurm.client.commands import ClusterRefused, Commands, environment, said_by
from trainmaster.engines.slurm.client.parse import JobLine
from trainmaster.engines.slurm.client.reading import Printed, Reading
from trainmaster.engines.slurm.mirror import mirrors
from trainmaster.engines.slurm.mirror.mirror import Mirror
from trainmaster.engines.slurm.mirror.mirror_trees import Shape
from trainmaster.engines.slurm.node.survey import REQUEST
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.said import Said, verbatim

LOOK_S: Final = 0.2
SOON_S: Final = 3.0
"""A wait of less is not worth a word."""
LIMIT_S: Final = 300.0
"""Slurm's limit for the job. It takes less than a second."""
SPEAK_S: Final = 90.0
"""How long a node that has started may say nothing: network file systems show a new file half a minute late."""
LEAVE_S: Final = 5.0
"""How long it may take to end by itself once it has told everything."""
END_S: Final = 15.0
"""How long a cancelled job may take to end before its folder is removed under it."""


class Trial:
    """`reading`: from which jobs will be followed; the probe job itself is followed by Slurm's programs. `cards`: how
    many it asks for. `wait_s`: how long it may wait for its start. `tell`: is given the partition and why it waits.
    """

    def __init__(
        self,
        commands: Commands,
        reading: Reading,
        own: SlurmEngineConfig,
        data: str,
        partition: str,
        cards: int,
        wait_s: float,
        tell: Callable[[str, Said], None],
    ) -> None:
        self.commands, self.reading, self.own, self.data, self.partition = commands, reading, own, data, partition
        self.cards, self.wait_s, self.tell = cards, wait_s, tell
        self.queue = Queue(Printed(commands), "")
        self.job = "t" + secrets.token_hex(16)
        self.attempt = attempt_id(self.job, 1)
        self.shared = Folder(os.path.join(data, "checks", self.job))
        self.word, self.answer = secrets.token_hex(8), secrets.token_hex(8)
        self.package = ""
        self.keeper: mirrors.MirrorKeeper | None = None  # set where the nodes share no folder with us

    async def run(self) -> list[Check]:
        """Return what the node finds, or why it does not come to that."""
        try:
            self.package = await asyncio.to_thread(deliver, self.data)
            text = self._script(self.package)
            await asyncio.to_thread(self._open)
            await self.commands.test(given=text)
            return [checks.submit(self.partition, None), *await self._probe(text)]
        except (ValueError, ClusterRefused) as error:
            return [checks.submit(self.partition, said_by(error))]
        except TrainmasterError as error:
            return [Check("probe", False, error.said, where=self.partition)]
        except OSError as error:
            return [checks.folder(self.data, True, "", f"{error.strerror} ({error.filename})")]
        finally:
            if self.keeper is not None:
                self.keeper.end()
                await asyncio.to_thread(self.keeper.join)
            await asyncio.to_thread(shutil.rmtree, self.shared.path, True)
            with suppress(OSError):
                os.rmdir(os.path.dirname(self.shared.path))

    def _script(self, package: str) -> str:
        resources = Resources(cpu=1, memory_mib=256, gpu=self.cards)
        gang = Gang(
            job=self.job,
            attempt=1,
            name="probe",
            user="",
            framework="single",
            roles=(Role("probe", 1, resources),),
            commands=(RoleCommand(),),
            placement=(),
        )
        terms = script.Terms(
            partition=self.partition,
            limit_s=LIMIT_S,
            features=self.own.features,
            reservation=self.own.reservation,
            account=self.own.account,
            qos=self.own.qos,
        )
        place = script.AttemptPlace(self.shared.path, package, self.own.python, self.own.scratch, SPEAK_S)
        return script.script(gang, terms, place, script.SURVEY)

    def _request(self) -> str:
        return json.dumps({"word": self.word, "sandbox": self.own.sandbox, "environment": self.own.environment})

    def _open(self) -> None:
        sharing.make_private(self.shared.path)
        folder.write_whole(self.shared.file(REQUEST), self._request())
        Path(self.shared.orders).touch(0o600)

    def _mirror(self, line: JobLine) -> None:
        """Bring to the node what it needs, and fetch what it says, unless it shares a folder with us."""
        if not self.own.scratch or self.keeper is not None or line.state.standing != "running" or not line.nodes:
            return
        node = line.nodes[0]
        base = f"{self.own.scratch}/{self.attempt}"
        shape = Shape(self.shared, self.data, base, REQUEST, lambda root: self._request(), (self.package,))
        access = self.commands.access
        argv = mirrors.srun(access, self.own.python, line.own, node, None)
        self.keeper = mirrors.MirrorKeeper(
            f"0-{node}", partial(Mirror, shape, f"0-{node}", 0, argv, environment(access))
        )
        self.keeper.start()

    async def _probe(self, text: str) -> list[Check]:
        try:
            await self.commands.run("sbatch", "--parsable", given=text)
            found = await self._follow()
            await self._ended(LEAVE_S)
            return found
        finally:
            with suppress(TrainmasterError):
                await self.commands.run("scancel", f"--name=tm-{self.attempt}")
                await self._ended(END_S)

    async def _follow(self) -> list[Check]:
        """Wait for the node's report and for its answer to ours."""
        began, spoke, line, left = time.monotonic(), 0.0, None, 0
        told: Said | None = None
        sent = 0.0  # when we answered the node
        found: dict[str, Any] | None = None
        low = 0.0
        while True:
            for fact in await asyncio.to_thread(self._facts):
                if fact["event"] == "survey" and found is None:
                    found, low = fact, fact["at"] - time.time()
                    sent = time.time()
                    await asyncio.to_thread(self.shared.order, "answer", word=self.answer)
                elif fact["event"] == "answered" and found is not None and fact["word"] == self.answer:
                    clock = checks.clock(low, fact["at"] - sent, self.partition)
                    return [
                        *probed.survey(
                            self.partition, found, self.word, self.own.sandbox, self.cards, self.own.scratch
                        ),
                        clock,
                        await self._seen_by_reading(),
                    ]
            line = next(iter(await self.queue.find_named(self.attempt)), line)
            now = time.monotonic()
            left += line is not None and line.state.standing == "ended"
            if line is not None:
                self._mirror(line)
            if line is not None and line.state.standing == "pending":
                reason = states.reason(line.reason)
                if reason != told and now - began > SOON_S:
                    told = reason
                    self.tell(self.partition, reason)
                if now - began > self.wait_s:
                    return [probed.not_started(self.partition, self.wait_s, reason)]
            else:
                spoke = spoke or now
                if left > 2 or now - spoke > SPEAK_S:
                    return [await self._silent(line, found)]
            await asyncio.sleep(LOOK_S)

    async def _seen_by_reading(self) -> Check:
        """Look whether whoever follows jobs would have seen this one."""
        try:
            return probed.queue(self.partition, bool(await self.reading.find_named(self.attempt)), None)
        except (ClusterRefused, ValueError) as error:
            return probed.queue(self.partition, False, said_by(error))

    def _facts(self) -> list[dict[str, Any]]:
        with suppress(OSError):
            names = [name for name in os.listdir(self.shared.path) if name.startswith("facts-")]
            return [fact for name in names for fact in folder.read(self.shared.file(name))[0]]
        return []

    async def _silent(self, line: JobLine | None, found: dict[str, Any] | None) -> Check:
        text = ""
        with suppress(OSError):
            text = await asyncio.to_thread(Path(self.shared.file("slurm.log")).read_text)
        printed = verbatim(text) if text else self.keeper.said if self.keeper is not None else None
        node = (found or {}).get("node") or ", ".join(line.nodes if line else ())
        seen = line.state if line is not None else None
        return probed.silent(self.partition, self.own.python, self.data, node, seen, printed, self.own.scratch)

    async def _ended(self, patience_s: float) -> None:
        """Wait until nothing of the job is left, at most `patience_s` seconds."""
        give_up = time.monotonic() + patience_s
        while any(line.state.standing != "ended" for line in await self.queue.find_named(self.attempt)):
            if time.monotonic() > give_up:
                return
            await asyncio.sleep(LOOK_S)
