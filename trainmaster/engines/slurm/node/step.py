"""The agent inside a cluster's job: one on each node of each component, started by the batch script, ended with its
tasks.

It finds out which tasks are this node's, runs them through the same supervisor as everywhere, and talks with the server
through the attempt's folder alone (`folder`): the node needs no route to the server. Invariants: only the run that has
claimed the attempt starts anything; what is told is on disk first; it leaves only when nothing of its tasks is left.
Standard library of Python 3.9 only.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from trainmaster.agent import folder
from trainmaster.agent.folder import Folder, StepWork
from trainmaster.agent.host import procs, sharing
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.host.loop import Loop
from trainmaster.agent.host.words import say, say_error
from trainmaster.agent.sandbox.probe import probe_sandbox
from trainmaster.agent.settings import Cards, Settings
from trainmaster.agent.starting.spawn import NOT_NOW, StartRefused
from trainmaster.agent.supervising.lookout import Lookout
from trainmaster.agent.supervising.supervisor import Supervisor
from trainmaster.agent.tasks import live
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang, gang_to_json
from trainmaster.engines.slurm.node import allocation
from trainmaster.messages.jobs import starting as saying

LOOK_S: Final = 1.0
BEAT_S: Final = 5.0
GONE: Final = 10
"""Looks in a row that do not find the attempt's folder: somebody has removed it. Less may be a hiccup of a network file
system.
"""
LAST_WORDS_S: Final = 60.0
"""How long the last facts are tried to be written."""
SAME_MOMENT_S: Final = 0.3
"""A cluster that ends a job signals one process after the other. What failed is told so much later: its agent may be
signalled next.
"""
SIGNALLED_S: Final = 3.0
"""The same for what ended by a signal that clusters send: on a busy node the next process has to wait for its
signal.
"""
BY_CLUSTERS: Final = (signal.SIGTERM, signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGKILL)
"""Signals, and the exit codes by which shells pass them on."""
REFUSED: Final = 1
"""Exit code by which srun ends the agents of the other nodes: the gang starts whole or not at all."""


class Facts:
    """What this agent tells. What cannot be written now is kept in order and tried again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.unwritten: list[dict[str, Any]] = []

    def tell(self, fact: dict[str, Any]) -> None:
        """Write `fact` down."""
        self.unwritten.append(fact)
        self.write()

    def write(self) -> None:
        """Write what is not written yet."""
        try:
            while self.unwritten:
                folder.append(self.path, self.unwritten[0])
                del self.unwritten[0]
        except OSError as error:
            say(f"{self.path}: {error}")

    def last_words(self) -> None:
        """Wait until everything is written, at most LAST_WORDS_S."""
        give_up = time.monotonic() + LAST_WORDS_S
        while self.unwritten and time.monotonic() < give_up:
            time.sleep(LOOK_S)
            self.write()


