"""Object storage as an input of jobs, from who keeps a connection to a job that reads it (R16, R146, R240, R249, B8):
from a real S3 server, and the keys are in no answer, no file and no command line.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.fixtures.api_contract import BASE
from tests.fixtures.stores import BUCKET, HERE, KEY_ID, SECRET, Store, served
from tests.scenario.stage import ADMIN, Stage, spec
from tests.scenario.test_secrets import ROLES, everything, refused
from trainmaster.access.roles import Principal
from trainmaster.answers import ConnectionView
from trainmaster.api.app import create_app
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import InvalidSpec, NotFound
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken
from trainmaster.storage.objects.bucket import StoreTarget

ANN: Final = Principal("ann", memberships=(("vision", "member"),))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with served(tmp_path_factory.mktemp("store") / "s3") as one:
        yield one


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A platform that may go to the machine's own loopback."""
    async with Stage(tmp_path / "home", {"storage": {"allow": [HERE]}}) as stage:
        yield stage


async def kept(stage: Stage, store: Store, name: str = "data", workspace: str = "default", **changed: str) -> Any:
    return await stage.platform.storage.put(workspace, name, store.target(**changed), ADMIN)


def reads(name: str, ref: str, text: str = "cat /dataset/a.txt", **fields: Any) -> dict[str, Any]:
    return spec(name, text, inputs=[{"s3": ref}], **fields)


async def test_a_job_reads_what_lies_below_a_prefix_and_nothing_shows_the_keys(stage: Stage, store: Store) -> None:
    app = create_app(stage.platform)
    store.put("set/a.txt", "hello from far away\n")
    store.put("set/deep/b.bin", os.urandom(100_000))
    await kept(stage, store, prefix="set")
    text = "cat /dataset/a.txt; wc -c < /dataset/deep/b.bin; touch /dataset/x || echo only to read; env; sleep 1"
    job = await stage.submit(reads("uses", "data", text))
    await stage.running(job, "only to read")
    found = await everything(app, stage.home, job)
    assert SECRET.encode() not in found
    assert KEY_ID.encode() not in found
    assert (await stage.ended(job)).state == "succeeded"
    assert stage.log(job).startswith("hello from far away\n100000\n")
    [one] = (await stage.platform.storage.of("default", ADMIN)).items
    assert one.used_at is not None
    again = await stage.submit(reads("again", "data"))
    assert (await stage.ended(again)).state == "succeeded"
    folders = [path for path in (stage.home / "fetched").iterdir() if not path.name.startswith(".") and path.is_dir()]
    assert len(folders) == 1, "what is the same is fetched once"


async def test_each_has_its_place_below_dataset_and_one_object_is_a_folder_with_it(stage: Stage, store: Store) -> None:
    store.put("two/a.txt", "one\n")
    store.put("three/a.txt", "two\n")
    await kept(stage, store)
    inputs = [{"s3": "data/two"}, {"s3": "data/three/a.txt"}, {"s3": "data/two/", "mount": "/in"}]
    job = await stage.submit(spec("all", "cat /dataset/two/a.txt /dataset/a.txt/a.txt /in/a.txt", inputs=inputs))
    assert (await stage.ended(job)).state == "succeeded"
    assert stage.log(job) == "one\ntwo\none\n"


async def test_what_was_fetched_is_read_from_fast_storage_where_a_job_asks(tmp_path: Path, store: Store) -> None:
    """R187: copied once it is here; another state of the same place is another copy."""
    store.put("fast/a.txt", "one\n")
    config = {"storage": {"allow": [HERE]}, "local": {"cache_folder": str(tmp_path / "fast")}}
    async with Stage(tmp_path / "home", config) as stage:
        await kept(stage, store)
        for number, content in enumerate(("one", "two"), 1):
            store.put("fast/a.txt", f"{content}\n")
            text = "cat /dataset/a.txt; grep ' /dataset ' /proc/self/mountinfo"
            job = await stage.submit(spec(content, text, inputs=[{"s3": "data/fast", "cache": True}]))
            assert (await stage.ended(job)).state == "succeeded", stage.log(job)
            assert stage.log(job).startswith(f"{content}\n")
            [folder] = (tmp_path / "fast").iterdir()
            copies = [path.name for path in folder.iterdir() if path.name.startswith("s3-")]
            assert len(copies) == number
            assert any(f"{folder}/{copy}/files" in stage.log(job) for copy in copies)


