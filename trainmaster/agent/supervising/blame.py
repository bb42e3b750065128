"""Whose trouble is it that a task could not write? Its own where it wrote all that there is room for, or has a small
file system to itself; the platform's, where the disk of jobs is full of what others wrote. Looks only.
"""

from __future__ import annotations

import os
from typing import Final

from trainmaster.agent.measuring import samples
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import AGAIN, Use, room_of

SMALL: Final = 4
"""Who holds less than this part of what it may is not who fills the disk."""
MOST: Final = 40_000
"""Entries counted; a folder that holds more is not small."""


def held_where_others_filled(task: LiveTask, layout: Layout) -> int | None:
    """Return the MiB that the job of `task` holds, where the disk of jobs is full and this is little. None: it is the
    job's own trouble. O(MOST).
    """
    settings = task.attempt.settings
    try:
        room = room_of(os.statvfs(layout.bulk))
    except OSError:
        return None
    if not room.short_of(settings.reserve_mib, AGAIN):
        return None
    count = samples.DiskUse(layout.job(task.attempt.gang.job))
    if not count.step(MOST):
        return None
    budget = room.budget(settings.disk_mib, settings.inodes, settings.disk_share)
    may = Use(budget.bytes or room.total.bytes, budget.files or room.total.files)
    small = count.bytes * SMALL <= may.bytes and (count.files * SMALL <= may.files or not may.files)
    return count.bytes >> 20 if small else None
