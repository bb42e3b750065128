"""Data sets as rows: one version for each upload, changed by whom it is shared with so, numbers given once."""

from dataclasses import replace
from typing import Final

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.store.assets import datasets
from trainmaster.store.assets.datasets import DatasetRows, dataset_version, uploader_of
from trainmaster.store.assets.named import NamedVersions
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader, NewVersion
from trainmaster.store.cluster_settings import close_workspace

KIND: Final = AssetKind.DATASET
FLOWERS: Final = Asset("d1", KIND, "flowers", "vision", "ann", 1.0)


def new(at: float, by: str = "ann") -> NewVersion:
    return dataset_version(f"sha256:{at}", 10, 2, at, f"datasets/u{at}", by)


def told(*_: object) -> AuditEvent:
    return audit_event()


@pytest.fixture
def rows(store: Store) -> DatasetRows:
    return DatasetRows(store.database)


def test_an_upload_becomes_one_version_however_often_it_is_stored(store: Store, rows: DatasetRows) -> None:
    first = rows.add(only("ann"), FLOWERS, new(1.0), told)
    assert rows.add(only("ann"), replace(FLOWERS, id="d2"), new(1.0), told) == first
    second = rows.add(only("ann"), replace(FLOWERS, id="d3"), new(2.0), told)
    assert [(one.asset, one.number, uploader_of(one)) for one in (first, second)] == [
        ("d1", 1, "ann"),
        ("d1", 2, "ann"),
    ]
    reader = AssetReader(store.database)
    assert reader.named(ALL, KIND, "vision", "flowers") == second
    assert reader.named(only("ann"), KIND, "vision", "flowers", 1) == first
    assert reader.named(only("bob"), KIND, "vision", "flowers", 1) is None
    assert reader.named(ALL, KIND, "speech", "flowers") is None
    assert reader.named(ALL, AssetKind.MODEL, "vision", "flowers") is None
    assert NamedVersions(store.database).find(KIND, "vision", "flowers", 2) == second
    found = rows.at("datasets/u2.0")
    assert found is not None
    assert (found[0].name, found[1]) == ("flowers", second)
    assert rows.at("datasets/u9") is None
    assert rows.paths() == {"datasets/u1.0", "datasets/u2.0"}


def test_a_version_never_joins_what_others_have(store: Store, rows: DatasetRows) -> None:
    """Unless it is shared so; then it is its owner's all the same."""
    rows.add(ALL, replace(FLOWERS, share="read-write"), new(1.0), told)
    with pytest.raises(Conflict):
        rows.add(only("bob"), replace(FLOWERS, id="d2", owner="bob"), new(2.0, "bob"), told)
    shared = Visible(owner="bob", shared=frozenset({"vision"}), levels=frozenset({"read-write"}))
    made = rows.add(shared, replace(FLOWERS, id="d2", owner="bob"), new(2.0, "bob"), told)
    assert (made.asset, made.number, uploader_of(made)) == ("d1", 2, "bob")
    with pytest.raises(NotFound):
        rows.change(only("bob"), "d1", told, description="mine")
    assert rows.change(shared, "d1", told, description="ours").description == "ours"


def test_a_removed_workspace_takes_its_shares_with_it(store: Store, rows: DatasetRows) -> None:
    rows.add(ALL, replace(FLOWERS, share="read"), new(1.0), told)
    store.database.write(lambda connection: close_workspace(connection, "vision")).result()
    found = rows.called("vision", "flowers")
    assert found is not None
    assert found.share == "none"


def test_one_person_has_so_many(rows: DatasetRows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "MOST", 1)
    rows.add(ALL, FLOWERS, new(1.0), told)
    rows.add(ALL, FLOWERS, new(2.0), told)
    with pytest.raises(Conflict):
        rows.add(ALL, replace(FLOWERS, id="d2", name="other"), new(3.0), told)
    rows.add(ALL, replace(FLOWERS, id="d3", name="other", owner="bob"), new(4.0), told)


def test_paths_are_read_in_pages(rows: DatasetRows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_PAGE", 2)
    wanted = {f"datasets/u{at}.0" for at in range(1, 6)}
    for at in range(1, 6):
        rows.add(ALL, replace(FLOWERS, id=f"d{at}", name=f"flowers-{at % 2}"), new(float(at)), told)
    assert rows.paths() == wanted
