"""The bin as rows: what was deleted is nowhere else, comes back as it was, goes for good, and counts until then."""

from dataclasses import replace
from itertools import count
from typing import Final

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.core.folders.room import Use
from trainmaster.messages.assets import datasets as said
from trainmaster.store.assets.algorithms import AlgorithmRows, algorithm_version
from trainmaster.store.assets.bin import Binned, BinQuery, BinRows, Scopes
from trainmaster.store.assets.datasets import DatasetRows, dataset_version
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader
from trainmaster.store.assets.volumes import VolumeRows
from trainmaster.store.cluster_settings import close_workspace
from trainmaster.store.kept.rows import KeptRows
from trainmaster.store.leftovers import Leftovers

KIND: Final = AssetKind.DATASET
FLOWERS: Final = Asset("d1", KIND, "flowers", "vision", "ann", 1.0, description="5 classes", changed_at=1.0)
EVERYTHING: Final[Scopes] = dict.fromkeys(AssetKind, ALL)
ANNS: Final[Scopes] = dict.fromkeys(AssetKind, only("ann"))
BOBS: Final[Scopes] = dict.fromkeys(AssetKind, only("bob"))


def told(*_: object) -> AuditEvent:
    return audit_event()


class Scene:
    """A store with a data set of three versions."""

    def __init__(self, store: Store) -> None:
        self.database, self.ids = store.database, count(1)
        self.rows, self.sets = BinRows(store.database), DatasetRows(store.database)
        self.reader, self.kept = AssetReader(store.database), KeptRows(store.database)
        for at in (1.0, 2.0, 3.0):
            self.upload(FLOWERS, at)

    def upload(self, line: Asset, at: float) -> int:
        new = dataset_version(f"sha256:{at}", 10, 2, at, f"datasets/u{line.id}-{at}", "ann")
        made = self.sets.add(ALL, line, new, told)
        self.kept.put_versions(made.asset, {made.number: Use(100, 2)})
        return made.number

    def delete(self, number: int | None = None, at: float = 10.0, visible: Visible = ALL, line: Asset = FLOWERS) -> str:
        id_ = f"x{next(self.ids)}234"
        self.rows.put(visible, line, number, (at, id_), "bob", said.no_such_dataset("x"), told)
        return id_

    def binned(self, scopes: Scopes = EVERYTHING) -> list[Binned]:
        return self.rows.page(scopes, BinQuery(), 50).items

    def shown(self) -> list[tuple[str, int]]:
        found = self.reader.find(ALL, KIND, "d1")
        return [] if found is None else [(found.name, one.number) for one in self.reader.versions(ALL, "d1")]


@pytest.fixture
def scene(store: Store) -> Scene:
    return Scene(store)


def test_what_was_deleted_is_nowhere_and_comes_back_as_it_was(scene: Scene) -> None:
    before, line = scene.reader.versions(ALL, "d1"), scene.reader.find(ALL, KIND, "d1")
    id_ = scene.delete()
    assert scene.shown() == []
    assert scene.reader.count(ALL, KIND, AssetQuery()) == 0
    assert scene.sets.called("vision", "flowers") is None
    [one] = scene.binned()
    assert (one.id, one.at, one.by, one.number, one.size_bytes) == (id_, 10.0, "bob", None, 30)
    assert one.line == line
    assert scene.rows.restore(ANNS, id_, None, told).name == "flowers"
    assert scene.reader.versions(ALL, "d1") == before
    assert scene.reader.find(ALL, KIND, "d1") == line
    assert scene.binned() == []
    with pytest.raises(NotFound):
        scene.rows.restore(EVERYTHING, id_, None, told)


def test_the_number_of_a_version_is_never_given_again(scene: Scene) -> None:
    last = scene.delete(3)
    first = scene.delete(1)
    with pytest.raises(NotFound):
        scene.delete(3)
    assert scene.upload(FLOWERS, 4.0) == 4
    assert scene.shown() == [("flowers", 4), ("flowers", 2)]
    scene.rows.restore(EVERYTHING, last, None, told)
    scene.rows.restore(EVERYTHING, first, None, told)
    assert scene.shown() == [("flowers", number) for number in (4, 3, 2, 1)]


def test_only_who_may_delete_it_deletes_restores_and_empties(scene: Scene) -> None:
    """Judged in the writer's thread: what was shared read-write is its other members' to restore, too."""
    with pytest.raises(NotFound):
        scene.delete(visible=only("bob"))
    scene.sets.change(ALL, "d1", told, share="read-write")
    id_ = scene.delete()
    members = Visible(owner="bob", shared=frozenset({"vision"}), levels=frozenset({"read-write"}))
    for scopes in (BOBS, {AssetKind.MODEL: ALL}, {}):
        assert scene.binned(scopes) == scene.rows.called(scopes, "flowers") == []
        assert scene.rows.count(scopes, BinQuery()) == 0
        for refused in (
            lambda scopes=scopes: scene.rows.restore(scopes, id_, None, told),
            lambda scopes=scopes: scene.rows.remove(scopes, id_, told),
        ):
            with pytest.raises(NotFound):
                refused()
    assert [one.id for one in scene.binned({KIND: members})] == [id_]
    scene.database.write(lambda connection: close_workspace(connection, "vision")).result()
    assert scene.binned({KIND: members}) == []
    assert scene.rows.restore(ANNS, id_, None, told).share == "none"


