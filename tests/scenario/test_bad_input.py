"""What people send who mean ill, or at the same moment: fields that are not theirs to set, names that could be taken
for others, a workspace that goes while jobs come, one name for many accounts; each is refused in words.
"""

import asyncio
import base64
import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from tests.fixtures.api_contract import signed_in
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.api.app import create_app
from trainmaster.api.openapi import contract
from trainmaster.core.cluster import Flavor, Pool, Workspace
from trainmaster.core.errors import Conflict, InvalidSpec, StorageFailed, TrainmasterError
from trainmaster.messages.said import verbatim
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.invitations import Comer

PASSWORD = "correct horse battery"
ANN = person("ann", "vision")
OPEN = {"/api/v1/jobs/preview", "/api/v1/jobs", "/api/v1/jobs/batch", "/api/v1/jobs/{ref}/clone"}
"""Take a whole document, of which the specification judges every field."""


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    await fake.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    return fake


# -- what nobody was told -------------------------------------------------------------------------------------------


def cursor(*told: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


HUGE = 2**70
"""More than a database takes."""


@pytest.mark.parametrize(
    ("address", "forged"),
    [
        ("audit?", cursor(1.0, HUGE)),
        ("audit?", cursor(1.0, -HUGE)),
        ("audit?", cursor(2**2000, 1)),
        ("jobs?", cursor("-submitted_at", 0, 1.0, HUGE, 1.0)),
        ("jobs?", cursor("-submitted_at", HUGE, 1.0, 1, 1.0)),
        ("jobs?", cursor("-submitted_at", 0, HUGE, 1, 1.0)),
        ("jobs?", cursor("-submitted_at", 0, 1.0, 1, 2**2000)),
        ("jobs?order=-run_s&", cursor("-run_s", 0, HUGE, 1, 1)),
        ("jobs?order=name&", cursor("name", 0, "a", HUGE, 1)),
        ("jobs?order=-metric:loss&", cursor("-metric:loss", 1, HUGE, 1, 1)),
    ],
)
async def test_a_cursor_that_nobody_was_told_is_refused(vision: Stage, address: str, forged: str) -> None:
    """Nor would it be if somebody had the key that seals it."""
    sealed = vision.platform.seals.text_mark(address.partition("?")[0], forged)
    async with signed_in(create_app(vision.platform), vision.platform) as http:
        for one in (forged, sealed):
            answer = await http.get(f"/api/v1/{address}cursor={one}")
            assert answer.status_code == 422, answer.text
            assert answer.json()["problems"][0]["path"].endswith("cursor")


# -- fields that nobody may set --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field",
    ["owner", "state", "price", "rates", "submitted_at", "id", "attempts_used", "verdict", "may", "version_id"],
)
async def test_a_job_file_sets_nothing_that_is_not_its_own(vision: Stage, field: str) -> None:
    """Mass assignment: the field is named, nothing is stored."""
    document = {**fake_spec("a", "true"), field: "admin"}
    async with signed_in(create_app(vision.platform), vision.platform) as http:
        for path, body in (("/jobs", {"spec": document}), ("/jobs/batch", {"items": [{"spec": document}]})):
            answer = await http.post(f"/api/v1{path}", json=body)
            assert answer.status_code == 422, answer.text
            assert any(one["path"].rpartition(".")[2] == field for one in answer.json()["problems"]), answer.text
        beside = await http.post("/api/v1/jobs", json={"spec": fake_spec("a", "true"), field: "admin"})
        assert beside.status_code == 422
        assert (await http.get("/api/v1/jobs")).json()["items"] == []


async def test_no_change_sets_a_field_that_it_does_not_name(vision: Stage) -> None:
    app = create_app(vision.platform)
    async with signed_in(app, vision.platform) as http:
        job = (await http.post("/api/v1/jobs", json={"spec": fake_spec("a", "sleep infinity")})).json()["id"]
        for field in ("owner", "state", "price", "workspace", "share"):
            answer = await http.patch(f"/api/v1/jobs/{job}", json={"priority": "normal", field: "admin"})
            assert (answer.status_code, field in answer.text) == (422, True), answer.text
        assert (await http.get(f"/api/v1/jobs/{job}")).json()["owner"] == "admin"


