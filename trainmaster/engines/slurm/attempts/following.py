"""One attempt on a cluster, as it is followed: what its nodes wrote down and what Slurm says of it become facts. Pure.

What the nodes wrote comes first: they know how the user's program ended, Slurm only that the job did. But why a program
ended that the cluster has ended, only Slurm knows. Invariants: of one attempt
`Started` is told once and before any task, an end is told once, and a task whose end nobody wrote is lost only after
Slurm has said that nothing of the job runs any more, the folder was read again after that, and its agent has left or is
silent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from signal import SIGKILL, SIGTERM
from typing import Any, Final

from trainmaster.agent.folder import CLUSTER_ENDS, Folder, StepWork
from trainmaster.core.records import Assignment, Verdict, verdict_from_json
from trainmaster.engines.base import AFTER_HOOK, AttemptReport, Fact, Note, Refused, Started, TaskReport, Waiting
from trainmaster.engines.slurm.client import states
from trainmaster.engines.slurm.client.parse import JobId, JobLine, Known
from trainmaster.engines.slurm.client.states import JobStateSeen
from trainmaster.engines.slurm.messages import slurm_states as say
from trainmaster.messages.said import Said, said_from_json, said_in

ENDED: Final = ("exited", "lost")
BLAMED: Final = frozenset({"launch_failed", "bad_node"})
"""Refusals that are the node's: the attempt may do elsewhere."""
SILENT_S: Final = 15.0
"""An agent that did not say that it has left is gone when its beat, which comes every five seconds, stands still for so
long.
"""
TAKEN: Final = frozenset({"stopped", "expired", "lost", "bad_node", "out_of_memory"})
"""What Slurm may have done to a job whose programs the cluster has ended."""
LOOKS: Final = 2
"""So often the folder is read after Slurm has said that the job is over, before what is missing in it counts as
missing.
"""