class Step:
    """The agent of one part of an attempt. `gang` is placed and says what is to be started here; `private` is the
    agent's own folder.
    """

    def __init__(
        self, shared: Folder, part: str, work: StepWork, gang: Gang, settings: Settings, facts: Facts, private: str
    ) -> None:
        self.shared, self.part, self.work, self.gang, self.settings, self.facts = (
            shared,
            part,
            work,
            gang,
            settings,
            facts,
        )
        self.name = live.name_of(gang)
        self.private = private
        layout = Layout(self.private, work.data)
        os.makedirs(live.live_folder(layout), 0o700)
        self.loop = Loop()
        self.supervisor = Supervisor(layout, Cgroups(self.private), self._tell, self.loop.later, self.loop.watch_end)
        self.lookout = Lookout(self.supervisor, self.loop.later)
        self.heard = 0  # how many bytes of the orders were read
        self.missed = 0  # so many looks in a row found no folder
        self.held: list[dict[str, Any]] = []  # facts that wait, in order: see `_tell`
        self.hold_until = 0.0  # in monotonic seconds
        self.ending = False
        self.over = False
        self.code = 0

    def run(self) -> int:
        """Run this node's tasks to their end; return the exit code."""
        self.loop.on_signal(signal.SIGTERM, lambda: self.end(self.work.grace_s, folder.CLUSTER_ENDS))
        self.loop.on_signal(signal.SIGCHLD, self.supervisor.children_ended)
        try:
            self._look()
            self._beat()
            if not self.ending:
                request = json.dumps({"gang": gang_to_json(self.gang)}).encode()
                self.supervisor.launch(request, self.gang, self.settings, self._started, self._refused)
            while not self.over:
                self.loop.turn(LOOK_S)
                attempt = self.supervisor.attempts.get(self.name)
                if attempt is not None and not self.ending and not self.held and all(t.settled for t in attempt.tasks):
                    self.end(0.0, "")
        finally:
            self.supervisor.cgroups.close()
            shutil.rmtree(self.private, ignore_errors=True)
        return self.code

    def _started(self, attempt: live.LiveAttempt) -> None:
        for code, said in attempt.notes:
            self.facts.tell({"event": "note", "attempt": self.name, "code": code, "said": said.to_json()})
        for task in attempt.tasks:
            self.facts.tell(task.fact())
        self.lookout.begin()

    def _refused(self, refused: StartRefused) -> None:
        self.facts.tell(refusal(self.name, refused))
        self.over, self.code = True, REFUSED

    def _tell(self, fact: dict[str, Any]) -> None:
        if self.ending or not (self.held or fact.get("exit_code") or fact.get("signal")):
            self.facts.tell(fact)
        else:  # hold it back, and what follows it: see SAME_MOMENT_S
            self.held.append(fact)
            signalled = fact.get("signal") in BY_CLUSTERS or fact.get("exit_code") in BY_CLUSTERS
            now = time.monotonic()
            self.hold_until = max(self.hold_until, now + (SIGNALLED_S if signalled else SAME_MOMENT_S))
            self.loop.later(self.hold_until - now, self._tell_held)

    def _tell_held(self) -> None:
        if self.held:
            self.facts.tell(self.held.pop(0))

    def _look(self) -> None:
        """Do what the server orders. An attempt whose folder is gone is over."""
        self.loop.later(LOOK_S, self._look)
        self.facts.write()
        try:
            self.missed = 0 if os.path.exists(self.shared.orders) else self.missed + 1
            orders, self.heard = folder.read(self.shared.orders, self.heard)
        except (OSError, ValueError):
            say_error()
            return
        for order in orders:
            if order["order"] == "end":
                self.end(float(order["grace_s"]), "as ordered")
            elif order["order"] == "signal" and (attempt := self.supervisor.attempts.get(self.name)) is not None:
                self.supervisor.signal(attempt, int(order["signum"]))
        if self.missed >= GONE:
            self.end(self.work.grace_s, "the attempt's folder is gone")

    def _beat(self) -> None:
        self.loop.later(BEAT_S, self._beat)
        path = self.shared.beat(self.part)
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, sharing.FILE))
            os.utime(path)

    def end(self, grace_s: float, why: str) -> None:
        """End this node's tasks: SIGTERM, `grace_s` seconds, SIGKILL; over when nothing is left of them. `why` "": they
        have ended.
        """
        if not self.ending and why:
            self.facts.tell({"event": "ending", "attempt": self.name, "at": time.time(), "why": why})
        while self.held:
            self._tell_held()
        self.ending = True
        self.supervisor.reap(self.name, grace_s, self._left)

    def _left(self) -> None:
        self._open_up()
        if not self.over:
            self.facts.tell({"event": "left", "attempt": self.name, "at": time.time()})
        self.over = True

    def _open_up(self) -> None:
        """Let the server have what its tasks made, where they ran as somebody else than the server does."""
        layout, job = self.supervisor.layout, self.gang.job
        with contextlib.suppress(OSError):  # the attempt's folder may be gone
            server = os.stat(self.shared.file("step.json")).st_uid
            if server != os.geteuid():
                for root in (self.shared.path, layout.model_out(job), layout.outputs(job)):
                    sharing.open_up(root, server)


def refusal(attempt: str, refused: StartRefused) -> dict[str, Any]:
    """Return the fact that nothing was started here."""
    code = "launch_failed" if refused.code == NOT_NOW else refused.code  # the next attempt may get another node
    return {"event": "refused", "attempt": attempt, "at": time.time(), "code": code, "said": refused.said.to_json()}