async def test_how_far_it_is_is_told_while_it_is_fetched_and_a_stop_ends_it(stage: Stage, store: Store) -> None:
    """The store is away: the job waits for it, says so, and is stopped at once; nothing of it is left."""
    store.put("away/a.txt", "hello\n")
    await kept(stage, store)
    store.kill()
    try:
        job = await stage.submit(reads("waits", "data/away"))
        view = await stage.until(job, lambda view: view.reason is not None and "127.0.0.1" in view.reason.message.en)
        assert view.reason is not None
        assert (view.reason.code, view.reason.decided_by) == ("staging", None)
        assert view.reason.message.en.startswith("Fetching inputs: 127.0.0.1 cannot be reached")
        await stage.platform.stop(job, ADMIN)
        assert (await stage.ended(job)).state == "stopped"
        later = await stage.submit(reads("later", "data/away"))
        await stage.until(later, lambda view: view.reason is not None and "reached" in view.reason.message.en)
    finally:
        await asyncio.to_thread(store.start)
    assert (await stage.ended(later)).state == "succeeded", "it came back, and the job went on by itself"


async def test_a_later_attempt_reads_what_the_first_one_read(stage: Stage, store: Store) -> None:
    store.put("moving/a.txt", "before\n")
    await kept(stage, store)
    text = 'cat /dataset/a.txt; while [ ! -e "$TRAINMASTER_OUTPUT_DIR/go" ]; do sleep 0.05; done; false'
    job = await stage.submit(reads("twice", "data/moving", text, retries=1))
    await stage.running(job, "before")
    store.put("moving/a.txt", "after\n")
    stage.output(job, "go").write_text("")
    await stage.ended(job)
    assert stage.log(job, attempt=2) == "before\n"
    new = await stage.submit(reads("new", "data/moving"))
    await stage.ended(new)
    assert stage.log(new) == "after\n"


async def test_a_server_that_starts_anew_goes_on_with_what_waits_and_runs(stage: Stage, store: Store) -> None:
    store.put("kept/a.txt", "hello\n")
    await kept(stage, store)
    runs = await stage.submit(reads("runs", "data/kept", "sleep 2; cat /dataset/a.txt", resources={"cpu": 4.0}))
    await stage.running(runs)
    holds = await stage.submit(spec("holds", "sleep 60", resources={"cpu": 4.0}))
    waits = await stage.submit(reads("waits", "data/kept", resources={"cpu": 4.0}))
    await stage.running(holds)
    await stage.restart()
    assert (await stage.ended(runs)).state == "succeeded"
    assert stage.log(runs) == "hello\n"
    await stage.platform.stop(holds, ADMIN)
    assert (await stage.ended(waits)).state == "succeeded"
    assert not list((stage.home / "fetched" / ".arriving").glob("*"))


async def test_what_was_used_longest_ago_makes_room_and_what_a_job_has_stays(tmp_path: Path, store: Store) -> None:
    for name in ("one", "two", "three"):
        store.put(f"room/{name}/a.txt", os.urandom(700_000))
    config = {"storage": {"allow": [HERE]}, "limits": {"fetched_mib": 1}}
    async with Stage(tmp_path / "home", config) as stage:
        await kept(stage, store)
        first = await stage.submit(reads("first", "data/room/one", "true"))
        assert (await stage.ended(first)).state == "succeeded"
        holds = await stage.submit(reads("holds", "data/room/two", "wc -c < /dataset/a.txt; sleep 60"))
        await stage.running(holds, "700000")
        objects = [path for path in (stage.home / "fetched" / ".objects").rglob("*") if path.is_file()]
        assert len(objects) == 1, "the first made room"
        third = await stage.submit(reads("third", "data/room/three", "true"))
        view = await stage.ended(third)
        assert view.state == "failed"
        assert view.verdict is not None
        assert "no room" in view.verdict.message.en
        assert objects[0].exists()