def test_a_name_is_free_meanwhile_and_what_has_it_is_not_pushed_aside(scene: Scene) -> None:
    id_ = scene.delete()
    scene.upload(replace(FLOWERS, id="d2"), 5.0)
    with pytest.raises(Conflict):
        scene.rows.restore(EVERYTHING, id_, None, told)
    assert scene.rows.restore(EVERYTHING, id_, "old", told).name == "old"
    assert scene.shown() == [("old", number) for number in (3, 2, 1)]


def test_a_version_waits_for_its_asset_and_goes_with_it(scene: Scene) -> None:
    version = scene.delete(2)
    whole = scene.delete(at=11.0)
    with pytest.raises(Conflict):
        scene.rows.restore(EVERYTHING, version, None, told)
    scene.rows.restore(EVERYTHING, whole, None, told)
    scene.rows.restore(EVERYTHING, version, None, told)
    scene.delete(2)
    removed = scene.rows.remove(EVERYTHING, scene.delete(), told)
    assert removed.paths == tuple(f"datasets/ud1-{at}" for at in (1.0, 2.0, 3.0))
    assert scene.binned() == []
    assert scene.sets.paths() == set()


def test_it_counts_until_it_goes_for_good(scene: Scene) -> None:
    account = ("vision", "ann")
    scene.upload(replace(FLOWERS, id="d2", name="other"), 5.0)
    assert scene.kept.of_versions() == {account: Use(400, 8)}
    version, whole = scene.delete(3), scene.delete()
    assert scene.kept.of_versions() == {account: Use(400, 8)}
    assert (scene.rows.takes(version), scene.rows.takes(whole)) == (100, 200)
    assert scene.sets.paths() == {f"datasets/ud1-{at}" for at in (1.0, 2.0, 3.0)} | {"datasets/ud2-5.0"}
    assert scene.rows.remove(EVERYTHING, version, told).paths == ("datasets/ud1-3.0",)
    assert scene.kept.of_versions() == {account: Use(300, 6)}
    scene.rows.remove(EVERYTHING, whole, told)
    assert scene.kept.of_versions() == {account: Use(100, 2)}


def test_it_is_found_by_id_name_and_version_and_in_pages(scene: Scene) -> None:
    third, second = scene.delete(3, 10.0), scene.delete(2, 11.0)
    whole = scene.delete(at=12.0)
    assert [one.id for one in scene.rows.called(EVERYTHING, "flowers")] == [whole, second, third]
    assert [one.id for one in scene.rows.called(EVERYTHING, "flowers@2")] == [second]
    assert [one.id for one in scene.rows.called(EVERYTHING, third[:4])] == [third]
    assert scene.rows.called(EVERYTHING, "flowers@x") == scene.rows.called(EVERYTHING, "x1") == []
    page = scene.rows.page(EVERYTHING, BinQuery("FLOW", kind=KIND, workspace="vision"), 2)
    assert [one.id for one in page.items] == [whole, second]
    assert [one.id for one in scene.rows.page(EVERYTHING, BinQuery(), 2, page.next_cursor).items] == [third]
    for other in (BinQuery("rose"), BinQuery(owner="bob"), BinQuery(kind=AssetKind.MODEL), BinQuery(workspace="a")):
        assert scene.rows.page(EVERYTHING, other, 2).items == []
    assert [one.id for one in scene.rows.old(12.0)] == [third, second]
    assert [one.id for one in scene.rows.old(99.0, (11.0, second))] == [whole]


@pytest.mark.parametrize("path", ["", "environments/k"])
def test_code_that_an_algorithm_or_an_image_names_is_kept_as_long_as_it_may_come_back(store: Store, path: str) -> None:
    digest = "a" * 64
    line = Asset("a1", AssetKind.ALGORITHM, "net", "vision", "ann", 1.0)
    new = algorithm_version({"code": {"upload": f"sha256:{digest}"}}, "d", 1, "ann", 1.0)
    AlgorithmRows(store.database).add(ALL, line, replace(new, path=path), told)
    rows, leftovers = BinRows(store.database), Leftovers(store.database)

    def named() -> set[str]:
        found, after = set[str](), ""
        while True:
            page, following = leftovers.uploads_named(after)
            found |= page
            if following is None:
                return found
            after = following

    assert named() == {digest}
    rows.put(ALL, line, None, (2.0, "x1"), "ann", said.no_such_dataset("x"), told)
    assert named() == {digest}
    rows.remove(EVERYTHING, "x1", told)
    assert named() == set()


def test_a_volume_keeps_its_folder(store: Store) -> None:
    line, volumes = Asset("v1", AssetKind.VOLUME, "scratch", "vision", "ann", 1.0), VolumeRows(store.database)
    volumes.add(line, told)
    BinRows(store.database).put(ALL, line, None, (2.0, "x1"), "ann", said.no_such_dataset("x"), told)
    assert (volumes.known(), volumes.all()) == ({"v1"}, [])
