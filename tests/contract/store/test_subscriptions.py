"""What workspaces offer each other and subscribe to (R141): names beside those of their own, and nothing opened that no
offer covers.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.contract.store.test_bin import EVERYTHING, FLOWERS, KIND, Scene, scene, told
from tests.fixtures.audited import audit_event
from tests.fixtures.seeing import ALL
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets.datasets import no_such_dataset
from trainmaster.store.assets.algorithms import AlgorithmRows, algorithm_version
from trainmaster.store.assets.bin import BinQuery
from trainmaster.store.assets.images import AboutImage, ImageRows, image_version
from trainmaster.store.assets.named import NamedVersions
from trainmaster.store.assets.subscriptions import Subscription, SubscriptionRows
from trainmaster.store.assets.templates import Edit, TemplateRows, template_version
from trainmaster.store.assets.versions import PASSED_ON, Asset, AssetKind, AssetQuery, NewVersion
from trainmaster.store.cluster_settings import ClusterSettings

__all__ = ["scene"]  # a fixture

EVE = Visible(owner="eve", subscribed=frozenset({"speech"}))
GONE = no_such_dataset("it")
OTHER = Asset("d2", KIND, "petals", "speech", "eve", 2.0, changed_at=2.0)


@pytest.fixture
def passing(scene: Scene) -> SubscriptionRows:
    return SubscriptionRows(scene.database)


def wanted(name: str = "flowers", workspace: str = "speech", asset: str = "d1") -> Subscription:
    return Subscription(workspace, KIND, name, asset, 5.0, "eve")


def offer(passing: SubscriptionRows, workspace: str) -> None:
    passing.offer(ALL, FLOWERS, workspace, 4.0, "ann", audit_event())


def withdraw(passing: SubscriptionRows, workspace: str) -> list[Subscription]:
    over = list[Subscription]()

    def lapsed(found: Sequence[Subscription]) -> list[AuditEvent]:
        over.extend(found)
        return [audit_event()]

    passing.withdraw(ALL, FLOWERS, workspace, lapsed)
    return over


def shown(scene: Scene, visible: Visible = EVE) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    return [(one.name, one.taken) for one in scene.reader.list_assets(visible, KIND)]


def test_a_name_there_means_what_was_taken_in_and_only_while_it_is_offered(
    scene: Scene, passing: SubscriptionRows
) -> None:
    named = NamedVersions(scene.database)
    with pytest.raises(NotFound):  # nothing of it is offered there
        passing.subscribe(wanted("blooms"), (), told)
    offer(passing, "speech")
    offer(passing, "speech")
    assert passing.offers_of("d1") == ["speech"]
    assert passing.subscribe(wanted("blooms"), (), told).id == "d1"
    assert shown(scene) == [("flowers", (("speech", "blooms"),))]
    found = scene.reader.named(EVE, KIND, "speech", "blooms")
    assert found is not None
    assert (found.asset, found.name, found.number) == ("d1", "blooms", 3)
    assert named.find(KIND, "speech", "blooms", 2) is not None
    assert named.shares("speech", [(KIND, "blooms"), (KIND, "flowers")]) == {(KIND, "blooms"): "read"}
    assert scene.reader.named(EVE, KIND, "speech", "flowers") is None
    assert scene.reader.named(EVE, KIND, "vision", "flowers") is not None  # she sees it, by its own name
    assert [one.id for one in scene.reader.called(EVE, KIND, "blooms")] == ["d1"]
    for query in (AssetQuery(workspace="speech"), AssetQuery(shared_with="eve"), AssetQuery("flow")):
        assert scene.reader.count(EVE, KIND, query) == 1
    assert withdraw(passing, "speech") == [wanted("blooms")]
    assert withdraw(passing, "speech") == []
    assert (shown(scene), named.find(KIND, "speech", "blooms", 2)) == ([], None)
    assert scene.reader.named(ALL, KIND, "speech", "blooms") is None
    assert [one.line for one in passing.of_workspace("speech", KIND, ())] == [None]
    offer(passing, "")  # to everybody, and so it means the same again
    assert shown(scene) == [("flowers", (("speech", "blooms"),))]
    assert withdraw(passing, "speech") == []  # nothing lapses: the other offer covers it
    passing.end("speech", KIND, "blooms", lambda _: audit_event())
    assert shown(scene) == []
    with pytest.raises(NotFound):
        passing.end("speech", KIND, "blooms", lambda _: audit_event())


def test_a_name_is_an_assets_or_a_subscriptions_and_never_both(scene: Scene, passing: SubscriptionRows) -> None:
    """Whoever comes second is refused: an upload, a subscription, and what is restored."""
    scene.upload(OTHER, 4.0)
    offer(passing, "")
    with pytest.raises(Conflict):
        passing.subscribe(wanted("petals"), (), told)
    passing.subscribe(wanted("flowers"), (), told)
    with pytest.raises(Conflict):
        scene.upload(Asset("d3", KIND, "flowers", "speech", "eve", 3.0), 6.0)
    scene.rows.put(ALL, OTHER, None, (10.0, "b-petals"), "eve", GONE, told)
    passing.subscribe(wanted("petals"), (), told)  # instead of its other name
    assert [one.name for one in passing.of_workspace("speech", KIND, ())] == ["petals"]
    with pytest.raises(Conflict):
        scene.rows.restore(EVERYTHING, "b-petals", None, told)
    assert scene.rows.restore(EVERYTHING, "b-petals", "others", told).name == "others"
    withdraw(passing, "")
    with pytest.raises(Conflict):  # the name is kept, though it opens nothing
        scene.upload(Asset("d3", KIND, "petals", "speech", "eve", 3.0), 7.0)


def test_what_is_published_is_what_others_offer(scene: Scene, passing: SubscriptionRows) -> None:
    scene.upload(OTHER, 4.0)
    passing.offer(ALL, OTHER, "", 4.0, "eve", audit_event())
    offer(passing, "speech")

    def ids(workspace: str, closed: tuple[str, ...] = (), q: str = "", limit: int = 9) -> list[str]:
        return [one.id for one in passing.published(workspace, closed, KIND, q, limit, None).items]

    assert (ids("speech"), ids("vision"), ids("text")) == (["d1"], ["d2"], ["d2"])
    assert (ids("speech", ("vision",)), ids("text", ("vision",)), ids("text", q="petals eve")) == ([], ["d2"], ["d2"])
    offer(passing, "")
    first = passing.published("text", (), KIND, "", 1, None)
    rest = passing.published("text", (), KIND, "", 1, first.next_cursor)
    assert ([one.id for one in first.items + rest.items], rest.next_cursor) == (["d2", "d1"], None)
    with pytest.raises(NotFound):  # its workspace shares nothing at the moment
        passing.subscribe(wanted(), ("vision",), told)


def test_only_who_may_share_it_offers_it(scene: Scene, passing: SubscriptionRows) -> None:
    """Judged in the writer's thread."""
    for visible in (EVE, Visible(owner="bob", shared=frozenset({"vision"}), levels=frozenset({"read"}))):
        with pytest.raises(NotFound):
            passing.offer(visible, FLOWERS, "speech", 4.0, "eve", audit_event())
        with pytest.raises(NotFound):
            passing.withdraw(visible, FLOWERS, "speech", lambda _: [])
    assert passing.offers_of("d1") == []


