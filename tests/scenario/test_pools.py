"""Pools, nodes, workspaces, flavors and the queue, on machines turned by hand: applied at once, kept over a restart."""

from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster import answers
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Flavor, Limit, Pool, VirtualCluster, Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.messages.cluster import cluster
from trainmaster.service.language import both

ANN = person("ann")
BOB = person("bob")
ABOVE_CAP, ABOVE_NOMINAL = both(cluster.used_above_cap()), both(cluster.used_above_guaranteed())


def job(name: str = "j", command: str = "sleep infinity", **fields: Any) -> dict[str, Any]:
    return {"name": name, "command": command, "resources": {"cpu": 0.5, "memory": 256}, **fields}


def card(name: str = "j", **fields: Any) -> dict[str, Any]:
    return job(name, resources={"cpu": 0.5, "memory": 256, "gpu": 2}, **fields)


async def codes(stage: Stage, document: dict[str, Any], who: Principal = ADMIN) -> set[tuple[str, str]]:
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.submit({"spec": document}, who, None)
    return {(item.path, item.code) for item in refused.value.problems}


async def test_a_cordoned_node_takes_nothing_until_it_is_back(fake: Stage) -> None:
    """Applied live: the uncordon alone wakes the planner. The note says why, after a restart too."""
    platform = fake.platform
    await platform.administer.cordon("n1", "new fan", ADMIN)
    first = await fake.submit(card("a"))
    assert (await fake.running(first)).nodes == ["n2"]
    second = await fake.submit(card("b"))
    assert (await fake.view(second)).state == "queued"
    await fake.restart()
    node = fake.platform.resources.node("n1", ANN)
    assert (node.service, node.note, node.by) == ("cordoned", "new fan", "admin")
    assert (await fake.view(second)).state == "queued"
    await fake.platform.administer.uncordon("n1", ADMIN)
    assert (await fake.running(second)).nodes == ["n1"]


async def test_draining_sends_preemptible_jobs_back_and_waits_for_the_others(fake: Stage) -> None:
    movable = await fake.submit(job("movable", preemptible=True))
    fixed = await fake.submit(job("fixed"))
    assert (await fake.running(movable)).nodes == (await fake.running(fixed)).nodes == ["n1"]
    await fake.platform.administer.drain("n1", "disk", "preemptible", ADMIN)
    again = await fake.until(movable, lambda view: view.attempts == 2 and view.state == "running", "its second try")
    assert again.nodes == ["n2"]
    assert fake.platform.resources.node("n1", ADMIN).service == "draining"
    await fake.platform.stop(fixed, ADMIN)
    await fake.ended(fixed)
    assert fake.platform.resources.node("n1", ADMIN).service == "drained"
    texts = [event.text for event in (await fake.platform.events(movable, ADMIN, 0)).items]
    assert answers.Text(en="node n1 is being drained: disk", zh="节点 n1 正在排空：disk") in texts


async def test_a_dedicated_pool_is_shown_but_only_for_its_workspace(fake: Stage) -> None:
    """R10, R11."""
    admin = fake.platform.administer
    await admin.put_workspace(Workspace("vision"), ADMIN)
    await admin.put_pool(Pool("lab", "dedicated", ("vision",)), ADMIN)
    await admin.assign("n2", "lab", ADMIN)
    shown = {pool.name: pool for pool in fake.platform.resources.pools(ANN, "default").items}
    assert (shown["lab"].selectable, shown["lab"].nodes, shown["default"].nodes) == (False, 1, 1)
    assert shown["lab"].why == answers.Text(zh="资源池 lab 专属于 vision", en="Pool lab is dedicated to vision")
    assert fake.platform.resources.pools(ANN, "vision").items[1].selectable
    assert await codes(fake, job(pool="lab")) == {("pool", "pool_dedicated")}
    assert await codes(fake, job(pool="nope", workspace="none")) == {
        ("pool", "unknown_pool"),
        ("workspace", "unknown_workspace"),
    }
    inside = await fake.submit(job(pool="lab", workspace="vision"))
    assert (await fake.running(inside)).nodes == ["n2"]
    with pytest.raises(Conflict) as used:
        await admin.drop_pool("lab", ADMIN)
    assert "n2" in used.value.problems[0].rule


async def test_named_nodes_and_drivers_are_looked_up(fake: Stage) -> None:
    """R12, R13: what does not exist is named with what does; named nodes exclude a dedicated pool."""
    admin = fake.platform.administer
    await admin.put_pool(Pool("lab", "dedicated", ("default",)), ADMIN)
    await admin.assign("n2", "lab", ADMIN)
    assert await codes(fake, job(nodes=["n2"])) == {("nodes", "unknown_node")}
    assert await codes(fake, job(nodes=["n2"], pool="lab")) == {("nodes", "nodes_with_dedicated")}
    assert await codes(fake, card(driver="535")) == {("driver", "unknown_driver")}


