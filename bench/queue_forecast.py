"""How good the forecasts are: every `EVERY`-th job of a recorded workload is foreseen when it comes, and then watched.

The forecast is that of the service: a pass says whether it starts at once, else the rehearsal says when. The history
and the calibration know only what had happened by then. Runs the simulator in this process; nothing here depends on a
clock.
"""

import math
import statistics
import time
from typing import Final, NamedTuple

from trainmaster.core.records import Job, Node
from trainmaster.core.states import JobState
from trainmaster.queue.forecasting.calibration import Calibration
from trainmaster.queue.forecasting.forecast import Foreseen, at_once, foresee, scene_after
from trainmaster.queue.forecasting.history import History
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import QueuePolicy
from trainmaster.simulate.compare import settings
from trainmaster.simulate.run import Watcher, simulate
from trainmaster.simulate.workload import Workload
from trainmaster.simulate.world import World

EVERY: Final = 4
UNKNOWN_S: Final = 1e9
"""A forecast that says nothing counts as one for this far ahead."""


class Study(Watcher):
    """Foresees every `every`-th job. `seen`: (foreseen now?, seconds to the forecast's middle and upper end, seconds
    waited).
    """

    def __init__(self, policy: QueuePolicy, every: int = EVERY) -> None:
        self._policy, self._every, self._came = policy, every, 0
        self.history, self.calibration = History(), Calibration()
        self._open: dict[str, tuple[int, bool, Foreseen, float]] = {}
        self.seen: list[tuple[bool, float, float, int]] = []
        self.cpu_s: list[float] = []

    def submitted(self, world: World, job: Job, now: int) -> None:
        """Foresee the job."""
        self._came += 1
        if self._came % self._every:
            return
        snapshot = world.snapshot()
        made = plan(snapshot, now, self._policy)
        at_now = any(start.job == job.id for start in made.starts)
        foreseen = Foreseen(now, now, now)
        if not at_now:
            before = time.process_time()
            scene = scene_after(snapshot, made, job.pool, self.history, self._policy)
            foreseen = at_once(foresee(scene, job.id)).starts[job.id]
            self.cpu_s.append(time.process_time() - before)
            self.calibration.learn(now)
            self.calibration.remember(job.id, now, foreseen)
        self._open[job.id] = now, at_now, foreseen, self.calibration.high(now, foreseen)

    def changed(self, before: Job | None, after: Job) -> None:
        """Compare a start with its forecast; learn from an end."""
        attempt = after.attempt
        if after.state is JobState.ACTIVE and attempt is not None and after.id in self._open:
            made_at, at_now, foreseen, high = self._open.pop(after.id)
            started = int(attempt.created_at)
            self.seen.append((at_now, foreseen.at - made_at, high - made_at, started - made_at))
            self.calibration.left(after.id, started, started=True)
        if after.terminal and attempt is not None and after.ended_at is not None:
            limit = math.inf if after.policy.duration_s is None else after.policy.duration_s
            self.history.add(after.owner, after.ended_at - attempt.created_at, limit)


def study(workload: Workload, nodes: tuple[Node, ...], policy: str, every: int = EVERY) -> Study:
    """Return what became of the forecasts of `workload` under a named policy."""
    setting = settings([policy])[0]
    found = Study(setting.policy, every)
    simulate(workload, nodes, setting, watcher=found)
    return found


class Worth(NamedTuple):
    """What forecasts were worth. `right`: share of the jobs of which was rightly said whether they start at once;
    `error`: mean absolute error over mean wait; `covered`: share that started before the upper end, of all and of those
    that had to wait.
    """

    jobs: int
    right: float
    error: float
    covered: float
    covered_waiting: float


def worth(found: Study) -> Worth:
    """Return what the forecasts were worth."""
    seen = found.seen
    waited = [one for one in seen if not one[0]]
    mean_s = statistics.mean(wait for *_, wait in seen)
    error_s = statistics.mean(abs(min(at, UNKNOWN_S) - wait) for _, at, _, wait in seen)
    right = sum(at_now == (wait == 0) for at_now, *_, wait in seen)
    covered, covered_waiting = (sum(wait <= high for *_, high, wait in some) / len(some) for some in (seen, waited))
    return Worth(len(seen), right / len(seen), error_s / mean_s, covered, covered_waiting)