# ------------------------------------------------------------------------------------------------------------ refusals


async def test_a_preview_looks_whether_it_is_there(stage: Stage, store: Store) -> None:
    """B8: a wrong key, no such bucket, nothing below the prefix, all before the submit."""
    store.put("there/a.txt", "hello\n")
    await kept(stage, store)
    await kept(stage, store, "wrong", secret="another-secret-altogether")
    await kept(stage, store, "nowhere", bucket="elsewhere")
    inputs = [{"s3": "data/there"}, {"s3": "data/thre"}, {"s3": "wrong/x"}, {"s3": "nowhere"}, {"s3": "none/y"}]
    assert await refused(stage, spec("looks", inputs=inputs)) == {
        "inputs.1.s3": "store_nothing_there",
        "inputs.2.s3": "store_key_wrong",
        "inputs.3.s3": "store_no_bucket",
        "inputs.4.s3": "no_such_connection",
    }


async def test_what_is_written_wrongly_is_told_at_once(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    store.put("there/a.txt", "hello\n")
    wrong = [
        {"s3": "data/../x", "mount": "/a"},
        {"s3": "data//x", "mount": "/b"},
        {"s3": "-data", "mount": "/c"},
        {"s3": "data/there", "dataset": "digits", "mount": "/d"},
        {"s3": "data/there", "mount": "/e", "read_only": False},
    ]
    for at, (item, code) in enumerate(
        zip(
            wrong,
            ("stored_place_not_plain", "stored_place_not_plain", "bad_stored_place", "several_sources",
             "stored_place_not_writable"),
            strict=True,
        )
    ):  # fmt: skip
        with pytest.raises(InvalidSpec) as error:
            await stage.platform.submit({"spec": spec("wrong", inputs=[item])}, ADMIN, None)
        assert code in {one.code for one in error.value.problems}, at


async def test_a_store_in_the_own_network_is_refused_until_the_administrator_allows_it(
    tmp_path: Path, store: Store
) -> None:
    """At connect, in the check and before a submit; the words name the address and the setting."""
    async with Stage(tmp_path / "home", {"storage": {"allow": ["localhost"]}}) as stage:
        with pytest.raises(InvalidSpec) as error:
            await kept(stage, store)
        assert [one.code for one in error.value.problems] == ["store_not_https"]
        await kept(stage, store, endpoint="https://127.0.0.1:9")
        [step] = (await stage.platform.storage.check("default", "data", ADMIN)).steps
        assert step.wrong is not None
        assert step.remedy is not None
        assert step.wrong.en == "127.0.0.1 is at 127.0.0.1, in a network that is not public"
        assert "allow in [storage] of config.toml" in step.remedy.en
        found = await refused(stage, reads("looks", "data"))
        assert found == {"inputs.0.s3": "store_address_refused"}
        await kept(stage, store, "named", endpoint=f"http://localhost:{store.port}")
        assert (await stage.platform.storage.check("default", "named", ADMIN)).ok


async def test_a_connection_of_another_workspace_is_one_that_does_not_exist(stage: Stage, store: Store) -> None:
    for name in ("vision", "speech"):
        await stage.platform.administer.put_workspace(Workspace(name), ADMIN)
    await kept(stage, store, "theirs", "speech")
    document = reads("wants", "theirs/x", workspace="vision")
    assert await refused(stage, document, ANN) == {"inputs.0.s3": "no_such_connection"}
    document["workspace"] = "speech"
    assert await refused(stage, document, ANN) == {"workspace": "not_in_workspace"}, "nothing of its connections"
    storage, target = stage.platform.storage, store.target()
    for place in ("speech", "nowhere"):
        for ask in (
            storage.of(place, ANN),
            storage.put(place, "theirs", target, ANN),
            storage.check(place, "theirs", ANN),
            storage.drop(place, "theirs", ANN),
        ):
            with pytest.raises(NotFound):
                await ask
    with pytest.raises(NotFound):
        await storage.check("vision", "theirs", ANN)


async def test_a_connection_that_is_deleted_before_the_start_fails_the_job_in_words(stage: Stage, store: Store) -> None:
    store.put("gone/a.txt", "hello\n")
    await kept(stage, store)
    holds = [await stage.submit(spec("holds", "sleep 60", resources={"cpu": 4.0})) for _ in range(2)]
    waits = await stage.submit(reads("waits", "data/gone", resources={"cpu": 4.0}))
    await asyncio.gather(*(stage.running(job) for job in holds))
    await stage.platform.storage.drop("default", "data", ADMIN)
    await stage.platform.stop(holds[0], ADMIN)
    view = await stage.ended(waits)
    assert view.state == "failed"
    assert view.verdict is not None
    assert "There is no storage connection data in workspace default" in view.verdict.message.en


async def test_a_token_carries_the_use_of_connections_only_where_it_says_so(stage: Stage, store: Store) -> None:
    store.put("there/a.txt", "hello\n")
    await kept(stage, store)
    less = Principal("admin", "admin", scopes=frozenset({"jobs:read", "jobs:write", "jobs:submit"}))
    assert await refused(stage, reads("uses", "data/there"), less) == {"inputs.0.s3": "connections_not_permitted"}


BAD: Final[dict[str, tuple[dict[str, str], str]]] = {
    "no scheme": ({"endpoint": "s3.example.org"}, "bad_store_endpoint"),
    "path": ({"endpoint": "https://s3.example.org/bucket"}, "bad_store_endpoint"),
    "password": ({"endpoint": f"https://me:{SECRET}@s3.example.org"}, "bad_store_endpoint"),
    "file": ({"endpoint": "file:///etc/passwd"}, "bad_store_endpoint"),
    "port": ({"endpoint": "https://s3.example.org:99999"}, "bad_store_endpoint"),
    "query": ({"endpoint": "https://s3.example.org/?a=b"}, "bad_store_endpoint"),
    "plain": ({"endpoint": "http://93.184.216.34"}, "store_not_https"),
    "short bucket": ({"bucket": "b"}, "bad_store_bucket"),
    "bucket of another": ({"bucket": "a/../b"}, "bad_store_bucket"),
    "bucket as address": ({"bucket": "192.168.1.1"}, "bad_store_bucket"),
    "prefix": ({"prefix": "a/../b"}, "bad_store_prefix"),
    "region": ({"region": "us east"}, "bad_store_region"),
    "no key": ({"key_id": ""}, "bad_store_key"),
    "lines": ({"secret": f"{SECRET}\n{SECRET}"}, "bad_store_key"),
}


@pytest.mark.parametrize("case", BAD)
async def test_a_connection_that_cannot_be_is_refused_without_its_keys(fake: Stage, case: str) -> None:
    changed, code = BAD[case]
    known = {"endpoint": "https://s3.example.org", "region": "", "bucket": BUCKET, "prefix": ""}
    target = StoreTarget(**{**known, "key_id": KEY_ID, "secret": SECRET, **changed})
    with pytest.raises(InvalidSpec) as error:
        await fake.platform.storage.put("default", "data", target, ADMIN)
    assert [one.code for one in error.value.problems] == [code]
    assert SECRET not in str([one.to_json() for one in error.value.problems])
    assert (await fake.platform.storage.of("default", ADMIN)).items == []


# ------------------------------------------------------------------------------------------------------ over the wire

SETS: Final = (200, 200, 200, 204)
MAY: Final = {
    "admin": SETS,
    "owner": SETS,
    "leader": SETS,
    "member": (200, 403, 200, 403),
    "viewer": (403, 403, 403, 403),
    "stranger": (404, 404, 404, 404),
}
"""What listing, setting, checking and deleting answer to whom."""


async def test_who_may_do_what_with_connections(stage: Stage, store: Store) -> None:
    platform = stage.platform
    for name in ("vision", "speech"):
        await platform.administer.put_workspace(Workspace(name), ADMIN)
    for who in MAY:
        if who != "admin":
            place = ("vision", ROLES[who]) if who in ROLES else ("speech", "owner")
            await platform.accounts.add(NewPerson(who, workspace=place[0], workspace_role=place[1]), ADMIN)
    app = create_app(platform)
    for who, answers in MAY.items():
        await kept(stage, store, workspace="vision")
        token = (await platform.credentials.create(ADMIN, WantedToken("t", user=who))).token
        assert await tried(app, token, store) == answers, who


async def tried(app: Any, token: str, store: Store) -> tuple[int, ...]:
    place, target = "/api/v1/workspaces/vision/storage", store.target()
    body = {"endpoint": target.endpoint, "bucket": BUCKET, "key_id": KEY_ID, "secret": SECRET}
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE, headers=headers) as client:
        answers = [
            await client.get(place),
            await client.put(f"{place}/data", json=body),
            await client.post(f"{place}/data/check"),
            await client.delete(f"{place}/data"),
        ]
    for answer in answers:
        assert SECRET not in answer.text
        assert KEY_ID not in answer.text
    return tuple(answer.status_code for answer in answers)