async def test_a_virtual_cluster_is_a_share_of_its_pool(fake: Stage) -> None:
    """R6: chosen by name, as OpenPAI does, or beside its pool; guaranteed no more than there is."""
    admin = fake.platform.administer
    with pytest.raises(InvalidSpec) as refused:
        await admin.put_virtual_cluster(
            VirtualCluster("vc", share={"gpu": Limit(5), "gold": Limit(1), "cpu": Limit(2, 1)}), ADMIN
        )
    assert {item.code for item in refused.value.problems} == {"bad_resource", "cap_below_nominal"}
    with pytest.raises(InvalidSpec) as refused:
        await admin.put_virtual_cluster(VirtualCluster("vc", share={"gpu": Limit(5)}), ADMIN)
    assert refused.value.problems[0].code == "over_guaranteed"
    await admin.put_virtual_cluster(VirtualCluster("vc", share={"gpu": Limit(1, 4)}), ADMIN)
    with pytest.raises(InvalidSpec):
        await admin.put_pool(Pool("vc"), ADMIN)
    first = await fake.submit(card("a", pool="vc"))
    view = await fake.running(first)
    assert (view.pool, view.virtual_cluster) == ("default", "vc")
    (share,) = fake.platform.resources.virtual_clusters(ANN).items[0].share
    assert share == answers.ShareView(resource="gpu", nominal=1, cap=4, used=2, borrowed=1, warning=ABOVE_NOMINAL)
    with pytest.raises(Conflict):
        await admin.drop_virtual_cluster("vc", ADMIN)
    assert await codes(fake, job(virtual_cluster="nope")) == {("virtual_cluster", "unknown_pool")}


async def test_a_quota_below_what_is_used_is_accepted_with_a_warning(fake: Stage) -> None:
    """What runs goes on; up to the guaranteed amount, and once the jobs have ended, there is nothing to say."""
    admin, held = fake.platform.administer, await fake.submit(card("a"))
    await fake.running(held)
    for limit, warning in (
        (Limit(1, 1), ABOVE_CAP),
        (Limit(0, 1), ABOVE_CAP),
        (Limit(1, 2), ABOVE_NOMINAL),
        (Limit(1), ABOVE_NOMINAL),
        (Limit(2, 2), None),
    ):
        await admin.put_workspace(Workspace("default", quotas={"default": {"gpu": limit}}), ADMIN)
        ((share,),) = [quota.share for quota in fake.platform.resources.workspace("default", ADMIN).quotas]
        assert (share.used, share.warning) == (2, warning)
    await admin.put_workspace(Workspace("default", quotas={"default": {"gpu": Limit(1, 1)}}), ADMIN)
    assert (await fake.view(held)).state == "running"
    await fake.platform.stop(held, ADMIN)
    await fake.ended(held)
    assert fake.platform.resources.workspace("default", ADMIN).quotas[0].share[0].warning is None


async def test_users_change_nothing_and_see_only_sizes_and_owners_of_others(fake: Stage) -> None:
    admin, resources, queueing = fake.platform.administer, fake.platform.resources, fake.platform.queueing
    for act in (
        admin.put_pool(Pool("x"), ANN),
        admin.put_workspace(Workspace("x"), ANN),
        admin.cordon("n1", "", ANN),
        queueing.set_policy({}, ANN),
        admin.put_flavor(Flavor("x"), ANN),
        admin.drop_pool("default", ANN),
    ):
        with pytest.raises(Forbidden):
            await act
    running = [(await fake.platform.submit({"spec": card(f"r{i}")}, BOB, None))[0].id for i in range(2)]
    for one in running:
        await fake.running(one)
    waiting, _ = await fake.platform.submit({"spec": card("w", duration="1h")}, BOB, None)
    await fake.state(waiting.id, "queued")
    (seen,) = queueing.page(ANN).items
    assert (seen.job, seen.name, seen.owner, seen.resources.gpu, seen.position) == (
        None,
        None,
        "bob",
        2,
        1,
    )
    (own,) = queueing.page(BOB).items
    assert (own.name, own.reason.code, own.duration_s) == ("w", "waiting_gpus", 3600)
    assert queueing.page(ANN, mine=True).items == []
    assert queueing.page(BOB, mine=True).total == 1
    use = resources.node("n1", ANN).usage[0]
    assert (use.label, use.job, use.share) == ("0(0):", None, 1)
    assert resources.node("n1", BOB).usage[1].label.startswith("1(0):r")
    bars = queueing.timeline(ANN).bars
    assert [(bar.node, bar.cards, bar.gpu, bar.job, bar.kind) for bar in bars] == [
        ("n1", [0, 1], 2, None, "running"),
        ("n2", [0, 1], 2, None, "running"),
    ]
    assert resources.demand() == [answers.CardDemand("A100", 4, 4, 0, 0), answers.CardDemand(None, 4, 4, 2, 1)]


