"""Fake machines behind a queue of their own, as a cluster's: whoever hands a gang over learns later when and where it starts.

First come, first served. Tests hold the queue, refuse what was accepted, and say why something waits. Invariant: a gang is
in the queue, or started, or refused, or gone, and never in two of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from trainmaster.core.ids import attempt_id
from trainmaster.core.launch import Asked, Gang
from trainmaster.core.records import Assignment, Node
from trainmaster.engines.base import AttemptReport, LaunchRefused, Refused, Started, Waiting
from trainmaster.engines.fake import FakeMachines, Script, handle_of, understand
from trainmaster.engines.fake_clock import Clock

FIRST_PORT: Final = 30000


class FakeCluster(FakeMachines):
    """Nodes that start what waits for them by themselves. `held`: nothing starts until `release`."""

    owns_queue = True

    def __init__(self, nodes: Sequence[Node], clock: Clock, script: Script = understand, start_s: float = 0.0) -> None:
        super().__init__(nodes, clock, script, start_s)
        self.held = False
        self._queue: dict[str, Gang] = {}
        self._reasons: dict[str, Waiting] = {}  # of what is in the queue
        self._answers: dict[str, Started | Refused] = {}  # of what left the queue, until it is reaped
        self._ports = FIRST_PORT

    # -- what tests do -----------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Start nothing any more."""
        self.held = True

    def release(self) -> None:
        """Start what fits, now and from now on."""
        self.held = False
        self._soon()

    def start(self, attempt: str) -> None:
        """Start one that waits, wherever there is room, though the queue is held."""
        gang = self._queue[attempt]
        placement = self._choose(gang)
        assert placement is not None, "there is no room for it"
        self._begin_gang(attempt, replace(gang, placement=placement))

    def asked(self, attempt: str) -> Asked | None:
        """Return what was asked for one that waits when it was handed over."""
        return self._queue[attempt].asked

    def say(self, attempt: str, code: str, text: str, starts_at: float | None = None) -> None:
        """Give the reason why `attempt` waits."""
        waiting = self._reasons[attempt] = Waiting(attempt, code, text, self.clock.now(), starts_at)
        self.tell(waiting)

    def refuse(self, attempt: str, code: str, text: str, node: str | None = None) -> None:
        """Throw out of the queue what was accepted."""
        self._leaves(attempt)
        refused = self._answers[attempt] = Refused(attempt, code, text, self.clock.now(), node)
        self.tell(refused)

    def lose(self, attempt: str) -> None:
        """Forget everything of `attempt` without a word."""
        self._leaves(attempt)
        self._answers.pop(attempt, None)
        super().lose(attempt)

    # -- what the engine does ----------------------------------------------------------------------------------

    def launch(self, gang: Gang) -> str:
        """Put the gang at the end of the queue. Raises LaunchRefused."""
        attempt = attempt_id(gang.job, gang.attempt)
        if attempt in self._queue or attempt in self._answers:
            return handle_of(attempt)
        if attempt in self._gone:
            raise LaunchRefused("launch_failed", f"{attempt} was reaped: it may not start again")
        if self._refusals:
            raise self._refusals.pop(0)
        self._queue[attempt] = gang
        self._soon()
        return handle_of(attempt)

    def estimate(self, gang: Gang) -> Waiting | Refused:
        """Foresee a start now where nothing is in the way, at no known time else."""
        attempt, now = attempt_id(gang.job, gang.attempt), self.clock.now()
        if any(role.resources.gpu > max(len(node.gpus) for node in self.nodes()) for role in gang.roles):
            return Refused(attempt, "launch_failed", "no node has as many cards", now)
        placement = None if self.held or self._queue else self._choose(gang)
        if placement is None:
            return Waiting(attempt, "Priority", "jobs before it are served first", now)
        nodes = tuple(dict.fromkeys(where.node for where in placement))
        return Waiting(attempt, "None", "nothing is in its way", now, now, nodes=nodes)

    def report(self, attempt: str) -> AttemptReport:
        """Return everything known of `attempt`."""
        if attempt in self._queue:
            return AttemptReport(attempt, True, queue=self._reasons.get(attempt))
        answer = self._answers.get(attempt)
        return replace(super().report(attempt), known=answer is not None, queue=answer)

    async def reap(self, attempt: str, grace_s: float) -> None:
        """End everything, also what only waits; return when nothing is left."""
        self._leaves(attempt)
        await super().reap(attempt, grace_s)
        self._answers.pop(attempt, None)
        self._soon()

    # -- inside ------------------------------------------------------------------------------------------------

    def _soon(self) -> None:
        self.clock.call_at(self.clock.now(), self._serve)

    def _serve(self) -> None:
        """Start the first in the queue as long as it fits; say of the others that they wait."""
        while self._queue and not self.held:
            attempt, gang = next(iter(self._queue.items()))
            placement = self._choose(gang)
            if placement is None:
                break
            self._begin_gang(attempt, replace(gang, placement=placement))
        for attempt in [one for one in self._queue if one not in self._reasons]:
            self.say(attempt, "Priority", "jobs before it are served first")

    def _begin_gang(self, attempt: str, gang: Gang) -> None:
        try:
            for where in gang.placement:
                self.script(gang, where)
        except LaunchRefused as refusal:
            self.refuse(attempt, refusal.code, refusal.message)
            return
        self._leaves(attempt)
        started = self._answers[attempt] = Started(attempt, self.clock.now(), gang.placement)
        self.tell(started)
        self._start(attempt, gang)

    def _leaves(self, attempt: str) -> None:
        self._queue.pop(attempt, None)
        self._reasons.pop(attempt, None)

    def _end(self, attempt: str, task: Any, kind: str, exit_code: int | None = None, signum: int | None = None) -> None:
        super()._end(attempt, task, kind, exit_code, signum)
        self._soon()

    def _choose(self, gang: Gang) -> tuple[Assignment, ...] | None:
        """Return a place for every replica, on the first node with enough free cards; None while there is none."""
        free = {node.name: list(range(len(node.gpus))) for node in self.nodes() if node.schedulable}
        hosts = {node.name: node.host for node in self.nodes()}
        for _, task in self._running():
            cards = free.get(task.where.node, [])
            cards[:] = [card for card in cards if card not in task.where.gpus]
        placement = []
        for where in gang.placement:
            role = gang.roles[where.role]
            node = next((name for name, cards in free.items() if len(cards) >= role.resources.gpu), None)
            if node is None:
                return None
            taken, free[node] = free[node][: role.resources.gpu], free[node][role.resources.gpu :]
            ports = tuple((request.label, self._next_ports(request.count)) for request in role.ports)
            placement.append(Assignment(where.role, where.index, node, hosts[node], tuple(taken), ports))
        return tuple(placement)

    def _next_ports(self, count: int) -> tuple[int, ...]:
        first, self._ports = self._ports, self._ports + count
        return tuple(range(first, self._ports))