def placed(work: StepWork, number: int, node: str, env: Mapping[str, str]) -> Gang:
    """Return the gang with its whole placement, and with the tasks that component `number` has on `node` to be started
    here.

    Raises ValueError when what the cluster gave is not what was asked for.
    """
    components = [
        allocation.component(tasks, env.get(f"TRAINMASTER_NODES_{at}", ""), env.get(f"TRAINMASTER_TASKS_{at}", ""))
        for at, tasks in enumerate(work.components)
    ]
    placement = allocation.placement(live.name_of(work.gang), work.gang.roles, components, work.addresses)
    return replace(work.gang, placement=placement, here=components[number].on(node))


def own_cards(env: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cards that the cluster gives this agent: as CUDA calls them here, and their numbers on the node."""
    numbers = tuple(filter(None, env.get("SLURM_STEP_GPUS", "").split(",")))
    visible = tuple(filter(None, env.get("CUDA_VISIBLE_DEVICES", "").split(",")))
    return visible or numbers, numbers or visible


def ready(work: StepWork, gang: Gang, node: str, env: Mapping[str, str]) -> Settings:
    """Return the settings for this node: its sandbox and its cards. Raises Refused for what it lacks."""
    own = gang.own()
    visible, numbers = own_cards(env)
    wanted = sum(len(place.gpus) for place in own)
    if len(visible) < wanted:
        raise StartRefused("launch_failed", saying.node_short_of_cards(node, len(visible), wanted))
    _check_ports(gang, node)
    try:
        probe = probe_sandbox(work.sandbox, shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin"))
    except Unavailable as error:
        raise StartRefused("launch_failed", error.said) from error
    devices = tuple((f"/dev/nvidia{number}",) for number in numbers)
    cards = {node: Cards(simulated=False, uuids=visible, devices=devices)} if visible else {}
    return replace(work.settings, bwrap=probe.bwrap, degraded=probe.why, cards=cards)


def _check_ports(gang: Gang, node: str) -> None:
    """Refuse a start whose ports somebody else listens on: the next attempt has others."""
    for place in gang.own():
        for _, numbers in place.ports:
            for number in numbers:
                with socket.socket() as tried:
                    try:
                        tried.bind(("", number))
                    except OSError as error:
                        raise StartRefused("launch_failed", saying.port_in_use(number, node)) from error


def began(gang: Gang, part: str, run: str, settings: Settings, env: Mapping[str, str], private: str) -> dict[str, Any]:
    """Return the fact that says who runs here, with the cards by their numbers on the node, and where the agent keeps
    its records.
    """
    _, numbers = own_cards(env)
    tasks = [
        {
            "role": place.role,
            "index": place.index,
            "node": place.node,
            "host": place.host,
            "gpus": [int(numbers[card]) if numbers[card].isdigit() else card for card in place.gpus],
            "ports": [[label, list(ports)] for label, ports in place.ports],
        }
        for place in gang.own()
    ]
    return {
        "event": "began",
        "attempt": live.name_of(gang),
        "at": time.time(),
        "part": part,
        "run": run,
        "tasks": tasks,
        "job": env.get("SLURM_JOB_ID", ""),
        "machine": socket.gethostname(),
        "pid": os.getpid(),
        "python": platform.python_version(),
        "sandbox": bool(settings.bwrap),
        "home": private,
    }


def main(argv: list[str]) -> int:
    """Run as ``step FOLDER RUN COMPONENT`` on one node. Exit code 0: all that was to be done here was done, 1: nothing
    was started.
    """
    shared, run, number = Folder(argv[0]), argv[1], int(argv[2])
    env, node = dict(os.environ), os.environ["SLURMD_NODENAME"]
    part = f"{number}-{node}"
    os.chdir("/")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    procs.take_orphans()
    if not shared.claim(run):
        folder.append(shared.again(part), {"event": "again", "at": time.time(), "run": run})
        say("this attempt was started before: nothing is done")
        return 0
    facts, work = Facts(shared.facts(part)), shared.work()
    try:
        gang = placed(work, number, node, env)
        settings = ready(work, gang, node, env)
    except ValueError as error:
        facts.tell(refusal(live.name_of(work.gang), StartRefused("launch_failed", saying.node_gave(node, str(error)))))
        code = REFUSED
    except StartRefused as refused:
        facts.tell(refusal(live.name_of(work.gang), refused))
        code = REFUSED
    else:
        private = tempfile.mkdtemp(prefix="trainmaster-")
        facts.tell(began(gang, part, run, settings, env, private))
        code = Step(shared, part, work, gang, settings, facts, private).run()
    facts.last_words()
    return code