async def test_the_resources_table_follows_the_flavors(fake: Stage) -> None:
    """R164 to R169: nodes that fit, idle or tight, used of total, demand by model."""
    admin, resources = fake.platform.administer, fake.platform.resources
    await admin.put_flavor(Flavor("pair", cpu=1, memory_mib=256, gpu=2, gpu_type="A100"), ADMIN)
    await admin.put_flavor(Flavor("huge", cpu=64), ADMIN)
    await admin.put_flavor(Flavor("half", cpu=1, memory_mib=256, gpu=1, gpu_milli=500), ADMIN)
    first = await fake.submit({"name": "a", "command": "sleep infinity", "flavors": ["pair"]})
    view = await fake.running(first)
    assert view.roles[0].flavor == "pair"
    table = resources.resources(ANN, ["pair", "huge"], "default")
    assert [(row.name, row.state, row.flavors) for row in table.nodes] == [
        ("n1", "tight", ["pair"]),
        ("n2", "idle", ["pair"]),
    ]
    n1 = table.nodes[0]
    assert n1.cards == [answers.CardModel(model="A100", used=2, total=2)]
    assert n1.cpu == answers.Used(used=1, total=4)
    assert resources.resources(ANN, ["huge"], "default").nodes == []
    without = resources.resources(ANN, [], "default").nodes
    assert [row.state for row in without] == ["full", "free"], "tight is said of flavors, and none was chosen"
    part = await fake.submit({"name": "b", "command": "sleep infinity", "flavors": ["half"]})
    await fake.running(part)
    assert [row.state for row in resources.resources(ANN, [], "default").nodes] == ["full", "free"]
    assert [flavor.kind for flavor in resources.flavors(ANN, "default").items] == ["gpu", "cpu", "gpu"]
    assert [flavor.name for flavor in resources.flavors(ANN, "default", "cpu").items] == ["huge"]
    with pytest.raises(NotFound):
        resources.resources(ANN, ["nope"], "default")


async def test_would_it_start_with_several_flavors(fake: Stage) -> None:
    """R163: now when any of them can; nothing is changed by asking."""
    admin, queueing = fake.platform.administer, fake.platform.queueing
    await admin.put_flavor(Flavor("pair", gpu=2), ADMIN)
    await admin.put_flavor(Flavor("huge", cpu=64), ADMIN)
    await admin.put_flavor(Flavor("small", cpu=0.5, memory_mib=128), ADMIN)

    async def asked(*flavors: str) -> answers.WouldStart:
        body = {"spec": {"name": "a", "command": "sleep infinity", "flavors": [*flavors]}}
        return await queueing.would_start(body, ANN)

    assert (await asked("pair")).when == "now"
    for name in "ab":
        await fake.running(await fake.submit(card(name)))
    both = await asked("pair", "huge", "small")
    assert (both.when, [one.when for one in both.alternatives]) == ("now", ["queue", "never", "now"])
    waits = await asked("pair", "huge")
    assert (waits.when, waits.reason.code, waits.position) == ("queue", "waiting_gpus", 1)
    assert waits.forecast.when == "unknown", "nothing that runs has a limit, and nothing has ended yet"
    assert (await asked("huge")).when == "never"
    assert len(fake.platform.context.scheduling.queue) == 0


async def test_the_policy_is_checked_stored_and_applied(fake: Stage) -> None:
    queueing = fake.platform.queueing
    with pytest.raises(InvalidSpec) as refused:
        await queueing.set_policy({"max_starts": 0, "colour": 1}, ADMIN)
    assert {item.path for item in refused.value.problems} == {"values.max_starts", "values.colour"}
    await queueing.set_policy({"max_starts": 7}, ADMIN)
    assert fake.platform.context.scheduling.policy.max_starts == 7
    await fake.restart()
    assert fake.platform.context.scheduling.policy.max_starts == 7
    shown = fake.platform.queueing.policy(ANN)
    knob = next(one for one in shown.knobs if one.name == "max_starts")
    assert (knob.value, knob.default, shown.changed_by) == (7, 512, "admin")
    await fake.platform.queueing.set_policy({"max_starts": None}, ADMIN)
    assert fake.platform.context.scheduling.policy.max_starts == 512


