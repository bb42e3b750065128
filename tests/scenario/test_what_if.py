"""A changed policy is tried on the platform's own past before it is saved."""

import pytest

from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_pools import ANN, card, job
from trainmaster.core.cluster import Flavor, Limit, VirtualCluster, Workspace
from trainmaster.core.errors import Forbidden, InvalidSpec


async def test_the_past_is_run_again_and_nothing_is_changed(fake: Stage) -> None:
    for name in "abc":
        await fake.ended(await fake.submit(card(name, command="true")))
    await fake.running(await fake.submit(job("still")))
    for node in ("n1", "n2"):  # the past had them
        await fake.platform.administer.cordon(node, "", ADMIN)
    effect = await fake.platform.what_if.policy({"backfill": "none", "age_weight": None}, ADMIN)
    assert (effect.jobs, effect.left_out) == (3, 0)
    assert effect.since <= effect.until
    for side in (effect.now, effect.changed):
        waits = side.waits
        assert len(waits) == 41
        assert waits == sorted(waits)
        assert waits[-1] == side.max_s
    assert fake.platform.context.scheduling.policy.backfill == "easy"


async def test_another_quota_is_tried_on_the_past(fake: Stage) -> None:
    """Two jobs of two cards ran at once; with a quota of two the second would have waited for the first, with one
    nobody runs.
    """
    ran = [await fake.submit(card(name)) for name in "ab"]
    for one in ran:
        await fake.running(one)
    fake.let_pass(60.0)  # a wait that is told from none
    for one in ran:
        await fake.platform.stop(one, ADMIN)
    first, second = [await fake.ended(one) for one in ran]
    wait_s = pytest.approx(first.submitted_at + first.run_s - second.submitted_at, abs=1.0)  # it counts whole seconds
    least = Workspace("default", quotas={"default": {"gpu": Limit(2, 2)}})
    effect = await fake.platform.what_if.policy({}, ADMIN, [least])
    assert (effect.now.max_s, effect.changed.max_s) == (0, wait_s)
    assert fake.platform.context.pools.workspaces["default"].quotas == {}
    none = await fake.platform.what_if.policy(
        {}, ADMIN, [Workspace("default", quotas={"default": {"gpu": Limit(1, 1)}})]
    )
    assert (none.now.not_run, none.changed.not_run) == (0, 2)
    await fake.platform.administer.put_workspace(least, ADMIN)  # what holds now holds on both sides
    effect = await fake.platform.what_if.policy({"backfill": "none"}, ADMIN)
    assert effect.now == effect.changed
    assert effect.now.max_s == wait_s


async def test_what_could_not_be_saved_is_not_tried(fake: Stage) -> None:
    wrong = Workspace("nobody", quotas={"default": {"disk": Limit(1)}, "lab": {"gpu": Limit(2, 1)}})
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.what_if.policy({}, ADMIN, [wrong], [VirtualCluster("vc", share={"gpu": Limit(2, 1)})])
    paths = sorted(item.path for item in refused.value.problems)
    assert paths == [
        "virtual_clusters",
        "virtual_clusters.vc.share.gpu",
        "workspaces",
        "workspaces.nobody.quotas",
        "workspaces.nobody.quotas.default.disk",
        "workspaces.nobody.quotas.lab.gpu",
    ]


async def test_it_is_refused_like_the_change_itself(fake: Stage) -> None:
    nothing = await fake.platform.what_if.policy({}, ADMIN)
    assert (nothing.jobs, nothing.now.waits) == (0, [])
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.what_if.policy({"max_starts": 0, "colour": 1}, ADMIN)
    assert {item.path for item in refused.value.problems} == {"values.max_starts", "values.colour"}
    with pytest.raises(Forbidden):
        await fake.platform.what_if.policy({}, ANN)


async def test_the_past_is_told_as_what_was_asked_for(fake: Stage) -> None:
    """Over the API as on the server, page by page and oldest first; a person sees their own jobs only."""
    half = Flavor("half", cpu=0.5, memory_mib=256, gpu=1, gpu_milli=500)
    await fake.platform.administer.put_flavor(half, ADMIN)
    role = {"name": "main", "command": "true", "flavors": ["half"]}
    first = await fake.submit({"name": "shared", "roles": [role]})
    assert (await fake.ended(first)).resources.gpu == 0.5
    await fake.ended(await fake.submit(card("whole", command="true")))
    page = await fake.platform.what_if.history(ADMIN, 1, None)
    (item,) = page.items
    assert (item.id, item.shapes[0][0].resources.gpu_share) == (first, 0.5)
    rest = await fake.platform.what_if.history(ADMIN, 9, page.next_cursor)
    assert ([one.tasks for one in rest.items], rest.next_cursor) == ([1], None)
    assert (await fake.platform.what_if.history(ANN, 9, None)).items == []


async def test_the_queue_is_narrowed_to_a_card_model(fake: Stage) -> None:
    """R169: a job that would take any card asks for no model, so it is not among those that do."""
    platform = fake.platform
    for node in ("n1", "n2"):
        await platform.administer.cordon(node, "", ADMIN)
    await fake.submit(card("any"))
    await fake.submit(card("named") | {"resources": {"gpu": 1, "gpu_type": "A100"}})
    assert [item.name for item in platform.queueing.page(ADMIN).items] == ["any", "named"]
    page = platform.queueing.page(ADMIN, model="A100")
    assert ([item.name for item in page.items], page.total) == (["named"], 1)
    assert platform.queueing.page(ADMIN, model="none-such").total == 0