def test_it_stays_in_the_bin_and_goes_for_good_with_its_asset_or_a_workspace(
    scene: Scene, passing: SubscriptionRows
) -> None:
    settings = ClusterSettings(scene.database)
    offer(passing, "speech")
    offer(passing, "text")
    for workspace in ("speech", "text"):
        passing.subscribe(wanted(workspace=workspace), (), told)
    whole = scene.delete()
    assert (shown(scene), [one.line for one in passing.of_workspace("speech", KIND, ())]) == ([], [None])
    scene.rows.restore(EVERYTHING, whole, None, told)
    assert shown(scene) == [("flowers", (("speech", "flowers"), ("text", "flowers")))]
    settings.drop("workspace", "text", audit_event()).result(60)
    assert ([one.workspace for one in passing.taken_from("d1")], passing.offers_of("d1")) == (["speech"], ["speech"])
    settings.drop("workspace", "vision", audit_event()).result(60)  # where it lies: who makes one so called offers none
    assert (passing.offers_of("d1"), shown(scene)) == ([], [])
    offer(passing, "speech")
    scene.rows.remove(EVERYTHING, scene.delete(), told)
    assert (passing.offers_of("d1"), passing.taken_from("d1")) == ([], [])


TORCH = Asset("i1", AssetKind.IMAGE, "torch", "vision", "ann", 1.0, changed_at=1.0)


def built(secret: str = "", key: str = "k") -> NewVersion:
    about = AboutImage(key, "3.11", "registry/torch@sha256:1", kind="container", secret=secret)
    return image_version(about, "sha256:1", 3, 1, 1.0)


