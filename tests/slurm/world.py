"""The surroundings of the Slurm engine for the engine contract: a real cluster, shared by all tests of this process."""

import asyncio
import atexit
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.fixtures.pythons import OLD
from tests.fixtures.watcher import PATIENCE_S, Watcher
from tests.slurm.bed import Bed
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.core.ids import split_attempt_id
from trainmaster.core.launch import RoleCommand
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig

_beds: list[Bed] = []


def shared_bed() -> Bed:
    """Return the cluster of this process, started when it is first wanted. Its folder has a short name: sockets lie in
    it.
    """
    if not _beds:
        folder = Path(tempfile.mkdtemp(prefix="tm-bed-"))
        bed = Bed(folder)
        atexit.register(lambda: (bed.stop(), shutil.rmtree(folder, ignore_errors=True)))
        bed.start()
        _beds.append(bed)
    return _beds[0]


def new_home(folder: str) -> str:
    """Make the home of a server, as far as its engines need one, in `folder`; return its path."""
    home = tempfile.mkdtemp(prefix="home-", dir=folder)
    os.mkdir(os.path.join(home, "run"))
    return home


@dataclass
class SlurmWorld:
    """One cluster with a data folder of its own. `engine()` connects one more server to it."""

    sandbox: str = "none"
    node: str = ""
    engines: list[SlurmEngine] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bed = shared_bed()
        self.data = tempfile.mkdtemp(prefix="data-", dir=self.bed.folder)
        self.layout = Layout("", self.data)

    async def engine(self, watcher: Watcher | None = None) -> SlurmEngine:
        """Return a started engine whose facts go to `watcher`, of a server with a home of its own: others may be
        alive.
        """
        own = SlurmEngineConfig(
            conf=self.bed.conf, python=OLD or "/usr/bin/python3", sandbox=self.sandbox, partitions={"default": "batch"}
        )
        engine = SlurmEngine("slurm", own, Layout(new_home(str(self.bed.folder)), self.data), Config())
        await engine.start((watcher or Watcher()).sink)
        self.engines.append(engine)
        return engine

    def command(self, text: str) -> RoleCommand:
        """Return the command that does what the shell text does."""
        return RoleCommand(argv=("/bin/sh", "-c", text))

    async def over(self, attempt: str) -> None:
        """Return once nothing of the job of `attempt` runs on any node, with no server to tell."""
        async with asyncio.timeout(PATIENCE_S):
            while self.bed.processes(split_attempt_id(attempt)[0]):
                await asyncio.sleep(0.1)

    async def hold(self) -> None:
        """Let what is handed over from now on wait."""
        self.bed.ask("scontrol", "update", "PartitionName=batch", "State=DOWN")

    async def release(self) -> None:
        """Let it start."""
        self.bed.ask("scontrol", "update", "PartitionName=batch", "State=UP")

    async def cancel(self, attempt: str) -> None:
        """Take what waits out of the queue without asking the server, as an administrator of the cluster may."""
        self.bed.ask("scancel", f"--name=tm-{attempt}")

    async def lose(self, attempt: str) -> None:
        """Forget `attempt` without a word, whether it waits or runs."""
        self.bed.ask("scancel", "--signal=KILL", "--full", f"--name=tm-{attempt}")
        self.bed.ask("scancel", f"--name=tm-{attempt}")
        shutil.rmtree(self.layout.attempt(*split_attempt_id(attempt)), ignore_errors=True)

    async def close(self) -> None:
        """Disconnect every server, and leave the cluster empty and open."""
        for engine in self.engines:
            await engine.close()
        self.bed.run("scancel", "--user=root", "--signal=KILL", "--full")
        self.bed.run("scancel", "--user=root")
        await self.release()
