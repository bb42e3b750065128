"""What administrators decide and what people do to people and jobs is told to administrators, in both languages, and to
nobody else.
"""

from dataclasses import replace
from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal, Via
from trainmaster.core.cluster import Flavor, Pool, VirtualCluster, Workspace
from trainmaster.core.errors import InvalidSpec
from trainmaster.messages import render
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.people.credentials import WantedToken

ANN = person("ann")
JOB: dict[str, Any] = {"name": "j", "roles": [{"name": "main", "command": "sleep infinity"}]}
ALL_CARDS: dict[str, Any] = {"name": "k", "roles": [{**JOB["roles"][0], "replicas": 2, "resources": {"gpu": 2}}]}


async def codes(stage: Stage, **query: Any) -> list[str]:
    page = await stage.platform.auditing.page(ADMIN, AuditFilters(**query), 500)
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
    [note] = (await stage.platform.auditing.page(ADMIN, AuditFilters(kind="node_cordoned_because"))).items
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
    found = (await stage.platform.auditing.page(ADMIN, AuditFilters(subject="person"))).items
    assert "10.0.0.9" in found[0].text.en
    assert token.token not in str(found)
    assert {item.by for item in found} == {"system", "admin"}


async def test_what_people_do_to_jobs_is_told_also_when_these_are_gone(fake: Stage) -> None:
    stage, platform = fake, fake.platform
    view, _ = await platform.submit({"spec": JOB}, ANN, None)
    await stage.running(view.id)
    await platform.change(view.id, ANN, duration_s=3600.0, priority="urgent")
    await platform.stop(view.id, ADMIN, "too long")
    await stage.ended(view.id)
    subject = f"job:{view.id}"
    did = ["submitted", "priority_changed", "duration_changed", "stop_requested"]
    assert sorted(await codes(stage, subject=subject)) == sorted(did)
    before = (await platform.auditing.page(ADMIN, AuditFilters(subject=subject))).items
    assert before[0].text.en == "Asked the job to stop: too long"
    assert {item.by for item in before} == {"ann", "admin"}
    await platform.delete(view.id, ANN)
    after = (await platform.auditing.page(ADMIN, AuditFilters(subject=subject))).items
    assert after[0].text.en == "Deleted the job j of ann"
    assert after[0].by == "ann"
    assert [(item.at, item.by, item.text) for item in after[1:]] == [(item.at, item.by, item.text) for item in before]


async def test_a_workspaces_admins_read_what_lies_in_it_and_its_people_what_is_theirs(fake: Stage) -> None:
    """Who stopped my job, and who changed this quota: each answered for whom it concerns, and nobody else."""
    stage, platform = fake, fake.platform
    cleo, dora = person("cleo", "vision", role="admin"), person("dora", "vision")
    await platform.administer.put_workspace(Workspace("vision", 2.0), ADMIN)
    await platform.administer.put_workspace(Workspace("speech"), ADMIN)
    await platform.administer.put_workspace(Workspace("vision", 3.0), ADMIN)
    mine, _ = await platform.submit({"spec": {**JOB, "workspace": "vision"}}, dora, None)
    other, _ = await platform.submit({"spec": JOB}, ANN, None)
    far = replace(cleo, via=Via.SESSION, address="192.0.2.8")
    await platform.stop(mine.id, far, "the card is broken")
    await stage.ended(mine.id)
    page = await platform.auditing.page(cleo, AuditFilters(), 500)
    assert {item.subject.workspace for item in page.items} == {"vision"}
    [quota] = (await platform.auditing.page(cleo, AuditFilters("workspace:vision", kind="workspace_changed"))).items
    assert (quota.by, [(one.field, one.before, one.after) for one in quota.changes]) == ("admin", [("weight", 2, 3)])
    theirs = (await platform.auditing.page(dora, AuditFilters())).items
    assert [(item.kind, item.by, item.actor.address) for item in theirs] == [
        ("stop_requested", "cleo", None),
        ("submitted", "dora", None),
    ]
    assert theirs[0].text.en == "Asked the job to stop: the card is broken"
    assert (theirs[0].subject.title, theirs[0].subject.workspace) == ("j", "vision")
    [told] = (await platform.auditing.page(cleo, AuditFilters(f"job:{mine.id}", by="cleo"))).items
    assert told.actor.address == "192.0.2.8"
    for subject in (f"job:{other.id}", "workspace:speech", "person", "pool"):
        assert (await platform.auditing.page(cleo, AuditFilters(subject))).items == []
    exported = [one for piece in platform.auditing.export(dora, AuditFilters()) for one in piece]
    assert exported == theirs


async def test_what_made_a_job_give_way_is_told_without_saying_whose_it_is(fake: Stage) -> None:
    stage, platform = fake, fake.platform
    await platform.queueing.set_policy({"preemption": "class", "preempt_min_run_s": 0, "restart_cost_s": 0}, ADMIN)
    first, _ = await platform.submit({"spec": {**ALL_CARDS, "preemptible": True}}, ANN, None)
    await stage.running(first.id)
    urgent, _ = await platform.submit({"spec": {**ALL_CARDS, "priority": "urgent"}}, ADMIN, None)
    await stage.running(urgent.id)
    for who, through in ((ANN, None), (ADMIN, urgent.id)):
        [told] = (await platform.auditing.page(who, AuditFilters(f"job:{first.id}", actor="job"))).items
        assert (told.kind, told.by, told.actor.through) == ("preempted", "scheduler", through)
    assert urgent.id not in str(await platform.auditing.page(ANN, AuditFilters(), 500))


async def test_filters_that_can_find_nothing_are_refused_all_at_once(fake: Stage) -> None:
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.auditing.page(ADMIN, AuditFilters("pools:x", actor="robot"))
    found = {one.path: one.rule for one in refused.value.problems}
    assert "virtual_cluster" in found["subject"]
    assert "token" in found["actor"]
