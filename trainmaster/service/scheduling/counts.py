"""How many jobs are in each state, by owner and workspace: a list says it without counting rows. All methods in the
loop's thread.

Follows the ledger: made from its rows at start, and again after a commit that failed; changed by every batch that
became durable. Invariant: the counts are those of the stored rows as of the newest batch that was answered.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from trainmaster.access.visible import Visible
from trainmaster.core.records import Job
from trainmaster.core.states import Shown

EVERYBODY: Final = ""


class Group(NamedTuple):
    """The jobs of one owner in one workspace: who may see one of them may see all."""

    owner: str
    workspace: str


class StateCounts:
    """One object per server. A change costs O(1), an answer O(workspaces of an owner), where everything is visible
    O(states).
    """

    def __init__(self) -> None:
        self._all: Counter[str] = Counter()
        self._of: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self._live: dict[str, Shown] = {}  # what is counted of each job that has not ended
        self._aside: deque[tuple[str, Group, str]] = deque()  # noted by threads, not taken off the counts yet

    def restore(self, stored: Mapping[tuple[str, str, str], int], live: Iterable[Job]) -> None:
        """Begin anew from the ledger's rows: jobs by (owner, workspace, state), and those that have not ended."""
        self._aside.clear()
        self._all.clear()
        self._of.clear()
        for (owner, workspace, shown), number in stored.items():
            self._add(Group(owner, workspace), shown, number)
        self._live = {job.id: job.shown for job in live}

    def changed(self, jobs: Iterable[Job], deleted: Iterable[Job]) -> None:
        """See a durable batch: each job it changed as it is now, and the ended jobs whose rows it removed."""
        for job in jobs:
            before, shown = self._live.pop(job.id, None), job.shown
            if not job.terminal:
                self._live[job.id] = shown
            if before is not shown:
                if before is not None:
                    self._add(Group(job.owner, job.workspace), before, -1)
                self._add(Group(job.owner, job.workspace), shown, 1)
        for job in deleted:
            self._add(Group(job.owner, job.workspace), job.shown, -1)

    def set_aside(self, job: str, group: Group, shown: str) -> None:
        """See that the record of `job`, which said these, was moved out of the jobs because it cannot be read. From any
        thread.
        """
        self._aside.append((job, group, shown))

    def _settle(self) -> None:
        while self._aside:
            job, group, shown = self._aside.popleft()
            self._add(group, self._live.pop(job, shown), -1)

    def by_state(self, visible: Visible, owner: str = EVERYBODY) -> dict[Shown, int]:
        """Return the number of jobs that are `visible`, of `owner` or of everybody, in each state that has any."""
        self._settle()
        counts = self._all
        if owner or not visible.everything:
            counts = sum((self._of[group.owner][group.workspace] for group in self._groups(visible, owner)), Counter())
        return {shown: number for shown in Shown if (number := counts.get(shown, 0)) > 0}

    def _groups(self, visible: Visible, owner: str) -> list[Group]:
        """Return the groups of `owner`, or of everybody, that are `visible`. Without workspaces nobody else's are
        looked at.
        """
        of_one = owner or (None if visible.everything or visible.workspaces else visible.owner or "")
        owners = list(self._of) if of_one is None else [of_one] if of_one in self._of else []
        groups = [Group(one, workspace) for one in owners for workspace in self._of[one]]
        return [group for group in groups if visible.covers(group)]

    def _add(self, group: Group, shown: str, number: int) -> None:
        self._all[shown] += number
        self._of[group.owner][group.workspace][shown] += number