async def test_every_body_of_the_api_says_that_it_takes_nothing_unknown(vision: Stage) -> None:
    """Structural: what a route adds tomorrow is judged as well."""
    found = contract(create_app(vision.platform).app)
    lenient = []
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                if kind == "application/json" and path not in OPEN and not _closed(content["schema"], found):
                    lenient.append(f"{method} {path}")
    assert lenient == []


def _closed(schema: dict[str, Any], found: dict[str, Any]) -> bool:
    if "$ref" in schema:
        schema = found["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    several = schema.get("anyOf", schema.get("oneOf", schema.get("allOf")))
    if several:
        return all(one.get("type") == "null" or _closed(one, found) for one in several)
    return schema.get("additionalProperties") is False


@pytest.mark.parametrize("price", [str(2**63), 2**63, -1, "-0.000001", "1e3", 0.5, "NaN"])
async def test_no_price_but_one_that_can_be_charged(vision: Stage, price: Any) -> None:
    async with signed_in(create_app(vision.platform), vision.platform) as http:
        answer = await http.put("/api/v1/workspaces/vision/flavors/f", json={"price": price})
        assert answer.status_code == 422, answer.text
        assert [one["path"] for one in answer.json()["problems"]] == ["price"]
        for good in (0, "0", "1000000"):
            kept = await http.put("/api/v1/workspaces/vision/flavors/f", json={"price": good})
            assert float(kept.json()["price"]) == float(good)


# -- names -----------------------------------------------------------------------------------------------------------


async def test_names_that_differ_only_in_case_are_refused_for_what_administrators_make(vision: Stage) -> None:
    administer = vision.platform.administer
    await administer.put_flavor(Flavor("small", "vision"), ADMIN)
    await administer.put_pool(Pool("lab"), ADMIN)
    for act, other in (
        (administer.put_workspace(Workspace("Vision"), ADMIN), "vision"),
        (administer.put_workspace(Workspace("DEFAULT"), ADMIN), "default"),
        (administer.put_flavor(Flavor("SMALL", "vision"), ADMIN), "small"),
        (administer.put_pool(Pool("Lab"), ADMIN), "lab"),
    ):
        with pytest.raises(InvalidSpec) as refused:
            await act
        assert [(one.path, one.code) for one in refused.value.problems] == [("name", "name_like_another")]
        assert other in refused.value.problems[0].rule
    await administer.put_workspace(Workspace("vision", weight=2.0), ADMIN)  # itself is no other
    await administer.put_flavor(Flavor("SMALL", "default"), ADMIN)  # of another workspace


@pytest.mark.parametrize("name", ["ZOE", "zoë", "zoe\u0301", "ｚｏｅ", "zo\u200be", "zοe", "zoe ", "zоe"])
async def test_a_name_that_looks_like_anothers_is_no_name(vision: Stage, name: str) -> None:
    """Upper case, accents in two spellings, wide letters, nothing between letters, Greek and Cyrillic ones."""
    secret = await _invited(vision)
    for act in (
        vision.platform.accounts.add(NewPerson(name), ADMIN),
        vision.platform.inviting.accept(secret, Comer(name, PASSWORD, "10.0.0.1", "")),
    ):
        with pytest.raises(InvalidSpec) as refused:
            await act
        assert [one.path for one in refused.value.problems] == ["name"]


async def test_of_many_who_make_the_same_account_at_once_one_does(vision: Stage) -> None:
    made = await _at_once(lambda: vision.platform.accounts.add(NewPerson("zoe"), ADMIN), 10)
    assert made == {"": 1, "user_name_taken": 9}


async def test_of_many_with_one_invitation_each_and_one_name_one_comes_in(vision: Stage) -> None:
    """The others may try again with another name: theirs is not used up."""
    secrets = [await _invited(vision) for _ in range(5)]
    left = iter(secrets)
    accept = vision.platform.inviting.accept
    made = await _at_once(lambda: accept(next(left), Comer("zoe", PASSWORD, "10.0.0.1", "")), len(secrets))
    assert made == {"": 1, "user_name_taken": 4}
    states = Counter(one.state for one in (await vision.platform.inviting.of("vision", ADMIN)).items)
    assert states == {"used": 1, "open": 4}


async def test_of_many_with_the_same_invitation_one_comes_in(vision: Stage) -> None:
    secret = await _invited(vision)
    names = iter(f"zoe{n}" for n in range(8))
    accept = vision.platform.inviting.accept
    made = await _at_once(lambda: accept(secret, Comer(next(names), PASSWORD, "10.0.0.1", "")), 8)
    assert made == {"": 1, "invitation_over": 7}
    members = (await vision.platform.members.of("vision", ADMIN)).items
    accounts = (await vision.platform.accounts.all(ADMIN)).items
    assert sum(one.user.startswith("zoe") for one in members) == 1
    assert sum(one.name.startswith("zoe") for one in accounts) == 1


async def _invited(stage: Stage) -> str:
    made = await stage.platform.inviting.make("vision", "member", 3600.0, ADMIN)
    return str(made.link.partition("#")[2])


async def _at_once(act: Callable[[], Any], count: int) -> Counter[str]:
    """Do it so often at the same time; return how often it was refused with which code, "" where it was not."""
    done = await asyncio.gather(*(act() for _ in range(count)), return_exceptions=True)
    assert all(isinstance(one, TrainmasterError) for one in done if isinstance(one, BaseException)), done
    return Counter(one.code if isinstance(one, TrainmasterError) else "" for one in done)


# -- a workspace that goes -------------------------------------------------------------------------------------------


async def _submitted(stage: Stage, who: Principal = ADMIN) -> str:
    document = {**fake_spec("a", "sleep infinity"), "workspace": "vision"}
    return (await stage.platform.submit({"spec": document}, who, None))[0].id


async def test_a_workspace_with_jobs_that_have_not_ended_stays(vision: Stage) -> None:
    """It says how many there are; what ended in it is kept and shown when it is gone, to whose it is."""
    job = await _submitted(vision, ANN)
    await vision.running(job)
    with pytest.raises(Conflict) as refused:
        await vision.platform.administer.drop_workspace("vision", ADMIN)
    assert "1 job" in str(refused.value)
    assert (await vision.platform.job(job, ANN)).state == "running"
    await vision.platform.stop(job, ANN)
    await vision.ended(job)
    await vision.platform.administer.drop_workspace("vision", ADMIN)
    assert (await vision.platform.job(job, Principal("ann"))).workspace == "vision"
    with pytest.raises(InvalidSpec) as unknown:
        await _submitted(vision, ANN)
    assert "workspace" in [one.path for one in unknown.value.problems]


async def test_no_job_comes_into_a_workspace_while_it_goes(vision: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look whether it is used and the end of the change."""
    pools = vision.platform.context.pools
    stored: Future[None] = Future()
    really = pools._rows.drop
    monkeypatch.setattr(pools._rows, "drop", lambda *given: stored)
    going = asyncio.create_task(vision.platform.administer.drop_workspace("vision", ADMIN))
    while "vision" in pools.workspaces:
        await asyncio.sleep(0)
    with pytest.raises(InvalidSpec) as refused:
        await _submitted(vision)
    assert [(one.path, one.code) for one in refused.value.problems] == [("workspace", "unknown_workspace")]
    stored.set_exception(StorageFailed(verbatim("the disk is full")))
    with pytest.raises(StorageFailed):
        await going
    job = await _submitted(vision)  # it is as it was
    with pytest.raises(Conflict):
        await vision.platform.administer.drop_workspace("vision", ADMIN)
    await vision.platform.stop(job, ADMIN)
    await vision.ended(job)
    monkeypatch.setattr(pools._rows, "drop", really)
    await vision.platform.administer.drop_workspace("vision", ADMIN)
    assert "vision" not in pools.workspaces


async def test_of_jobs_and_the_end_of_their_workspace_at_once_one_wins(vision: Stage) -> None:
    """Raced for real: it is gone and empty, or it has jobs and is there."""
    administer = vision.platform.administer
    for _ in range(10):
        submits = [_submitted(vision) for _ in range(5)]
        done = await asyncio.gather(
            *submits[:2], administer.drop_workspace("vision", ADMIN), *submits[2:], return_exceptions=True
        )
        assert not [one for one in done if isinstance(one, BaseException) and not isinstance(one, TrainmasterError)]
        live = [job for job in vision.platform.context.master.live.values() if job.workspace == "vision"]
        there = "vision" in vision.platform.context.pools.workspaces
        assert there or not live
        for job in live:
            await vision.platform.stop(job.id, ADMIN)
            await vision.ended(job.id)
        if not there:
            await administer.put_workspace(Workspace("vision"), ADMIN)
