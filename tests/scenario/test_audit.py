"""What administrators decide and what people do to people and jobs is told to administrators, in both languages, and to
nobody else.
"""

from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal, Via
from trainmaster.core.cluster import Flavor, Pool, VirtualCluster, Workspace
from trainmaster.core.errors import Forbidden, InvalidSpec
from trainmaster.messages import render
from trainmaster.service.use_cases.people.credentials import WantedToken

ANN = person("ann")


async def codes(stage: Stage, **query: Any) -> list[str]:
    page = await stage.platform.auditing.page(ADMIN, limit=500, **query)
    for item in page.items:
        assert item.text.zh
        assert item.text.en
        assert render.has_words(item.code), item
    return [item.kind for item in page.items][::-1]


async def test_every_decision_of_an_administrator_is_told(fake: Stage) -> None:
    stage, administer = fake, fake.platform.administer
    await administer.put_workspace(Workspace("vision", 2.0), ADMIN)
    await administer.put_pool(Pool("lab", "dedicated", ("vision",)), ADMIN)
    await administer.put_pool(Pool("lab"), ADMIN)
    await administer.put_virtual_cluster(VirtualCluster("vc", "lab"), ADMIN)
    await administer.put_flavor(Flavor("one", "vision"), ADMIN)
    await administer.drop_flavor("vision", "one", ADMIN)
    await administer.drop_virtual_cluster("vc", ADMIN)
    await administer.assign("n1", "lab", ADMIN)
    await administer.cordon("n1", "new fan", ADMIN)
    await administer.uncordon("n1", ADMIN)
    await administer.drain("n1", "", "none", ADMIN)
    await administer.uncordon("n1", ADMIN)
    await administer.assign("n1", "default", ADMIN)
    await administer.drop_pool("lab", ADMIN)
    await administer.drop_workspace("vision", ADMIN)
    await stage.platform.queueing.set_policy({"age_cap_s": 60}, ADMIN)
    assert await codes(stage, by="admin") == [
        "workspace_made",
        "pool_made",
        "pool_changed",
        "virtual_cluster_made",
        "flavor_made",
        "flavor_removed",
        "virtual_cluster_removed",
        "node_moved",
        "node_cordoned_because",
        "node_back",
        "node_emptied",
        "node_back",
        "node_moved",
        "pool_removed",
        "workspace_removed",
        "policy_changed",
    ]
    assert await codes(stage, subject="pool:lab") == ["pool_made", "pool_changed", "pool_removed"]
    assert await codes(stage, subject="flavor:vision/one") == ["flavor_made", "flavor_removed"]
    [note] = (await stage.platform.auditing.page(ADMIN, kind="node_cordoned_because")).items
    assert note.text.zh == "停止向节点 n1 调度任务：new fan"
    assert note.args == {"name": "n1", "note": "new fan"}


async def test_what_people_do_to_people_is_told(fake: Stage) -> None:
    stage, people = fake, fake.platform.people
    password = people.one_time_password
    assert password is not None
    await people.sign_in("admin", password, "10.0.0.9")
    local = Principal("admin", "admin", Via.LOCAL)
    credentials = stage.platform.credentials
    token = await credentials.create(local, WantedToken("ci", 86400.0))
    await credentials.delete(local, token.id)
    await people.change_password(local, None, "correct horse battery")
    again = await people.sign_in("admin", "correct horse battery", "10.0.0.9")
    await people.change_password(again.principal, "correct horse battery", "staple and paper clip")
    last = await people.sign_in("admin", "staple and paper clip", "10.0.0.9")
    await people.sign_out(last.principal, "no such mark")
    assert await codes(stage, subject="person:admin") == [
        "user_made",
        "signed_in",
        "token_made_for",
        "token_deleted",
        "password_reset",
        "signed_in",
        "password_changed",
        "signed_in",
    ]
    found = (await stage.platform.auditing.page(ADMIN, subject="person")).items
    assert "10.0.0.9" in found[0].text.en
    assert token.token not in str(found)
    assert {item.by for item in found} == {"system", "admin"}


async def test_what_people_do_to_jobs_is_told_also_when_these_are_gone(fake: Stage) -> None:
    stage, platform = fake, fake.platform
    view, _ = await platform.submit(
        {"spec": {"name": "j", "roles": [{"name": "main", "command": "sleep infinity"}]}}, ANN, None
    )
    await stage.running(view.id)
    await platform.change(view.id, ANN, duration_s=3600.0, priority="urgent")
    await platform.stop(view.id, ADMIN, "too long")
    await stage.ended(view.id)
    subject = f"job:{view.id}"
    did = ["priority_changed", "duration_changed", "stop_requested"]
    assert sorted(await codes(stage, subject=subject)) == sorted(did)
    before = (await platform.auditing.page(ADMIN, subject=subject)).items
    assert before[0].text.en == "Asked the job to stop: too long"
    assert {item.by for item in before} == {"ann", "admin"}
    await platform.delete(view.id, ANN)
    after = (await platform.auditing.page(ADMIN, subject=subject)).items
    assert after[0].text.en == "Deleted the job j of ann"
    assert after[0].by == "ann"
    assert [(item.at, item.by, item.text) for item in after[1:]] == [(item.at, item.by, item.text) for item in before]


async def test_only_administrators_may_ask(fake: Stage) -> None:
    with pytest.raises(Forbidden):
        await fake.platform.auditing.page(ANN)
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.auditing.page(ADMIN, subject="pools:x")
    assert "virtual_cluster" in refused.value.problems[0].rule
