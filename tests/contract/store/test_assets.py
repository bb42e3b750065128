"""Versions of assets: immutable, numbered from 1, one for each attempt; seen by whom `Visible` says."""

from collections import Counter
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.store.conftest import Store
from tests.fixtures.examples import examples
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import NOTHING
from trainmaster.core.errors import Conflict
from trainmaster.store.assets.versions import (
    Asset,
    AssetKind,
    AssetReader,
    AssetSource,
    AssetVersion,
    NewVersion,
    add_version,
    version_of,
)

MODEL: Final = AssetKind.MODEL
NEW: Final = NewVersion("sha256:d", 2**40, 3, 10.0, AssetSource.JOB, "models/x", "t1", 1, {"metrics": {"loss": 0.5}})
DIGITS: Final = Asset("a1", MODEL, "digits", "default", "ann", 10.0)


def add(store: Store, wanted: Asset, new: NewVersion) -> AssetVersion:
    """Store a version."""
    return store.database.write(lambda connection: add_version(connection, wanted, new)).result(60)


def test_a_version_says_where_it_came_from_and_what_is_known_of_it(store: Store) -> None:
    first = add(store, DIGITS, NEW)
    assert first == AssetVersion(
        "a1",
        "digits",
        1,
        "sha256:d",
        2**40,
        3,
        10.0,
        "job",
        "t1",
        1,
        "models/x",
        {"metrics": {"loss": 0.5}},
        "default",
    )
    assert first.reference == "a1@1"
    reader = AssetReader(store.database)
    assert reader.list_assets(ALL, MODEL) == [replace(DIGITS, changed_at=10.0, versions=1, latest=1)]
    with store.database.read() as connection:
        assert version_of(connection, "t1", 1) == first
        assert version_of(connection, "t1", 2) is None


def test_a_version_may_have_been_made_by_no_job(store: Store) -> None:
    """Any number of them: only what attempts make is told apart by who made it."""
    new = replace(NEW, job=None, attempt=None)
    assert [add(store, DIGITS, new).number for _ in range(3)] == [1, 2, 3]
    assert {(one.job, one.attempt) for one in AssetReader(store.database).versions(ALL, "a1")} == {(None, None)}


def test_no_version_joins_an_asset_of_somebody_else(store: Store) -> None:
    """The name is taken, and nothing of what was refused is left."""
    add(store, DIGITS, NEW)
    with pytest.raises(Conflict):
        add(store, replace(DIGITS, id="a2", owner="bob"), replace(NEW, job="t2"))
    reader = AssetReader(store.database)
    assert [(one.id, one.versions) for one in reader.list_assets(ALL, MODEL)] == [("a1", 1)]
    with store.database.read() as connection:
        assert version_of(connection, "t2", 1) is None


def test_who_may_not_see_an_asset_sees_no_version_of_it(store: Store) -> None:
    add(store, DIGITS, NEW)
    reader = AssetReader(store.database)
    for visible, seen in ((ALL, True), (only("ann"), True), (only("bob"), False), (NOTHING, False)):
        assert [one.id for one in reader.list_assets(visible, MODEL)] == ["a1"] * seen
        assert [one.number for one in reader.versions(visible, "a1")] == [1] * seen
        for ref in ("a1", "digits"):
            assert (reader.find(visible, MODEL, ref) is not None) == seen


ATTEMPTS: Final = st.tuples(
    st.sampled_from(["digits", "faces"]),
    st.sampled_from(["ann", "bob"]),
    st.integers(0, 4) | st.none(),
    st.integers(1, 2),
)


def test_versions_never_change_and_count_from_1(store: Store) -> None:
    """Whatever is registered in whatever order, once or again."""
    reader, turn = AssetReader(store.database), iter(range(10**6))

    @settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
    @given(st.lists(ATTEMPTS, max_size=12))
    def holds(registered: list[tuple[str, str, int | None, int]]) -> None:
        workspace = f"w{next(turn)}"
        made: dict[Any, AssetVersion] = {}
        for at, (name, owner, job, attempt) in enumerate(registered):
            wanted = Asset(f"{workspace}-{at}", MODEL, f"{name}-{owner}", workspace, owner, float(at))
            who = (None, None) if job is None else (f"{workspace}-t{job}", attempt)
            new = replace(
                NEW, job=who[0], attempt=who[1], digest=f"sha256:{at}", created_at=float(at), about={"at": at}
            )
            version = add(store, wanted, new)
            key = at if job is None else who
            assert version == made.setdefault(key, version)
        assets = reader.list_assets(ALL, MODEL, workspace=workspace)
        stored = [version for one in assets for version in reader.versions(ALL, one.id)]
        assert sorted(stored, key=str) == sorted(made.values(), key=str)
        counted = Counter(version.asset for version in stored)
        for one in assets:
            assert one.versions == one.latest == counted[one.id] > 0
            numbers = [version.number for version in stored if version.asset == one.id]
            assert numbers == list(range(one.latest, 0, -1))

    holds()
