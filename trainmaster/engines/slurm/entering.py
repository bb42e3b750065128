"""Entering a task that runs on a cluster: a second step beside the agent's, on the task's node, with all that the job
has there.

srun carries the terminal; on the node `agent/enter` finds the task by the agent's own record. Invariant: of what a user
typed srun sees one word that cannot be one of its own (`Entry.word`), and no variable of the user's is in any command
line.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from trainmaster.agent import folder
from trainmaster.agent.enter import NOT_ENTERED, Entry
from trainmaster.agent.place import start
from trainmaster.agent.tasks.prepare import MARKER
from trainmaster.core.errors import Conflict, Unavailable
from trainmaster.core.ids import task_name
from trainmaster.engines.base import Terminal, Window
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.client.commands import Access, command, environment, srun_words
from trainmaster.engines.slurm.messages import slurm
from trainmaster.engines.slurm.node.mirror_start import root_of
from trainmaster.engines.terminal import ChildTerminal, demand_running, runs


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """How the cluster is reached, and where our `package` and the `python` that runs it lie on its nodes. `scratch`:
    see script.Place.
    """

    access: Access
    package: str
    python: str
    scratch: str = ""


async def enter(
    place: ClusterPlace,
    following: Following | None,
    role: int,
    index: int,
    argv: Sequence[str],
    window: Window | None,
    *,
    kept: bool = False,
) -> Terminal:
    """Run `argv` inside the task (`role`, `index`) of the attempt that is followed. Raises Conflict, Unavailable."""
    tasks = following.tasks.values() if following is not None else ()
    if kept and not runs(tasks, role, index):
        raise Conflict(slurm.task_not_kept_on_cluster(task_name(role, index)))
    demand_running(tasks, role, index)
    assert following is not None
    home, component, node = await asyncio.to_thread(where, following, role, index)
    data, package = following.work.data, place.package
    if place.scratch:
        data = root_of(f"{place.scratch}/{following.attempt}", f"{component}-{node}")
        package = data + following.work.settings.package[len(following.work.data) :]
    entry = Entry(home, data, following.attempt, role, index, tuple(argv))
    words = (
        *srun_words("enter", following.own, node, component if len(following.work.components) > 1 else None),
        *(("--pty",) if window is not None else ()),
        f"--export={MARKER}={following.attempt}/{task_name(role, index)}",
        *(place.python, "-I", "-S", "-c", start("agent.enter"), package, entry.word()),
    )
    env = {**environment(place.access), "SLURM_EXIT_ERROR": str(NOT_ENTERED)}
    try:
        return ChildTerminal.start(command(place.access, "srun", words, following.user), env, window)
    except OSError as error:
        raise Unavailable(slurm.program_not_run("srun", error.strerror or str(error))) from error


def where(one: Following, role: int, index: int) -> tuple[str, int, str]:
    """Return of a task's agent its own folder, the component of the job and the node. May block. Raises Unavailable."""
    component = next(number for number, tasks in enumerate(one.work.components) if (role, index) in tasks)
    try:
        for part in one.parts:
            facts = folder.read(one.shared.facts(part))[0] if part.startswith(f"{component}-") else []
            for fact in facts:
                if fact["event"] != "began":
                    continue
                for task in fact["tasks"]:
                    if (task["role"], task["index"]) == (role, index):
                        return str(fact["home"]), component, str(task["node"])
    except (OSError, ValueError, KeyError) as error:
        raise Unavailable(slurm.agent_record_unreadable()) from error
    raise Unavailable(slurm.agent_not_located(task_name(role, index)))
