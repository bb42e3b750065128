"""Fills the ledger of a home that no server uses with finished jobs, through the reducer and the ledger like any other.

Every job has the nine events of a life that went well, so rows and sizes are those of real ones.
"""

import os
import time
from collections.abc import Callable
from typing import Any, Final

from trainmaster.core.config import LimitsConfig
from trainmaster.core.events import Event, Kind
from trainmaster.core.ids import job_id
from trainmaster.core.records import Assignment, Job, to_json
from trainmaster.core.reduce import reduce
from trainmaster.service.folders.homes import prepare_home
from trainmaster.service.submitting.submit import read_body
from trainmaster.spec.lower import lower
from trainmaster.store.database import Database
from trainmaster.store.finding import index
from trainmaster.store.jobs.ledger import Batch, Change, Ledger

_SLICE: Final = 500
_LIFE: Final[tuple[tuple[Kind, dict[str, Any]], ...]] = (
    (Kind.PLACED, {"placement": to_json((Assignment(0, 0, "node", "127.0.0.1"),))}),
    (Kind.CHECKED, {}),
    (Kind.STAGED, {}),
    (Kind.STARTED, {}),
    (Kind.TASK_RUNNING, {"role": 0, "index": 0}),
    (Kind.TASK_EXITED, {"role": 0, "index": 0, "exit_code": 0, "signal": None}),
    (Kind.SAVED, {"model": None}),
    (Kind.REAPED, {}),
)


def fill(home: str, body: dict[str, Any], count: int, vary: Callable[[int, Job], Job] = lambda _, job: job) -> None:
    """Store `count` succeeded jobs that were submitted as `body`; `vary` makes of each, by number, what it is.
    They are in the index by which jobs are found.
    """
    candidate = read_body(body, 1)
    layout = prepare_home(home)
    database = Database.open(f"sqlite:///{layout.database}", backup_dir=layout.path("backups"))
    ledger = Ledger(database)
    seq, began = 0, time.time() - count
    for first in range(0, count, _SLICE):
        batch = Batch(specs={candidate.digest: candidate.document})
        for number in range(first, min(first + _SLICE, count)):
            job = lower(
                candidate.spec,
                job_id=job_id(os.urandom),
                owner="admin",
                now=began + number,
                seq=number + 1,
                limits=LimitsConfig(),
                digest=candidate.digest,
            )
            change, seq = _life(vary(number, job), seq)
            batch.changes.append(change)
        ledger.commit(batch).result()
    while database.write(lambda connection: index.fill(connection, _SLICE)).result():
        pass
    ledger.close()
    database.close()


def _life(job: Job, seq: int) -> tuple[Change, int]:
    steps = [Event(job.id, Kind.SUBMITTED, job.submitted_at, job.owner, data={"job": to_json(job)}, seq=seq + 1)]
    for number, (kind, data) in enumerate(_LIFE, 2):
        steps.append(Event(job.id, kind, job.submitted_at + number * 0.01, "system", 1, data, seq + number))
    after: Job | None = None
    for event in steps:
        after, _ = reduce(after, event)
    assert after is not None
    return Change(tuple(steps), after), seq + len(steps)
