"""Algorithms as rows: what says the same is one version, changed by whom it is shared with so, numbers given once."""

from dataclasses import replace
from typing import Final

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.store.assets import algorithms
from trainmaster.store.assets.algorithms import AlgorithmRows, algorithm_version, document_in, maker_of
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader, NewVersion
from trainmaster.store.cluster_settings import close_workspace

KIND: Final = AssetKind.ALGORITHM
NET: Final = Asset("a1", KIND, "net", "vision", "ann", 1.0)


def new(command: str, by: str = "ann", at: float = 1.0) -> NewVersion:
    return algorithm_version({"command": command}, f"sha256:{command}", 10, by, at)


def told(*_: object) -> AuditEvent:
    return audit_event()


@pytest.fixture
def rows(store: Store) -> AlgorithmRows:
    return AlgorithmRows(store.database)


def test_what_says_the_same_as_the_last_is_no_other_version(store: Store, rows: AlgorithmRows) -> None:
    first = rows.add(only("ann"), NET, new("a"), told)
    assert rows.add(only("ann"), replace(NET, id="a2"), new("a", at=2.0), told) == first
    second = rows.add(only("ann"), replace(NET, id="a3"), new("b", at=3.0), told)
    third = rows.add(only("ann"), replace(NET, id="a4"), new("a", at=4.0), told)
    assert [(one.asset, one.number, maker_of(one)) for one in (first, second, third)] == [
        ("a1", 1, "ann"),
        ("a1", 2, "ann"),
        ("a1", 3, "ann"),
    ]
    reader = AssetReader(store.database)
    found = reader.named(only("ann"), KIND, "vision", "net", 2)
    assert found is not None
    assert document_in(found) == {"command": "b"}
    assert reader.named(only("bob"), KIND, "vision", "net") is None
    assert reader.named(ALL, AssetKind.DATASET, "vision", "net") is None


def test_a_version_never_joins_what_others_have(rows: AlgorithmRows) -> None:
    """Unless it is shared so; then it is its owner's all the same."""
    rows.add(ALL, replace(NET, share="read-write"), new("a"), told)
    with pytest.raises(Conflict):
        rows.add(only("bob"), replace(NET, id="a2", owner="bob"), new("b", "bob"), told)
    shared = Visible(owner="bob", shared=frozenset({"vision"}), levels=frozenset({"read-write"}))
    made = rows.add(shared, replace(NET, id="a2", owner="bob"), new("b", "bob"), told)
    assert (made.asset, made.number, maker_of(made)) == ("a1", 2, "bob")
    with pytest.raises(NotFound):
        rows.change(only("bob"), "a1", told, description="mine")


def test_a_removed_workspace_takes_its_shares_with_it(store: Store, rows: AlgorithmRows) -> None:
    rows.add(ALL, replace(NET, share="read"), new("a"), told)
    store.database.write(lambda connection: close_workspace(connection, "vision")).result()
    found = AssetReader(store.database).find(ALL, KIND, "a1")
    assert found is not None
    assert found.share == "none"


def test_one_person_has_so_many(rows: AlgorithmRows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithms, "MOST", 1)
    rows.add(ALL, NET, new("a"), told)
    rows.add(ALL, NET, new("b"), told)
    with pytest.raises(Conflict):
        rows.add(ALL, replace(NET, id="a2", name="other"), new("c"), told)
    rows.add(ALL, replace(NET, id="a3", name="other", owner="bob"), new("d"), told)
