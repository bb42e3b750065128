"""Volumes. See the package."""

from typing import Literal

from trainmaster.answers.base import Answer
from trainmaster.core.states import JobShare

VolumeRight = Literal["write", "share"]
"""What its reader may do with a volume beside reading it and giving it to jobs that read it."""


class VolumeView(Answer, frozen=True):
    """A volume as lists show it. `share`: with the other members of its workspace; `size_bytes`, `files`: what it takes
    on the disk, as it was measured last; `changed_at`: when somebody changed it through the platform; `may`: what its
    reader may do with it.
    """

    id: str
    name: str
    description: str
    workspace: str
    owner: str
    share: JobShare
    size_bytes: int
    files: int
    created_at: float
    changed_at: float
    may: list[VolumeRight]


class VolumePage(Answer, frozen=True):
    """A page of volumes, what was changed last first; `total`: on all pages."""

    items: list[VolumeView]
    next_cursor: str | None
    total: int


class VolumeUse(Answer, frozen=True):
    """A job that has not ended and mounts a volume; `writes`: it may write to it."""

    id: str
    name: str
    state: str
    owner: str
    writes: bool


class VolumeDetail(VolumeView, frozen=True):
    """A volume with the jobs that mount it: those that its reader may see, and how many more there are. `path`: where
    it lies on the server, for who may know.
    """

    jobs: list[VolumeUse]
    more_jobs: int
    path: str | None
