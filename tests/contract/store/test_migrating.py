"""A store of a release before becomes what a new one is, with everything in it; on both databases."""

import json
from typing import Any, Final

import pytest
from sqlalchemy import Connection, inspect

from tests.contract.store.conftest import Store
from tests.fixtures.histories import History, life, new_job
from tests.fixtures.older_stores import make_older, model, model_version
from tests.fixtures.seeing import ALL, only
from trainmaster.core.records import Resources, Role
from trainmaster.store import tables
from trainmaster.store.assets.models import ModelRows, metrics_of, saved_model
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader, AssetVersion
from trainmaster.store.jobs.job_query import JobQuery

MODELS = (
    {"id": "m1", "workspace": "default", "name": "digits", "owner": "ann", "created_at": 10.0},
    {"id": "m2", "workspace": "vision", "name": "digits", "owner": "bob", "created_at": 30.0},
    {"id": "m3", "workspace": "default", "name": "数据 'n' :x", "owner": "eve", "created_at": 40.5},
    {"id": "m4", "workspace": "default", "name": "none-yet", "owner": "eve", "created_at": 50.0},
)
VERSIONS = tuple(
    {
        "model": model,
        "version": number,
        "digest": f"sha256:{model}{number}",
        "size_bytes": 2**40 + number,
        "files": 3,
        "created_at": 10.0 * number,
        "job": f"t-{model}-{number}",
        "attempt": number,
        "path": f"models/{model}/{number}",
        "metrics": metrics,
    }
    for model, number, metrics in (
        ("m1", 1, "{}"),
        ("m1", 2, '{"accuracy":0.97,"loss":1e-05}'),
        ("m2", 1, '{"a:b \\" ":1.0}'),
        ("m3", 7, '{"cut'),
    )
)


_INDEXES: Final = {
    "sqlite": "SELECT m.name, coalesce(i.name, '(expression)'), i.desc"
    " FROM sqlite_master m, pragma_index_xinfo(m.name) i"
    " WHERE m.type = 'index' AND m.tbl_name IN ('job', 'asset') AND i.key ORDER BY m.name, i.seqno",
    "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('job', 'asset') ORDER BY indexname",
}


def shape(connection: Connection) -> dict[str, Any]:
    """Return what is stored in which table, what is unique there, and by what jobs and assets are found."""
    looked = inspect(connection)
    indexes = connection.exec_driver_sql(_INDEXES[connection.dialect.name]).all()
    return {"indexes": [tuple(row) for row in indexes]} | {
        table: {
            "columns": {one["name"]: (str(one["type"]), one["nullable"]) for one in looked.get_columns(table)},
            "key": looked.get_pk_constraint(table)["constrained_columns"],
            "unique": sorted((str(one["name"]), *one["column_names"]) for one in looked.get_unique_constraints(table)),
        }
        for table in looked.get_table_names()
        if table != "alembic_version"
    }


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection")  # SQLite shows no index of an expression
@pytest.mark.parametrize("schema", range(1, tables.SCHEMA))
def test_a_store_of_any_schema_becomes_what_a_new_one_is(store: Store, schema: int) -> None:
    """Jobs and tables; the same for who comes from the first release and who comes from the last."""
    store.keep(*life(1).changes)
    with store.database.read() as connection:
        new = shape(connection)
    store.database.write(lambda connection: make_older(connection, schema)).result(60)
    with store.database.read() as connection:
        assert shape(connection) != new
    again = store.reopen()
    with again.database.read() as connection:
        assert shape(connection) == new
    assert len(again.reader.list_jobs(ALL, JobQuery()).items) == 1
    again.database.close()


def test_jobs_of_the_release_before_are_found_by_what_they_run(store: Store) -> None:
    """R198, R200: by commands, parameters and labels, and in order of their cards; a row or document that nobody can
    read hinders nothing.
    """
    gpus = {1: 4, 2: 0, 3: 8}
    for seq, count in gpus.items():
        job = new_job(seq, roles=(Role("worker", 2, Resources(gpu=count)),), labels=(("Round", str(seq)),))
        role = {"command": f"python Train-{seq}.py", "parameters": {"lr": 0.1}, "flavors": ["one", "two"]}
        document = json.dumps({"roles": [role], "algorithm": "net@2", "model": {"name": "kept"}})
        store.keep(*History(seq * 20).submit(job).changes, specs={job.spec_digest: document})
    for sql in (
        "UPDATE job SET record = '{' WHERE seq = 2",
        "UPDATE spec SET document = '[' WHERE digest = 'sha256:3'",
    ):
        store.database.write(lambda c, sql=sql: c.exec_driver_sql(sql).close()).result(60)  # type: ignore[misc]
    store.database.write(lambda connection: make_older(connection, 8)).result(60)
    again = store.reopen()

    def found(**asked: Any) -> list[int]:
        return [job.seq for job in again.reader.list_jobs(ALL, JobQuery(**asked)).items]

    assert found(order="-gpus") == [3, 1]
    assert found(q="train-1.py --lr=0.1") == [1]
    assert found(q="round=3") == [3]
    assert found(q="train-3") == []
    assert found(algorithm="net") == found(flavor="two") == found(output="kept") == [1]
    again.database.close()


def test_every_model_of_the_release_before_is_an_asset(store: Store) -> None:
    """Names, numbers, digests, places and metrics; the next save counts on, and one that is repeated finds what it
    made.
    """

    def before(connection: Connection) -> None:
        make_older(connection, 6)
        connection.execute(model.insert(), list(MODELS))
        connection.execute(model_version.insert(), list(VERSIONS))

    store.database.write(before).result(60)
    again = store.reopen()
    reader, rows = AssetReader(again.database), ModelRows(again.database)
    numbers = {one["id"]: [v["version"] for v in VERSIONS if v["model"] == one["id"]] for one in MODELS}
    assert reader.list_assets(ALL, AssetKind.MODEL) == [
        Asset(
            **one,
            kind=AssetKind.MODEL,
            share="none",
            changed_at=max([v["created_at"] for v in VERSIONS if v["model"] == one["id"]], default=one["created_at"]),
            versions=len(numbers[one["id"]]),
            latest=max(numbers[one["id"]], default=0),
        )
        for one in reversed(MODELS)
    ]
    assert [one.id for one in reader.list_assets(only("bob"), AssetKind.MODEL)] == ["m2"]
    told = [{}, {"accuracy": 0.97, "loss": 1e-05}, {'a:b " ': 1.0}, {}]
    for old, metrics in zip(VERSIONS, told, strict=True):
        found = rows.made_by(old["job"], old["attempt"])
        assert found == AssetVersion(
            asset=old["model"],
            name=next(one["name"] for one in MODELS if one["id"] == old["model"]),
            number=old["version"],
            digest=old["digest"],
            size_bytes=old["size_bytes"],
            files=3,
            created_at=old["created_at"],
            source="job",
            job=old["job"],
            attempt=old["attempt"],
            path=old["path"],
            about={} if old["model"] == "m3" else {"metrics": metrics},
            workspace=next(one["workspace"] for one in MODELS if one["id"] == old["model"]),
        )
        assert metrics_of(found) == metrics
        assert found in reader.versions(ALL, old["model"])
    saved = saved_model("sha256:n", 1, 1, 99.0, "t-m1-2", 2, "models/m1/2")
    assert rows.register(model_id="m9", name="digits", owner="ann", saved=saved).reference == "m1@2"
    saved = saved_model("sha256:n", 1, 1, 99.0, "t9", 1, "models/m1/3")
    assert rows.register(model_id="m9", name="digits", owner="ann", saved=saved).reference == "m1@3"
    again.database.close()
