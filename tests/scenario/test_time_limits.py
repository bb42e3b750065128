"""A workspace may ask every job for a time limit of its own (R56): at submit, in the preview, at a change of a job."""

import asyncio
from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import InvalidSpec
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.listing import Chosen

ANN = person("ann", "vision")
ASKED = ("duration", "duration_asked")


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    """A cluster with two workspaces, of which one asks for time limits."""
    await fake.platform.administer.put_workspace(Workspace("vision", require_duration=True), ADMIN)
    return fake


def document(**fields: Any) -> dict[str, Any]:
    return {**fake_spec("limited", "sleep infinity"), "workspace": "vision", **fields}


async def submitted(stage: Stage, who: Principal = ANN, **fields: Any) -> str:
    return (await stage.platform.submit({"spec": document(**fields)}, who, None))[0].id


async def refused(stage: Stage, **fields: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidSpec) as found:
        await submitted(stage, **fields)
    return [(one.path, one.code) for one in found.value.problems]


async def test_a_job_without_a_time_limit_is_refused(vision: Stage) -> None:
    """R56: whoever submits it, and also where it is only not told; elsewhere it is accepted as before."""
    with pytest.raises(InvalidSpec) as found:
        await submitted(vision, ADMIN)
    [problem] = found.value.problems
    assert (problem.path, problem.code) == ASKED
    assert "vision" in problem.rule
    assert "4h" in problem.remedy
    assert await refused(vision, duration=None) == [ASKED]
    assert await refused(vision, priority="very_urgent") == [("priority", "urgent_right"), ASKED]
    shown = await vision.platform.preview({"spec": document()}, ANN, "zh")
    assert (shown.ok, [(one.path, one.code) for one in shown.problems]) == (False, [ASKED])
    assert "运行时限" in shown.problems[0].rule
    job = await submitted(vision, duration="2h")
    assert (await vision.platform.preview({"spec": document(duration="2h")}, ANN)).ok
    assert (await vision.platform.job(job, ANN)).duration_s == 7200
    free, _ = await vision.platform.submit({"spec": fake_spec("free", "sleep infinity")}, ADMIN, None)
    assert (await vision.platform.job(free.id, ADMIN)).duration_s is None


async def test_it_cannot_be_taken_away_later(vision: Stage) -> None:
    """R56, R192: another limit is as good; a clone of what was submitted before the rule has to name one, too."""
    await vision.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    old = await submitted(vision)
    await vision.platform.administer.put_workspace(Workspace("vision", require_duration=True), ADMIN)
    with pytest.raises(InvalidSpec):
        await vision.platform.clone(old, ANN, {"name": "again"})
    again = await vision.platform.clone(old, ANN, {"name": "again", "duration": "1h"})
    for job in (again.id, old):
        with pytest.raises(InvalidSpec) as found:
            await vision.platform.change(job, ANN, duration_s=None)
        assert [(one.path, one.code) for one in found.value.problems] == [("duration_s", "duration_asked")]
        assert (await vision.platform.change(job, ANN, duration_s=60.0)).duration_s == 60
    done = await vision.platform.many("change", Chosen((again.id, old)), ANN, duration_s=None)
    assert [one.code for one in done.refused] == ["change_not_valid"] * 2
    await asyncio.gather(*(vision.platform.stop(job, ANN) for job in (again.id, old)))


async def test_who_asks_for_it_is_told_in_the_audit(vision: Stage) -> None:
    """R56: what it was before and is now; where it did not change, nothing is said of it."""
    await vision.platform.administer.put_workspace(Workspace("vision", 2.0, require_duration=True), ADMIN)
    await vision.platform.administer.put_workspace(Workspace("vision", 2.0), ADMIN)
    found = (await vision.platform.auditing.page(ADMIN, AuditFilters("workspace:vision"))).items
    assert [[(one.field, one.before, one.after) for one in item.changes] for item in found][:2] == [
        [("require_duration", True, False)],
        [("weight", 1, 2)],
    ]
    assert "time limit required: yes → no" in found[0].text.en
