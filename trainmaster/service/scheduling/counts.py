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
from trainmaster.core.states import JobShare, Shown

EVERYBODY: Final = ""
EVERYWHERE: Final = ""


class Group(NamedTuple):
    """The jobs of one owner in one workspace that are shared alike: who may see one of them may see all."""

    owner: str
    workspace: str
    share: str = JobShare.NONE.value


class StateCounts:
    """One object per server. A change costs O(1), an answer O(workspaces of an owner), where everything is visible
    O(states).
    """

    def __init__(self) -> None:
        self._all: Counter[str] = Counter()
        self._of: defaultdict[str, defaultdict[Group, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self._live: dict[str, tuple[Group, Shown]] = {}  # what is counted of each job that has not ended
        self._aside: deque[tuple[str, Group, str]] = deque()  # noted by threads, not taken off the counts yet

    def restore(self, stored: Mapping[tuple[str, str, str, str], int], live: Iterable[Job]) -> None:
        """Begin anew from the ledger's rows: jobs by (owner, workspace, share, state), and those that are live."""
        self._aside.clear()
        self._all.clear()
        self._of.clear()
        for (owner, workspace, share, shown), number in stored.items():
            self._add(Group(owner, workspace, share), shown, number)
        self._live = {job.id: (_group(job), job.shown) for job in live}

    def changed(self, jobs: Iterable[Job], deleted: Iterable[Job]) -> None:
        """See a durable batch: each job it changed as it is now, and the ended jobs whose rows it removed or changed,
        as they were.
        """
        for job in jobs:
            before, now = self._live.pop(job.id, None), (_group(job), job.shown)
            if not job.terminal:
                self._live[job.id] = now
            if before != now:
                if before is not None:
                    self._add(*before, -1)
                self._add(*now, 1)
        for job in deleted:
            self._add(_group(job), job.shown, -1)

    def set_aside(self, job: str, group: Group, shown: str) -> None:
        """See that the record of `job`, which said these, was moved out of the jobs because it cannot be read. From any
        thread.
        """
        self._aside.append((job, group, shown))

    def _settle(self) -> None:
        while self._aside:
            job, group, shown = self._aside.popleft()
            self._add(*self._live.pop(job, (group, shown)), -1)

    def by_state(self, visible: Visible, owner: str = EVERYBODY, workspace: str = EVERYWHERE) -> dict[Shown, int]:
        """Return the number of jobs that are `visible`, of `owner` or of everybody, in `workspace` or in all, in each
        state that has any.
        """
        self._settle()
        counts = self._all
        if owner or workspace or visible.within is not None or not visible.everything:
            groups = [one for one in self._groups(visible, owner) if workspace in ("", one.workspace)]
            counts = sum((self._of[one.owner][one] for one in groups), Counter())
        return {shown: number for shown in Shown if (number := counts.get(shown, 0)) > 0}

    def _groups(self, visible: Visible, owner: str) -> list[Group]:
        """Return the groups of `owner`, or of everybody, that are `visible`. Without workspaces nobody else's are
        looked at.
        """
        of_others = visible.everything or visible.workspaces or visible.shared
        of_one = owner or (None if of_others else visible.owner or "")
        owners = list(self._of) if of_one is None else [of_one] if of_one in self._of else []
        return [group for one in owners for group in self._of[one] if visible.covers(group)]

    def _add(self, group: Group, shown: str, number: int) -> None:
        self._all[shown] += number
        self._of[group.owner][group][shown] += number


def _group(job: Job) -> Group:
    return Group(job.owner, job.workspace, job.share.value)
