"""Model versions are immutable and made once per attempt (R138, R149)."""

import threading

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.seeing import ALL, only
from trainmaster.core.errors import Conflict
from trainmaster.store.assets.models import ModelRows, metrics_of, saved_model
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader, NewVersion


def saved(job: str = "t1", attempt: int = 1, at: float = 10.0) -> NewVersion:
    """What an attempt saved."""
    return saved_model("sha256:d" + job, 2**40, 3, at, job, attempt, f"models/{job}", {"accuracy": 0.97})


@pytest.fixture
def models(store: Store) -> ModelRows:
    """No models yet."""
    return ModelRows(store.database)


@pytest.fixture
def reader(store: Store) -> AssetReader:
    """Who reads them for people."""
    return AssetReader(store.database)


def test_an_attempt_makes_one_version_however_often_it_is_registered(models: ModelRows, reader: AssetReader) -> None:
    """A save that is repeated after a crash gives the version it gave before."""
    first = models.register(model_id="m1", name="digits", owner="ann", saved=saved())
    assert (first.reference, first.name, first.source, first.job, first.attempt) == ("m1@1", "digits", "job", "t1", 1)
    assert metrics_of(first) == {"accuracy": 0.97}
    assert models.register(model_id="m9", name="another", owner="bob", saved=saved(at=99.0)) == first
    second = models.register(model_id="m2", name="digits", owner="ann", saved=saved("t2"))
    assert (second.asset, second.number) == ("m1", 2)
    assert reader.versions(ALL, "m1") == [second, first]


def test_racing_saves_get_numbers_without_gaps(models: ModelRows, reader: AssetReader) -> None:
    """Versions count 1, 2, 3... also when jobs end together."""

    def register(number: int) -> None:
        models.register(model_id=f"m{number}", name="digits", owner="ann", saved=saved(f"t{number}"))

    threads = [threading.Thread(target=register, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (model,) = reader.list_assets(ALL, AssetKind.MODEL)
    assert [version.number for version in reader.versions(ALL, model.id)] == list(range(12, 0, -1))
    assert (model.versions, model.latest) == (12, 12)


def test_nobody_adds_to_somebody_elses_model(models: ModelRows, reader: AssetReader) -> None:
    """Whoever owns the model would see the job, its metrics and its files, and whoever made it would not."""
    for number, (name, owner) in enumerate(
        [("digits", "ann"), ("digits", "bob"), ("digits-bob", "ann"), ("digits", "bob"), ("digits-bob", "ann")]
    ):
        models.register(model_id=f"m{number}", name=name, owner=owner, saved=saved(f"t{number}"))
    found = {(model.name, model.owner): model.versions for model in reader.list_assets(ALL, AssetKind.MODEL)}
    assert found == {("digits", "ann"): 1, ("digits-bob", "bob"): 2, ("digits-bob-ann", "ann"): 2}
    assert [model.name for model in reader.list_assets(only("bob"), AssetKind.MODEL)] == ["digits-bob"]
    assert models.find_named("digits", "bob", "default") == reader.find(only("bob"), AssetKind.MODEL, "digits-bob")
    assert models.find_named("digits", "eve", "default") is None


def test_models_are_found_by_id_name_and_part_of_it(models: ModelRows, reader: AssetReader) -> None:
    """Names are unique in a workspace; the newest comes first."""
    models.register(model_id="m1", name="digits", owner="ann", saved=saved("t1", at=1.0))
    models.register(model_id="m2", name="Faces_1", owner="bob", saved=saved("t2", at=2.0))
    models.register(model_id="m3", name="digits", owner="eve", saved=saved("t3", at=3.0), workspace="other")
    assert (
        reader.find(ALL, AssetKind.MODEL, "digits")
        == reader.find(ALL, AssetKind.MODEL, "m1")
        == Asset("m1", AssetKind.MODEL, "digits", "default", "ann", 1.0, changed_at=1.0, versions=1, latest=1)
    )
    assert [model.id for model in reader.list_assets(ALL, AssetKind.MODEL)] == ["m3", "m2", "m1"]
    assert [model.id for model in reader.list_assets(ALL, AssetKind.MODEL, "s_1", "default")] == ["m2"]
    assert [model.id for model in reader.list_assets(ALL, AssetKind.MODEL, "DIGITS", workspace="default")] == ["m1"]
    assert reader.find(ALL, AssetKind.MODEL, "nothing") is None
    with pytest.raises(Conflict):
        models.register(model_id="m1", name="new", owner="ann", saved=saved("t5"))