def test_an_image_that_needs_a_secret_is_not_passed_on(scene: Scene, passing: SubscriptionRows) -> None:
    """By whichever way: offered, built anew while it is offered, or restored then. The secret is its workspace's."""
    images = ImageRows(scene.database)
    images.add(ALL, TORCH, built(), told)
    images.add(ALL, TORCH, built("REGISTRY"), told)
    with pytest.raises(Conflict) as why:
        passing.offer(ALL, TORCH, "speech", 4.0, "ann", audit_event())
    assert why.value.said.code == "image_needs_secret"
    scene.rows.put(ALL, TORCH, 2, (10.0, "b-torch"), "ann", GONE, told)
    passing.offer(ALL, TORCH, "speech", 4.0, "ann", audit_event())
    for way in (
        lambda: images.demand_may_write(ALL, TORCH, "REGISTRY"),  # before it is built
        lambda: images.add(ALL, TORCH, built("REGISTRY"), told),
        lambda: scene.rows.restore(EVERYTHING, "b-torch", None, told),
    ):
        with pytest.raises(Conflict) as why:
            way()
        assert why.value.said.code == "offered_image_needs_secret"
    images.demand_may_write(ALL, TORCH, "")
    assert [one.number for one in scene.reader.versions(ALL, "i1")] == [1]
    assert scene.rows.count(EVERYTHING, BinQuery()) == 1  # where it was
    passing.withdraw(ALL, TORCH, "speech", lambda _: [])
    scene.rows.restore(EVERYTHING, "b-torch", None, told)
    assert [one.number for one in scene.reader.versions(ALL, "i1")] == [2, 1]


def test_what_a_running_job_has_of_an_image_is_known_by_its_number(scene: Scene) -> None:
    """For those that run on after their subscription ended; also while it lies in the bin."""
    images = ImageRows(scene.database)
    for key in ("first", "second"):
        images.add(ALL, TORCH, built(key=key), told)
    assert [images.environments(number) for number in (1, 2, 3)] == [{"first"}, {"second"}, set()]
    scene.rows.put(ALL, TORCH, 2, (10.0, "b-torch"), "ann", GONE, told)
    assert images.environments(2) == {"second"}


@pytest.mark.parametrize("kind", sorted(PASSED_ON - {KIND}))
def test_a_name_that_is_subscribed_under_is_given_to_nothing_else(
    scene: Scene, passing: SubscriptionRows, kind: AssetKind
) -> None:
    """Of every kind, where one is made."""
    line = Asset("x1", kind, "net", "vision", "ann", 1.0, changed_at=1.0)
    made(scene, line)
    passing.offer(ALL, line, "speech", 4.0, "ann", audit_event())
    passing.subscribe(Subscription("speech", kind, "taken", "x1", 5.0, "eve"), (), told)
    with pytest.raises(Conflict) as why:
        made(scene, replace(line, id="x2", name="taken", workspace="speech", owner="eve"))
    assert [one.code for one in why.value.problems] == ["name_subscribed"]
    made(scene, replace(line, id="x2", name="other", workspace="speech", owner="eve"))
    with pytest.raises(Conflict):  # nor the other way round
        passing.subscribe(Subscription("speech", kind, "other", "x1", 5.0, "eve"), (), told)


def test_a_template_that_moves_to_who_took_it_in_lies_there(scene: Scene, passing: SubscriptionRows) -> None:
    line = Asset("x1", AssetKind.TEMPLATE, "plan", "vision", "ann", 1.0, changed_at=1.0)
    made(scene, line)
    for workspace in ("speech", "text"):
        passing.offer(ALL, line, workspace, 4.0, "ann", audit_event())
        passing.subscribe(Subscription(workspace, AssetKind.TEMPLATE, "plan", "x1", 5.0, "eve"), (), told)
    rows, new = TemplateRows(scene.database), template_version({}, "sha256:2", 2, "ann", 6.0)
    with pytest.raises(Conflict):  # what that workspace took in under the name
        made(scene, replace(line, id="x2", workspace="speech"))
    assert rows.edit(ALL, "x1", Edit(workspace="speech"), new, lambda *_: audit_event()).workspace == "speech"
    assert (passing.offers_of("x1"), [one.workspace for one in passing.taken_from("x1")]) == (["text"], ["text"])
    assert rows.names("text") == {"plan"}  # of a copy there


def made(scene: Scene, line: Asset) -> None:
    """Store a version of something, by the rows of its kind."""
    if line.kind is AssetKind.IMAGE:
        ImageRows(scene.database).add(ALL, line, built(), told)
    elif line.kind is AssetKind.ALGORITHM:
        new = algorithm_version({}, "sha256:1", 2, "ann", 1.0)
        AlgorithmRows(scene.database).add(ALL, line, new, lambda *_: audit_event())
    else:
        TemplateRows(scene.database).add(line, template_version({}, "sha256:1", 2, "ann", 1.0), audit_event())
