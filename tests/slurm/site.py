"""A cluster with a shared data folder, used as the engine uses it: the script, the step, the facts."""

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.fixtures.gangs import gang, key
from tests.fixtures.pythons import OLD
from tests.slurm.bed import Bed
from trainmaster.agent import folder
from trainmaster.agent.folder import Folder, StepWork, step_text
from trainmaster.agent.settings import Settings
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang, RoleCommand
from trainmaster.core.records import Role
from trainmaster.engines.slurm.attempts.delivery import deliver
from trainmaster.engines.slurm.client import parse, states
from trainmaster.engines.slurm.client.commands import Commands
from trainmaster.engines.slurm.script import AttemptPlace, Terms, components, script

PATIENCE_S = 120.0


def gang_of(*roles: tuple[Role, str]) -> Gang:
    made = gang()
    made.roles = [role for role, _ in roles]
    made.commands = [RoleCommand(argv=("/bin/sh", "-c", text)) for _, text in roles]
    return replace(made.build(), placement=())


@dataclass
class Site:
    """The cluster, and a data folder that all of its nodes share."""

    bed: Bed
    commands: Commands
    data: str
    home: str

    @property
    def layout(self) -> Layout:
        return Layout(self.home, self.data)

    def folder(self, of: Gang) -> Folder:
        return Folder(self.layout.attempt(of.job, of.attempt))

    async def submit(self, of: Gang, terms: Terms | None = None, **more: Any) -> int:
        shared, package = self.folder(of), deliver(self.data)
        settings = Settings(cgroups=False, package=package, environment=sys.prefix, sample_s=0.5)
        addresses = {
            node.name: node.address for node in parse.nodes(await self.commands.run("scontrol", "show", "node", "-o"))
        }
        asked = {"sandbox": "none", "grace_s": 1.0, **more}
        shared.open(step_text(StepWork(of, settings, self.data, components(of.roles), addresses, **asked)))
        shared.keep()
        text = script(
            of, terms or Terms("batch", limit_s=300), AttemptPlace(shared.path, package, OLD or sys.executable)
        )
        return parse.job_number(await self.commands.run("sbatch", "--parsable", given=text))

    async def state(self, of: Gang) -> states.JobStateSeen:
        told = await self.commands.run("squeue", "-h", "-t", "all", f"--name=tm-{key(of)}", "-o", parse.JOB_FORMAT)
        return states.of_components(job.state for job in parse.jobs(told))

    async def until(self, what: Callable[[], Any], why: str) -> Any:
        give_up = time.monotonic() + PATIENCE_S
        while not (found := what()):
            assert time.monotonic() < give_up, why
            await asyncio.sleep(0.1)
        return found

    async def ended(self, of: Gang) -> states.JobStateSeen:
        give_up = time.monotonic() + PATIENCE_S
        while (seen := await self.state(of)).standing != "ended":
            assert time.monotonic() < give_up, (seen, self.told(of))
            await asyncio.sleep(0.2)
        return seen

    def told(self, of: Gang) -> str:
        """Return everything that was said, for whoever looks at a failure."""
        return self.words(of) + "\n".join(map(str, self.facts(of)))

    def words(self, of: Gang) -> str:
        path = Path(self.folder(of).path, "slurm.log")
        return path.read_text() if path.exists() else ""

    def facts(self, of: Gang) -> list[dict[str, Any]]:
        found = sorted(Path(self.folder(of).path).glob("facts-*.jsonl"))
        return [fact for path in found for fact in folder.read(str(path))[0]]

    def log(self, of: Gang, role: int, index: int) -> str:
        return Path(self.layout.task(of.job, of.attempt, role, index).log).read_text()


def ends(facts: list[dict[str, Any]]) -> dict[tuple[int, int], int | None]:
    return {(fact["role"], fact["index"]): fact["exit_code"] for fact in facts if fact.get("kind") == "exited"}