async def test_a_check_leaves_nothing_and_tells_where_it_failed(stage: Stage, store: Store, tmp_path: Path) -> None:
    await kept(stage, store, prefix="checked")
    found = await stage.platform.storage.check("default", "data", ADMIN)
    assert (found.ok, [one.step for one in found.steps]) == (True, ["list", "write", "read", "delete"])
    assert not [path for path in (store.bucket / "checked").rglob("*") if path.is_file()]
    with served(tmp_path / "s3", read_only=True) as other:
        await kept(stage, other, "read-only")
        found = await stage.platform.storage.check("default", "read-only", ADMIN)
    assert (found.ok, [one.wrong is None for one in found.steps]) == (False, [True, False])
    found = await stage.platform.storage.check("default", "read-only", ADMIN)
    assert found.steps[0].wrong is not None
    assert "cannot be reached" in found.steps[0].wrong.en


@pytest.mark.parametrize("body", [{"secret": [SECRET]}, {"secrt": SECRET}, [SECRET], SECRET])
async def test_a_body_that_cannot_be_read_is_refused_without_being_told(fake: Stage, body: Any) -> None:
    app = create_app(fake.platform)
    token = (fake.home / "secrets" / "cli-token").read_text().strip()
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE, headers=headers) as client:
        answer = await client.put("/api/v1/workspaces/default/storage/data", json=body)
    assert answer.status_code == 422
    assert SECRET not in answer.text


