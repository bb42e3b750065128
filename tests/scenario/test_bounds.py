"""Requests that are small and ask for much, on the whole platform: each is answered, in a size and with words (R41, B7,
B8).
"""

import json
from typing import Any

import msgspec
import pytest

from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_submit import fake_spec
from trainmaster.core.errors import InvalidSpec, TrainmasterError
from trainmaster.service.language import document_of

MIB = 2**20


def wide(roles: int, replicas: int, **fields: Any) -> dict[str, Any]:
    asked = {"cpu": 0.01, "memory": 16}
    return {
        "name": "wide",
        "roles": [
            {"name": f"r{at}", "command": "true", "replicas": replicas, "resources": asked, **fields}
            for at in range(roles)
        ],
    }


async def test_a_preview_of_4096_tasks_is_no_larger_than_an_answer_may_be(fake: Stage) -> None:
    found = await fake.platform.preview({"spec": wide(64, 64)}, ADMIN)
    assert len(json.dumps(found, default=str)) < 8 * MIB
    assert len(found.roles) == 64
    assert all(role.command == "true" and role.tasks and role.more_tasks for role in found.roles)
    found = await fake.platform.preview({"spec": wide(64, 64, ports=[{"label": f"p{at}"} for at in range(64)])}, ADMIN)
    assert [one.code for one in found.problems] == ["too_many_ports"]


@pytest.mark.parametrize("many", [1000, 20_000, 100_000])
async def test_unknown_keys_are_refused_in_few_words(fake: Stage, many: int) -> None:
    document = {**fake_spec("a"), **{f"unknown{at}": at for at in range(many)}}
    found = await fake.platform.preview({"spec": document}, ADMIN)
    assert not found.ok
    assert 1 <= len(found.problems) <= 200
    with pytest.raises(InvalidSpec) as refused:
        await fake.submit(document)
    assert len(msgspec.json.encode(document_of("en", refused.value))) < MIB
    assert fake.job_ids() == []


async def test_a_batch_of_nothing_but_mistakes_is_not_read_to_its_end(fake: Stage) -> None:
    bad = [{"spec": {"name": f"no name {at}!", "x": at}} for at in range(10_000)]
    with pytest.raises(InvalidSpec, match="200 problems are listed, and there are more") as refused:
        await fake.platform.submit_batch(bad, ADMIN, None)
    assert len(refused.value.problems) == 200
    assert refused.value.problems[0].path.startswith("items.0.")


async def test_changes_of_a_clone_are_bounded(fake: Stage) -> None:
    job = await fake.submit(fake_spec("a"))
    with pytest.raises(TrainmasterError) as refused:
        await fake.platform.clone(job, ADMIN, {f"labels.l{at}": "[a, b]" for at in range(50_000)})
    assert [one.code for one in refused.value.problems] == ["too_many"]
