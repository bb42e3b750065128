"""A job is shared no further than what it uses (R224)."""

import pytest

from trainmaster.access.clamping import LEVELS, UsedShare, narrower
from trainmaster.core.states import JobShare

NONE, READ, READ_WRITE = JobShare.NONE, JobShare.READ, JobShare.READ_WRITE

MAY = {
    # how something that a job uses is shared: may the job be shared none, read, read-write
    NONE: (True, False, False),
    READ: (True, True, False),
    READ_WRITE: (True, True, True),
}


def test_the_levels_are_all_there_are() -> None:
    assert list(MAY) == list(LEVELS) == list(JobShare)


@pytest.mark.parametrize("used", MAY)
@pytest.mark.parametrize(("column", "share"), list(enumerate(JobShare)))
def test_a_job_is_shared_no_further_than_what_it_uses(used: JobShare, column: int, share: JobShare) -> None:
    open_, one = UsedShare("image", "env", READ_WRITE), UsedShare("dataset", "flowers", used)
    assert (narrower(share, [open_, one]) == []) is MAY[used][column]
    assert all(found is one for found in narrower(share, [open_, one]))


def test_who_uses_nothing_is_shared_as_it_likes() -> None:
    assert narrower(READ_WRITE, []) == []