def test_what_is_answered_has_no_field_for_a_key() -> None:
    assert not {"key", "key_id", "secret", "sealed"} & set(ConnectionView.__struct_fields__)


@pytest.mark.parametrize("how", ["warn", "refuse"])
async def test_data_in_another_region_is_told_or_refused_at_the_submit(tmp_path: Path, store: Store, how: str) -> None:
    """R17: inputs and outputs; a bucket of which nobody says where it is, and one in the region, are used."""
    settings: dict[str, dict[str, Any]] = {"storage": {"allow": [HERE], "region": "cn-north-1", "other_regions": how}}
    async with Stage(tmp_path / "home", settings) as stage:
        store.put("near/a.txt", "a")
        await kept(stage, store, "far", region="cn-south-1")
        await kept(stage, store, "near", region="cn-north-1")
        await kept(stage, store, "somewhere")
        fine = reads("fine", "near/near", "true", outputs=[{"s3": "somewhere/runs/{id}"}], model={"save": False})
        preview = await stage.platform.preview({"spec": fine}, ADMIN)
        assert (preview.ok, preview.warnings) == (True, [])
        document = reads("crosses", "far/near", "true", outputs=[{"s3": "far/runs/{id}"}], model={"save": False})
        preview = await stage.platform.preview({"spec": document}, ADMIN)
        told = {one.path: one.code for one in (preview.warnings if how == "warn" else preview.problems)}
        assert told == dict.fromkeys(("inputs.0.s3", "outputs.0.s3"), "store_in_other_region")
        if how == "refuse":
            assert await refused(stage, document) == told
        else:
            assert (await stage.ended(await stage.submit(document))).state == "succeeded"
