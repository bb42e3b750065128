"""What people mark of what is kept under names: their own rows, which open nothing and go with what they are of."""

from tests.contract.store.conftest import Store
from tests.contract.store.test_bin import EVERYTHING, FLOWERS, KIND, Scene, scene, told
from tests.fixtures.audited import audit_event
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.store.assets.favorites import AssetFavorites
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery
from trainmaster.store.people.accounts import PeopleRows, User

__all__ = ["scene"]  # a fixture

MEMBERS = Visible(owner="bob", shared=frozenset({"vision"}), levels=frozenset({"read", "read-write"}))
OTHER = Asset("d2", KIND, "petals", "vision", "bob", 2.0, share="read", changed_at=2.0)


def listed(scene: Scene, visible: Visible, wanted: AssetQuery) -> list[str]:
    """Return the ids of a page, which counts the same."""
    page = scene.reader.page(visible, KIND, wanted, 9)
    assert scene.reader.count(visible, KIND, wanted) == len(page.items)
    return [one.id for one in page.items]


def test_each_has_their_own_and_what_is_not_seen_stays_unseen(scene: Scene) -> None:
    favorites, anns, bobs = (
        AssetFavorites(scene.database),
        AssetQuery(favorite_of="ann"),
        AssetQuery(favorite_of="bob"),
    )
    scene.upload(OTHER, 4.0)
    for _ in range(2):  # once is enough
        favorites.put("ann", "d1", True)
    favorites.put("bob", "d1", True)
    favorites.put("bob", "d2", True)
    favorites.put("bob", "never", True)
    assert favorites.among("ann", ["d1", "d2"]) == {"d1"}
    assert favorites.among("bob", ["never", "d2", "d1"]) == {"d1", "d2"}
    assert favorites.among("bob", []) == set()
    assert (listed(scene, ALL, anns), listed(scene, ALL, bobs)) == (["d1"], ["d2", "d1"])
    assert listed(scene, MEMBERS, bobs) == ["d2"]  # ann shares d1 with nobody
    scene.sets.change(ALL, "d1", told, share="read")
    assert listed(scene, MEMBERS, bobs) == ["d2", "d1"]
    assert listed(scene, MEMBERS, AssetQuery("petals", favorite_of="bob")) == ["d2"]
    favorites.put("bob", "d2", False)
    favorites.put("bob", "d2", False)
    assert listed(scene, ALL, bobs) == ["d1"]


def test_what_others_share_is_neither_ones_own_nor_what_one_only_administers(scene: Scene) -> None:
    scene.upload(OTHER, 4.0)
    for visible, me, found in ((ALL, "ann", ["d2"]), (ALL, "bob", []), (MEMBERS, "bob", []), (only("cat"), "cat", [])):
        assert listed(scene, visible, AssetQuery(shared_with=me)) == found
    scene.sets.change(ALL, "d1", told, share="read-write")
    assert listed(scene, MEMBERS, AssetQuery(shared_with="bob")) == ["d1"]
    assert listed(scene, ALL, AssetQuery(owner="bob", shared_with="bob")) == []
    assert scene.reader.count(ALL, AssetKind.MODEL, AssetQuery(shared_with="bob")) == 0


def test_it_stays_in_the_bin_and_goes_for_good_with_what_it_is_of(scene: Scene) -> None:
    favorites = AssetFavorites(scene.database)
    scene.upload(OTHER, 4.0)
    for id_ in ("d1", "d2"):
        favorites.put("bob", id_, True)
    version, whole = scene.delete(1), scene.delete()
    favorites.put("ann", "d1", True)  # it lies in the bin
    assert favorites.among("ann", ["d1"]) == set()
    scene.rows.restore(EVERYTHING, whole, None, told)
    assert listed(scene, ALL, AssetQuery(favorite_of="bob")) == ["d2", "d1"]
    scene.rows.remove(EVERYTHING, version, told)  # a version of it alone
    assert favorites.among("bob", ["d1"]) == {"d1"}
    scene.rows.remove(EVERYTHING, scene.delete(), told)
    assert favorites.among("bob", ["d1", "d2"]) == {"d2"}
    scene.upload(FLOWERS, 9.0)
    assert favorites.among("bob", ["d1"]) == set()


def test_it_goes_with_its_person(store: Store) -> None:
    there, people, favorites = Scene(store), PeopleRows(store.database), AssetFavorites(store.database)
    for name in ("bob", "cat"):
        people.add_user(User(name, "", "user"), audit_event())
        favorites.put(name, "d1", True)
    people.set_state("bob", "locked", audit_event())
    assert favorites.among("bob", ["d1"]) == {"d1"}
    people.set_state("bob", "deleted", audit_event())
    assert (favorites.among("bob", ["d1"]), favorites.among("cat", ["d1"])) == (set(), {"d1"})
    assert there.shown()
