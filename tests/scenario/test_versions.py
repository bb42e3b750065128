"""What a person makes of their own job is its next version (R159, R160)."""

import asyncio

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.core.errors import InvalidSpec, NotFound
from trainmaster.core.states import JobShare

ANN, BOB = person("ann"), person("bob")


async def make(stage: Stage, who: Principal, name: str = "digits", **beside: object) -> str:
    view, _ = await stage.platform.submit({"spec": fake_spec(name), **beside}, who, None)
    return view.id


async def clone(stage: Stage, job: str, who: Principal) -> str:
    return (await stage.platform.clone(job, who, {})).id


async def versions(stage: Stage, job: str, who: Principal) -> list[tuple[str, int]]:
    return [(one.id, one.family_version) for one in (await stage.platform.versions(job, who)).items]


async def test_clones_are_versions_of_the_first_job(fake: Stage) -> None:
    """R159, R160: of whichever version it is made, the next one has the next number; all of them tell of all."""
    first = await make(fake, ANN)
    assert await versions(fake, first, ANN) == [(first, 1)]
    second = await clone(fake, first, ANN)
    third = await clone(fake, first, ANN)
    fourth = await make(fake, ANN, "renamed", version_of=second)
    every = [(fourth, 4), (third, 3), (second, 2), (first, 1)]
    for job in (first, second, third, fourth):
        assert await versions(fake, job, ANN) == every
    assert {one.family for one in (await fake.platform.versions(fourth, ANN)).items} == {first}


async def test_versions_made_at_once_have_numbers_of_their_own(fake: Stage) -> None:
    first = await make(fake, ANN)
    await asyncio.gather(*(clone(fake, first, ANN) for _ in range(12)))
    assert [number for _, number in await versions(fake, first, ANN)] == [*range(13, 0, -1)]


async def test_versions_outlive_the_first_and_a_restart(fake: Stage) -> None:
    first = await make(fake, ANN)
    second = await clone(fake, first, ANN)
    await fake.platform.stop(first, ANN)
    await fake.ended(first)
    await fake.platform.delete(first, ANN)
    await fake.restart()
    third = await clone(fake, second, ANN)
    assert await versions(fake, third, ANN) == [(third, 3), (second, 2)]


async def test_a_clone_of_anothers_job_begins_its_own_versions(fake: Stage) -> None:
    """So that whoever shares a job does not find the jobs of others among its versions, nor they theirs."""
    first = await make(fake, ANN)
    hidden = await clone(fake, first, ANN)
    with pytest.raises(NotFound):
        await clone(fake, first, BOB)
    with pytest.raises(InvalidSpec) as refused:
        await make(fake, BOB, version_of=first)
    assert [(one.path, one.code) for one in refused.value.problems] == [("version_of", "no_job")]
    await fake.platform.share(first, ANN, JobShare.READ)
    theirs = await clone(fake, first, BOB)
    assert await versions(fake, theirs, BOB) == [(theirs, 1)]
    assert await versions(fake, first, BOB) == [(first, 1)]
    assert await versions(fake, first, ANN) == [(hidden, 2), (first, 1)]
    assert await versions(fake, first, ADMIN) == [(hidden, 2), (first, 1)]


@pytest.mark.parametrize("ref", ["t" + "0" * 32, 7, ["a"], ""])
async def test_a_version_of_nothing_is_refused_and_not_submitted(fake: Stage, ref: object) -> None:
    with pytest.raises(InvalidSpec) as refused:
        await make(fake, ANN, version_of=ref)
    assert [one.path for one in refused.value.problems] == ["version_of"]
    assert fake.job_ids() == []
