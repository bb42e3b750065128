"""Answers as a server would give them, of which a test says only what it is about."""

from typing import Any

from msgspec.structs import asdict, replace

from trainmaster import answers
from trainmaster.core.states import JobShare, JobState, Shown

VIEW = answers.JobView(
    id="t1",
    name="a",
    slug=None,
    description="",
    state=Shown.RUNNING,
    queue_state=JobState.ACTIVE,
    pai_state="RUNNING",
    owner="ann",
    workspace="default",
    pool="default",
    virtual_cluster=None,
    priority="normal",
    framework="command",
    dialect="native",
    family="t1",
    family_version=1,
    submitted_at=0.0,
    queued_at=0.0,
    started_at=1.0,
    ended_at=None,
    run_s=1.0,
    wait_s=1.0,
    duration_s=None,
    expires_at=None,
    attempts=1,
    retries=answers.Retries(used=0, limit=0),
    tasks=answers.TaskCounts(total=1, waiting=0, running=1, succeeded=0, failed=0, lost=0),
    resources=answers.TotalsView(cpu=1.0, memory_mib=64, gpu=0.0, gpu_type=None),
    nodes=["node-1"],
    reason=None,
    forecast=None,
    verdict=None,
    model=None,
    progress=None,
    metrics={},
    labels={},
    tags=[],
    note="",
    favorite=False,
    version=1,
    seq="here",
    share=JobShare.NONE,
    may=[],
    sweep=None,
)


def view(**fields: Any) -> answers.JobView:
    """A job as lists show it."""
    return replace(VIEW, **fields)


def detail(**fields: Any) -> answers.JobDetail:
    """Everything about a job."""
    more = {"roles": [], "attempt_list": [], "task_list": [], "warnings": [], "uploads": [], "spec": {}, "extras": None}
    return answers.JobDetail(**{**asdict(VIEW), **more, **fields})