@dataclass
class Following:
    """`name`: what Slurm's job is called, as the attempt or as an array. `id`: Slurm's, of the first component. `user`:
    the system user it runs as, "": the server's own. `parts`: how far the facts of each part were read, in bytes.
    """

    attempt: str
    shared: Folder
    work: StepWork
    name: str
    id: JobId
    user: str = ""
    own: int = 0  # its job number, also of an element of an array
    ran: bool = False  # its run had claimed the attempt before we followed it
    parts: dict[str, int] = field(default_factory=dict)
    began: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    seen: JobStateSeen | None = None  # what Slurm said last
    gone: bool = False  # Slurm does not know it any more
    held: bool = True  # its launch has not returned yet: facts wait
    garbled: set[str] = field(default_factory=set)  # parts that wrote what cannot be read
    queue: Waiting | Started | Refused | None = None
    tasks: dict[tuple[int, int], TaskReport] = field(default_factory=dict)
    _places: dict[tuple[int, int], Assignment] = field(default_factory=dict)
    _part_of: dict[tuple[int, int], str] = field(default_factory=dict)
    _beats: dict[str, tuple[float, float]] = field(default_factory=dict)  # part -> its beat, seen since when
    _listened: float = 0.0
    _reports: list[dict[str, Any]] = field(default_factory=list)  # facts of tasks, told only after the start
    _cut: set[str] = field(default_factory=set)  # parts whose tasks the cluster ends
    _given: tuple[str, ...] = ()  # the nodes that Slurm gave it
    _refusal: Refused | None = None
    _looks: int = 0

    @property
    def known(self) -> Known:
        """What Slurm is asked for: the job's name, and its ids, of all components."""
        first = self.id.number
        return self.name, (self.id, *(JobId(first + more) for more in range(1, len(self.work.components))))

    @property
    def over(self) -> bool:
        """Whether Slurm says that nothing of it will run any more."""
        return self.gone or (self.seen is not None and self.seen.standing == "ended")

    @property
    def settled(self) -> bool:
        """Whether there is nothing more to be learnt from its folder."""
        if isinstance(self.queue, Started):
            return all(self._ended(task) for task in self._all())
        return isinstance(self.queue, Refused) or (self.over and self._looks > LOOKS)

    @property
    def runs(self) -> bool:
        """Whether its nodes may have written something."""
        return bool(self.began) or self.over or (self.seen is not None and self.seen.standing in ("running", "unknown"))

    def report(self) -> AttemptReport:
        """Return what is known of it. Not known: it was never started, and is in no queue."""
        known = not self.over or isinstance(self.queue, Started | Refused) or self._looks <= LOOKS
        return AttemptReport(self.attempt, known, tuple(self.tasks[key] for key in sorted(self.tasks)), self.queue)

    # ------------------------------------------------------------------------------------------------------------ Slurm

    def looked(self, lines: Sequence[JobLine], now: float) -> list[Fact]:
        """Take in what squeue says of it; nothing: Slurm does not know it any more."""
        waited = not self.ran and not self.began and (self.seen is None or self.seen.standing == "pending")
        lines = [line for line in lines if line.told or waited]
        before, self.gone = self.over, not lines
        self.own = lines[0].own if lines else self.own
        self.seen = states.of_components(line.state for line in lines) if lines else self.seen
        if not before and self.over:
            self._looks = 0
        for number, line in enumerate(lines):
            self._given = self._given or line.nodes
            if line.state.standing in ("running", "unknown"):
                for node in line.nodes:
                    self.parts.setdefault(f"{number}-{node}", 0)
        if not lines or self.seen is None or self.seen.standing != "pending" or self._decided:
            return []
        return self._waits(lines, now)

    def _waits(self, lines: Sequence[JobLine], now: float) -> list[Fact]:
        line = next((line for line in lines if line.state.standing == "pending"), lines[0])
        starts = [line.start for line in lines]
        at = max((start for start in starts if start is not None), default=None) if None not in starts else None
        waiting = Waiting(
            self.attempt,
            line.reason.split(",")[0] or "None",
            states.reason(line.reason),
            now,
            at,
            tuple(dict.fromkeys(node for line in lines for node in line.expected_nodes)),
        )
        before = self.queue
        if isinstance(before, Waiting) and replace(before, at=now) == waiting:
            return []
        self.queue = waiting
        return [waiting]

    @property
    def _decided(self) -> bool:
        return isinstance(self.queue, Started | Refused)

    # ------------------------------------------------------------------------------------------------------ the folder

    def heard(self, part: str, facts: Iterable[dict[str, Any]]) -> list[Fact]:
        """Take in what the agent of `part` wrote down. Raises ValueError, KeyError, TypeError, AttributeError,
        RecursionError for what no agent of ours has written.
        """
        out: list[Fact] = []
        for fact in facts:
            kind = fact["event"]
            if kind == "began":
                self.began.add(part)
                found = {(place.role, place.index): place for place in _places(fact)}
                self._places.update(found)
                self._part_of.update(dict.fromkeys(found, part))
            elif kind == "task":
                cut, given = part in self._cut and fact["kind"] == "exited", verdict_from_json(fact.get("verdict"))
                task, notes = (fact["role"], fact["index"]), fact.get("notes") or ()
                out += [Note(self.attempt, AFTER_HOOK, said_from_json(said), task) for said in notes]
                self._reports.append({**fact, "cut": cut, "verdict": given})
            elif kind == "ending" and fact["why"] == CLUSTER_ENDS:
                self._cut.add(part)
            elif kind == "left":
                self.left.add(part)
            elif kind == "note":
                out.append(Note(self.attempt, fact["code"], _parse_said(fact)))
            elif kind == "refused":
                self.left.add(part)
                node = part.partition("-")[2] if fact["code"] in BLAMED else None
                self._refusal = self._refusal or Refused(
                    self.attempt, fact["code"], _parse_said(fact), fact["at"], node
                )
        return out

    def listened(self, beats: Mapping[str, float], now: float) -> None:
        """Take in the beats of all parts by `now`, a monotonic clock: silence counts only while somebody listens
        steadily.

        Beats are compared with each other only: whoever writes them has another clock.
        """
        if now - self._listened > SILENT_S / 2:
            self._beats.clear()
        self._listened = now
        for part, beat in beats.items():
            if part not in self._beats or self._beats[part][0] != beat:
                self._beats[part] = beat, now

    @property
    def alive(self) -> set[str]:
        """The agents that have begun, have not said that they left, and are not silent."""
        quiet = {part for part, (_, since) in self._beats.items() if self._listened - since >= SILENT_S}
        return self.began - self.left - quiet

    def read(self, now: float, printed: Said | None = None) -> list[Fact]:
        """Return what follows once all that is in the folder was heard. `printed`: what the job printed where no agent
        told anything, or why nothing came from its nodes.
        """
        self._looks += self.over
        out: list[Fact] = []
        if not self._decided:
            if self._refusal is not None:
                self.queue = self._refusal
                out.append(self._refusal)
            elif self._all_start or (self._final and self.began):
                out.append(self._start(now))
            elif self._final and not self.gone:
                out.append(self._never_ran(now, printed))
        if isinstance(self.queue, Started):
            known = self.over or self.put_back
            for fact in self._reports:
                out += self._task(fact) if known or not fact["cut"] else []
            self._reports = [fact for fact in self._reports if fact["cut"] and not known]
            if self._final:
                alive = self.alive
                lost = [task for task in self._all() if not self._ended(task) and self._part_of.get(task) not in alive]
                out += [self._lost(task, now) for task in lost]
        return out

    @property
    def _final(self) -> bool:
        return self.over and self._looks > LOOKS

    @property
    def put_back(self) -> bool:
        """Whether Slurm lets it wait again although it has run: it would do nothing a second time."""
        return bool(self.began) and self.seen is not None and self.seen.standing == "pending"

    @property
    def _all_start(self) -> bool:
        """Whether something was told of every task: an agent that has begun may still refuse."""
        return len({(fact["role"], fact["index"]) for fact in self._reports}) == len(self._all())

    def _start(self, now: float) -> Started:
        """The start, with every replica; one whose agent never began is nowhere."""
        at = min((fact["at"] for fact in self._reports), default=now)
        places = tuple(self._places.get(task, Assignment(*task, "", "")) for task in self._all())
        self.queue = Started(self.attempt, at, places)
        return self.queue

    def _never_ran(self, now: float, printed: Said | None) -> Refused:
        assert self.seen is not None, "what Slurm never knew is gone, not ended"
        code = self.seen.code or "launch_failed"
        state = self.seen.said
        why = say.slurm_ended_it_before(state) if printed is None else say.slurm_ended_it_and_it_printed(state, printed)
        # Cancelled, but by no person: scancel leaves a line in the output, and the batch script never began. The node
        # runs another job of the same id, which a controller that was killed has forgotten: another node may do.
        node = self._given[0] if self._given and code == "stopped" and printed is None else None
        self.queue = Refused(self.attempt, code, why, now, node)
        return self.queue

    def _task(self, fact: dict[str, Any]) -> list[Fact]:
        """Tell what is new; an end whose start was never told is told as both."""
        key = fact["role"], fact["index"]
        before = self.tasks.get(key)
        if before is not None and (before.kind == fact["kind"] or before.kind in ENDED):
            return []
        out: list[Fact] = []
        if before is None and fact["kind"] != "running" and fact.get("started_at"):
            began = fact.get("started") or ""
            out.append(TaskReport(self.attempt, *key, "running", fact["started_at"], stamp=began))
        given, kind, code, signum = fact["verdict"], fact["kind"], fact.get("exit_code"), fact.get("signal")
        if fact["cut"] and (self.gone or self.put_back or (self.seen is not None and self.seen.code in TAKEN)):
            # Exit code 0 after the cluster's SIGTERM means that the program obeyed, not that it finished.
            given = self._by_slurm()
            kind = "lost" if given.code == "lost" else kind
            code, signum = code or None, signum or (None if code else int(SIGTERM))
        stamp = fact.get("stamp") or ""
        report = self.tasks[key] = TaskReport(self.attempt, *key, kind, fact["at"], code, signum, given, stamp)
        return [*out, report]

    def _lost(self, task: tuple[int, int], now: float) -> TaskReport:
        """Return the end of a task that nobody wrote down: what Slurm says of the job, else lost."""
        verdict = self._by_slurm()
        lost = verdict.code not in TAKEN or verdict.code == "lost"
        report = self.tasks[task] = TaskReport(
            self.attempt, *task, "lost" if lost else "exited", now, None, None if lost else int(SIGKILL), verdict
        )
        return report

    def _by_slurm(self) -> Verdict:
        """Return why the job ended, by what Slurm says of it."""
        if self.gone or self.seen is None:
            return Verdict("lost", say.slurm_says_of_job(say.slurm_state_forgotten()))
        if self.put_back:
            return Verdict("lost", say.slurm_says_of_job(say.slurm_state_put_back()))
        return Verdict(self.seen.code or "lost", say.slurm_says_of_job(self.seen.said))

    def _all(self) -> list[tuple[int, int]]:
        return sorted(task for component in self.work.components for task in component)

    def _ended(self, task: tuple[int, int]) -> bool:
        report = self.tasks.get(task)
        return report is not None and report.kind in ENDED


def _parse_said(fact: Mapping[str, Any]) -> Said:
    """Return what an agent says with a fact. Raises KeyError, TypeError, AttributeError, RecursionError for what is
    none of ours.
    """
    said = said_in(fact)
    if said is None:
        raise KeyError("said")
    return said


def _places(began: dict[str, Any]) -> list[Assignment]:
    return [
        Assignment(
            task["role"],
            task["index"],
            task["node"],
            task["host"],
            tuple(task["gpus"]),
            tuple((label, tuple(ports)) for label, ports in task["ports"]),
        )
        for task in began["tasks"]
    ]