async def test_everything_is_as_it_was_after_a_restart(fake: Stage) -> None:
    admin = fake.platform.administer
    await admin.put_workspace(Workspace("vision", 2.5, {"default": {"gpu": Limit(2, 3)}}, 1, 5, "eyes"), ADMIN)
    await admin.put_pool(Pool("lab", "dedicated", ("vision",), "ours"), ADMIN)
    await admin.put_virtual_cluster(VirtualCluster("vc", "default", {"gpu": Limit(1)}), ADMIN)
    await admin.put_flavor(Flavor("half", "vision", gpu=1, gpu_milli=500), ADMIN)
    await admin.assign("n2", "lab", ADMIN)
    resources = fake.platform.resources
    before = (
        resources.pools(ADMIN),
        resources.workspaces(ADMIN),
        resources.flavors(ADMIN, "vision"),
        resources.nodes(ADMIN),
    )
    await fake.restart()
    resources = fake.platform.resources
    assert before == (
        resources.pools(ADMIN),
        resources.workspaces(ADMIN),
        resources.flavors(ADMIN, "vision"),
        resources.nodes(ADMIN),
    )
    admin = fake.platform.administer
    for act in (admin.drop_workspace("vision", ADMIN), admin.drop_workspace("default", ADMIN)):
        with pytest.raises(Conflict):
            await act
    await admin.drop_flavor("vision", "half", ADMIN)
    await admin.assign("n2", "default", ADMIN)
    await admin.drop_pool("lab", ADMIN)
    await admin.drop_workspace("vision", ADMIN)
    await admin.drop_virtual_cluster("vc", ADMIN)
    assert [pool.name for pool in fake.platform.resources.pools(ADMIN).items] == ["default"]


async def test_a_quota_holds_and_what_is_guaranteed_is_kept_free_for_its_owner(fake: Stage) -> None:
    """Points 2 and 3 of the issue: a cap is never passed; who is not in a virtual cluster only borrows its share."""
    admin = fake.platform.administer
    await admin.put_workspace(Workspace("vision", quotas={"default": {"gpu": Limit(2, 2)}}), ADMIN)
    first = await fake.submit(card("a", workspace="vision"))
    second = await fake.submit(card("b", workspace="vision"))
    await fake.running(first)
    waiting = await fake.until(second, lambda view: view.reason is not None, "its reason")
    assert (waiting.state, waiting.reason.code) == ("queued", "quota")
    other = await fake.submit(card("c"))
    await fake.running(other)
    assert (await fake.view(second)).state == "queued", "who comes later and has no quota went past it"
    await fake.platform.stop(other, ADMIN)
    await fake.ended(other)
    after = await fake.submit(card("d"))
    await fake.running(after)  # a pass after the cards were free again
    await fake.platform.stop(after, ADMIN)
    await fake.ended(after)
    assert (await fake.view(second)).reason.code == "quota", "two cards are free, and it may not have them"
    await admin.put_workspace(Workspace("vision"), ADMIN)  # the quota is lifted: applied at once
    await fake.running(second)


async def test_a_job_goes_where_it_says_as_one_of_its_flavors(fake: Stage) -> None:
    """R12, R161, R162: only the named node; one of two flavors, one entry in the queue."""
    admin = fake.platform.administer
    await admin.put_flavor(Flavor("quad", cpu=1, memory_mib=256, gpu=2), ADMIN)
    await admin.put_flavor(Flavor("none", cpu=1, memory_mib=256), ADMIN)
    first = await fake.submit(card("a", nodes=["n2"]))
    assert (await fake.running(first)).nodes == ["n2"]
    second = await fake.submit(card("b", nodes=["n2"]))
    assert (await fake.view(second)).state == "queued"
    third = await fake.submit({"name": "c", "command": "sleep infinity", "nodes": ["n2"], "flavors": ["quad", "none"]})
    view = await fake.running(third)
    assert (view.nodes, view.roles[0].flavor, view.roles[0].resources.gpu) == (["n2"], "none", 0)


async def test_an_elastic_job_starts_with_what_there_is(fake: Stage) -> None:
    """R182."""
    wide = {"name": "w", "command": "sleep infinity", "resources": {"cpu": 0.5, "memory": 64, "gpu": 2}}
    first = await fake.submit({**wide, "replicas": 1})
    await fake.running(first)
    elastic = await fake.submit({**wide, "name": "e", "replicas": 2, "min_replicas": 1})
    view = await fake.running(elastic)
    assert (view.tasks.total, view.roles[0].min_replicas) == (1, 1)
