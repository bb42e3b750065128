"""Data sets: uploaded, read by jobs inside the sandbox, shared, deleted; models as inputs of the next job (R27, R28,
R47, R51, R138, R143).
"""

import itertools
import os
from pathlib import Path
from typing import Final

import pytest

from tests.fixtures.bins import emptied
from tests.fixtures.people import person
from tests.fixtures.uploads import begun, listed, sent, sha, uploaded
from tests.scenario.stage import ADMIN, Stage, fake_spec, spec
from tests.scenario.test_matrix import HIDDEN, MAY, READ, SHARE, WRITE, Lab, lab
from trainmaster.api.policy import PREFIX, PolicyRoute
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.assets.dataset_uploads import MOST, WantedUpload
from trainmaster.storage.datasets.building import contents_folder
from trainmaster.store.assets.versions import AssetQuery

__all__ = ["lab"]  # a fixture

ANN, BOB = person("ann", "vision"), person("bob", "vision")
STRANGER = person("stranger", "speech")
FLOWERS: Final = {"labels.txt": b"daisy rose\n", "train/a.bin": b"a" * 3000, "train/b.bin": b"a" * 3000}
LARGE: Final = os.urandom(3 << 20)


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    """A cluster with two workspaces."""
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


async def test_a_job_reads_a_version_at_dataset_and_saves_a_model_that_the_next_one_reads(stage: Stage) -> None:
    """R27, R47, R51, R138, R143: only to read; the latest version is settled when the job is submitted."""
    made = await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    assert (made.name, made.version.version, made.version.files) == ("flowers", 1, 3)
    text = (
        "cat $TRAINMASTER_DATASET_DIR/labels.txt; ls /dataset/train; touch /dataset/x || echo kept; "
        "cp /dataset/labels.txt /model/w.txt"
    )
    first = await stage.submit(spec("train", text, inputs=[{"dataset": "flowers"}]))
    view = await stage.ended(first)
    assert view.state == "succeeded", view.verdict
    assert "daisy rose\na.bin\nb.bin\n" in stage.log(first)
    assert "kept" in stage.log(first)
    assert view.spec["inputs"] == [{"dataset": "flowers@1", "mount": "/dataset", "read_only": True}]
    text = 'cat "$TRAINMASTER_PRETRAIN_DIR/w.txt" /pretrain/train/w.txt; touch /pretrain/train/x || echo kept'
    second = await stage.submit(spec("tune", text, inputs=[{"model": "train"}]))
    view = await stage.ended(second)
    assert view.state == "succeeded", stage.log(second)
    assert "daisy rose\ndaisy rose\n" in stage.log(second)
    assert "kept" in stage.log(second)
    assert view.spec["inputs"] == [{"model": "train@1", "mount": "/pretrain/train", "read_only": True}]
    await uploaded(stage.platform, ADMIN, "flowers", {"labels.txt": b"tulip\n"})
    copy = await stage.platform.clone(first, ADMIN, {})
    assert (await stage.view(copy.id)).spec["inputs"][0]["dataset"] == "flowers@1"


async def test_labels_are_a_version_at_the_place_of_the_manual(stage: Stage) -> None:
    """R142: labels are a data set of their own, of which a job has the version that it names, read-only."""
    await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    await uploaded(stage.platform, ADMIN, "flowers-labels", {"labels.json": b'{"a": "rose"}\n'})
    await uploaded(stage.platform, ADMIN, "flowers-labels", {"labels.json": b'{"a": "daisy"}\n'})
    place = "/workspace/anno_dataset/flowers/annotation"
    inputs = [
        {"dataset": "flowers", "mount": "/workspace/dataset/private/flowers"},
        {"dataset": "flowers-labels@1", "mount": place},
    ]
    text = f"cat {place}/labels.json; ls /workspace/dataset/private/flowers/train; touch {place}/x || echo kept"
    job = await stage.submit(spec("labelled", text, inputs=inputs))
    view = await stage.ended(job)
    assert view.state == "succeeded", stage.log(job)
    assert stage.log(job).startswith('{"a": "rose"}\na.bin\nb.bin\n')
    assert "kept" in stage.log(job)
    assert view.spec["inputs"][1] == {"dataset": "flowers-labels@1", "mount": place, "read_only": True}


async def test_each_content_is_kept_once_and_what_is_there_is_not_sent_again(vision: Stage) -> None:
    """R28: hard links that nobody can write; of a second version only what is new is asked for."""
    platform = vision.platform
    made = await uploaded(platform, ANN, "flowers", {**FLOWERS, "large": LARGE}, workspace="vision")
    _, root = await platform.datasets.files("flowers", 1, ANN)
    one, two = (os.stat(Path(root, "train", name)) for name in ("a.bin", "b.bin"))
    assert one.st_ino == two.st_ino
    assert Path(root, "large").read_bytes() == LARGE
    assert all(os.lstat(path).st_mode & 0o222 == 0 for path in Path(root).rglob("*"))
    again = {**FLOWERS, "large": LARGE, "new": b"new"}
    upload = await begun(platform, ANN, "flowers", again, workspace="vision")
    assert upload.missing == [sha(b"new")]
    await sent(platform, ANN, upload, again)
    second, now = await platform.dataset_uploads.commit(upload.id, ANN)
    assert (second.dataset, second.version.version, now) == (made.dataset, 2, True)
    same, now = await platform.dataset_uploads.commit(upload.id, ANN)
    assert (same, now) == (second, False)
    _, other = await platform.datasets.files("flowers", 2, ANN)
    assert os.stat(Path(other, "large")).st_ino == os.stat(Path(root, "large")).st_ino
    assert os.listdir(Path(platform.layout.datasets, ".uploads")) == []


async def test_knowing_the_digest_of_a_file_is_not_having_it(vision: Stage) -> None:
    """Somebody else's content is missing until its bytes came; then it is kept once all the same."""
    platform = vision.platform
    await uploaded(platform, ANN, "flowers", {"secret": LARGE}, workspace="vision")
    upload = await begun(platform, BOB, "mine", {"got": LARGE}, workspace="vision")
    assert upload.missing == [sha(LARGE)]
    await sent(platform, BOB, upload, {"got": LARGE})
    await platform.dataset_uploads.commit(upload.id, BOB)
    inodes = {os.stat(Path(root, name)).st_ino for root, name in (
        ((await platform.datasets.files("flowers", 1, ANN))[1], "secret"),
        ((await platform.datasets.files("mine", 1, BOB))[1], "got"),
    )}  # fmt: skip
    assert len(inodes) == 1


async def test_a_stranger_finds_nothing_of_it(vision: Stage) -> None:
    """A person of another workspace is told what is told of what never was; a job of theirs, too."""
    platform = vision.platform
    made = await uploaded(platform, ANN, "flowers", FLOWERS, workspace="vision")
    upload = await begun(platform, ANN, "flowers", {"x": b"x"}, workspace="vision")
    for who in (STRANGER, BOB):
        for ref in ("flowers", made.dataset):
            with pytest.raises(NotFound):
                await platform.datasets.detail(ref, who)
            with pytest.raises(NotFound):
                await platform.datasets.files(ref, 1, who)
            with pytest.raises(NotFound):
                await platform.datasets.delete(ref, who)
        with pytest.raises(NotFound):
            await platform.dataset_uploads.state(upload.id, who)
        with pytest.raises(NotFound):
            await platform.dataset_uploads.commit(upload.id, who)
        assert (await platform.datasets.page(who, AssetQuery(), 9)).total == 0
    told = []
    for who, workspace in ((STRANGER, "speech"), (BOB, "vision")):
        for name in ("flowers", "nothing"):
            document = {**fake_spec("a"), "workspace": workspace, "inputs": [{"dataset": name}]}
            with pytest.raises(InvalidSpec) as why:
                await platform.submit({"spec": document}, who, None)
            shown = await platform.preview({"spec": document}, who)
            told += [(p.path, p.code, p.args["workspace"] == workspace) for p in why.value.problems]
            told += [(p.path, p.code, True) for p in shown.problems]
    assert set(told) == {("inputs.0.dataset", "no_dataset_for_job", True)}
    with pytest.raises(Conflict):
        await begun(platform, BOB, "flowers", FLOWERS, workspace="vision")
    with pytest.raises(InvalidSpec):
        await begun(platform, STRANGER, "flowers", FLOWERS, workspace="vision")


async def test_it_is_shared_as_templates_are(vision: Stage) -> None:
    """R223: to read, its members give it to jobs; read-write, they upload versions of it; the owner stays who it is."""
    platform = vision.platform
    await uploaded(platform, ANN, "flowers", FLOWERS, workspace="vision", share=JobShare.READ)
    document = {**fake_spec("a", "sleep infinity"), "workspace": "vision", "inputs": [{"dataset": "flowers"}]}
    job, _ = await platform.submit({"spec": document}, BOB, None)
    assert (await vision.view(job.id)).spec["inputs"][0]["dataset"] == "flowers@1"
    for refused in (
        platform.datasets.describe("flowers", BOB, "mine"),
        platform.datasets.share("flowers", BOB, JobShare.NONE),
        begun(platform, BOB, "flowers", FLOWERS, workspace="vision"),
    ):
        with pytest.raises(Forbidden):
            await refused
    await platform.datasets.share("flowers", ANN, JobShare.READ_WRITE)
    second = await uploaded(platform, BOB, "flowers", {"x": b"x"}, workspace="vision")
    assert (second.version.version, second.version.by) == (2, "bob")
    detail = await platform.datasets.describe("flowers", BOB, "two kinds")
    assert (detail.owner, detail.description, detail.latest, detail.may) == ("ann", "two kinds", 2, ["write"])


async def test_what_a_job_needs_that_has_not_ended_is_not_deleted(vision: Stage) -> None:
    """Refused with the job's name; afterwards it goes, its number is never given again, and the disk has its room
    back.
    """
    platform = vision.platform
    await uploaded(platform, ANN, "flowers", FLOWERS, workspace="vision")
    await uploaded(platform, ANN, "flowers", {"large": LARGE}, workspace="vision")
    document = {**fake_spec("needs", "sleep infinity"), "workspace": "vision", "inputs": [{"dataset": "flowers@2"}]}
    job, _ = await platform.submit({"spec": document}, ANN, None)
    for refused in (platform.datasets.delete_version("flowers", 2, ANN), platform.datasets.delete("flowers", ANN)):
        with pytest.raises(Conflict) as why:
            await refused
        assert "needs" in why.value.message
    await platform.datasets.delete_version("flowers", 1, ANN)
    await platform.stop(job.id, ANN)
    await vision.ended(job.id)
    await platform.datasets.delete_version("flowers", 2, ANN)
    detail = await platform.datasets.detail("flowers", ANN)
    assert (detail.latest, detail.versions, detail.history) == (0, 0, [])
    made = await uploaded(platform, ANN, "flowers", {"x": b"x"}, workspace="vision")
    assert made.version.version == 3
    with pytest.raises(InvalidSpec):
        await platform.submit({"spec": document}, ANN, None)
    await platform.datasets.delete("flowers", ANN)
    assert await emptied(platform, ANN) == ["flowers", "flowers@2", "flowers@1"]
    vision.let_pass(3 * 86400.0)
    for step in platform._life._sweeper.steps():
        assert step is None or await step() is None
    kept = [name for folder in Path(contents_folder(platform.layout)).iterdir() for name in os.listdir(folder)]
    assert kept == []
    assert sorted(os.listdir(platform.layout.datasets)) == [".contents", ".uploads"]


async def cut_behind(stage: Stage, upload: str, content: bytes, offset: int) -> None:
    async with stage.platform.dataset_uploads.piece(upload, sha(LARGE), offset, ANN) as piece:
        await piece.write(content)
        raise ConnectionError


async def sent_whole(stage: Stage, upload: str, content: bytes) -> None:
    async with stage.platform.dataset_uploads.piece(upload, sha(LARGE), 0, ANN) as piece:
        await piece.write(content)
        await piece.finish()


async def test_an_upload_goes_on_where_it_was_cut(vision: Stage) -> None:
    """At several points, also by another server on the same home; what came is not sent again."""
    files = {**FLOWERS, "large": LARGE}
    upload = await begun(vision.platform, ANN, "flowers", files, workspace="vision")
    for at in (0, 1, 1 << 20, len(LARGE) - 1):
        state = await vision.platform.dataset_uploads.state(upload.id, ANN)
        have = state.begun.get(sha(LARGE), 0)
        assert have == at
        piece = LARGE[have : {0: 1, 1: 1 << 20}.get(at, len(LARGE) - 1)]
        with pytest.raises(ConnectionError):
            await cut_behind(vision, upload.id, piece, have)
        await vision.restart()
    with pytest.raises(Conflict):
        await vision.platform.dataset_uploads.commit(upload.id, ANN)
    with pytest.raises(Conflict) as why:
        await cut_behind(vision, upload.id, b"", 7)
    assert why.value.code == "piece_elsewhere"
    async with vision.platform.dataset_uploads.piece(upload.id, sha(LARGE), len(LARGE) - 1, ANN) as piece:
        await piece.write(LARGE[-1:])
        assert (await piece.finish()).size_bytes == len(LARGE)
    await sent(vision.platform, ANN, upload, FLOWERS)
    await vision.restart()
    made, now = await vision.platform.dataset_uploads.commit(upload.id, ANN)
    assert (made.version.size_bytes, now) == (sum(map(len, files.values())), True)
    await vision.restart()
    assert await vision.platform.dataset_uploads.commit(upload.id, ANN) == (made, False)


async def test_what_was_sent_is_what_was_said_or_nothing_is_kept(vision: Stage) -> None:
    """Other bytes under a digest, more than was said, what nobody asked for: refused, all of a batch at once."""
    platform = vision.platform
    files = {"a": b"aaaa", "large": LARGE}
    upload = await begun(platform, ANN, "flowers", files, workspace="vision")
    good, listed_one = sha(b"aaaa"), bytes.fromhex(sha(b"aaaa"))
    for body in (
        listed_one + (4).to_bytes(4, "big") + b"bbbb",
        listed_one + (9).to_bytes(4, "big") + b"aaaa",
        bytes(32) + (0).to_bytes(4, "big"),
        b"short",
    ):
        with pytest.raises(InvalidSpec):
            await platform.dataset_uploads.take(upload.id, body, ANN)
    for bad in (LARGE[:-1] + bytes([LARGE[-1] ^ 1]), LARGE + b"more"):
        with pytest.raises(InvalidSpec):
            await sent_whole(vision, upload.id, bad)
    state = await platform.dataset_uploads.state(upload.id, ANN)
    assert (sorted(state.missing), state.begun) == (sorted([good, sha(LARGE)]), {})
    await platform.dataset_uploads.cancel(upload.id, ANN)
    with pytest.raises(NotFound):
        await platform.dataset_uploads.state(upload.id, ANN)
    assert os.listdir(Path(platform.layout.datasets, ".uploads")) == []


async def test_all_that_is_wrong_with_a_list_is_told_at_once_and_nothing_is_begun(vision: Stage) -> None:
    platform = vision.platform
    files = [
        *listed({"good": b""}),
        {"path": "../up", "size": 1, "sha256": "0" * 64},
        {"path": "A/x", "size": 1, "sha256": "1" * 64},
        {"path": "a/y", "size": 1, "sha256": "2" * 64},
        {"path": "out", "link": "../../etc/passwd"},
    ]
    with pytest.raises(InvalidSpec) as why:
        await platform.dataset_uploads.begin(ANN, WantedUpload("flowers", files, "vision"))
    assert {one.code for one in why.value.problems} == {"path_not_plain", "names_collide", "link_leaves_dataset"}
    for name in ("no way!", "", "x" * 31):
        with pytest.raises(InvalidSpec):
            await begun(platform, ANN, name, FLOWERS, workspace="vision")
    for _ in range(MOST):
        await begun(platform, ANN, "flowers", FLOWERS, workspace="vision")
    with pytest.raises(Conflict):
        await begun(platform, ANN, "flowers", FLOWERS, workspace="vision")
    assert len(os.listdir(Path(platform.layout.datasets, ".uploads"))) == MOST


async def test_a_version_that_went_is_a_clear_failure(vision: Stage) -> None:
    """Looked at again when the job starts."""
    platform = vision.platform
    await uploaded(platform, ANN, "flowers", FLOWERS, workspace="vision")
    blocks = await vision.submit(fake_spec("blocks", "sleep infinity", replicas=8, resources={"cpu": 1.0}))
    await vision.running(blocks)
    document = {**fake_spec("waits"), "workspace": "vision", "inputs": [{"dataset": "flowers"}]}
    job, _ = await platform.submit({"spec": document}, ANN, None)
    _, root = await platform.datasets.files("flowers", 1, ANN)
    os.rename(os.path.dirname(root), os.path.dirname(root) + "-gone")
    await platform.stop(blocks, ADMIN)
    ended = await vision.ended(job.id)
    assert (ended.state, ended.verdict.code) == ("failed", "launch_failed")
    assert "flowers@1: the data set no longer exists" in ended.verdict.message.en


NEEDS: Final = {
    ("GET", "/datasets/{ref}"): (READ, None),
    ("PUT", "/datasets/{ref}/favorite"): (READ, None),
    ("DELETE", "/datasets/{ref}/favorite"): (READ, None),
    ("GET", "/datasets/{ref}/versions/{version}/files"): (READ, None),
    ("GET", "/datasets/{ref}/versions/{version}/files/content?path=w"): (READ, None),
    ("GET", "/datasets/{ref}/versions/{version}/download"): (READ, None),
    ("GET", "/datasets/{ref}/versions/{version}/tree"): (READ, None),
    ("GET", "/datasets/{ref}/versions/{version}/contents"): (READ, None),
    ("PATCH", "/datasets/{ref}"): (WRITE, {"description": "of the walk"}),
    ("PUT", "/datasets/{ref}/share"): (SHARE, {"share": "none"}),
    ("PUT", "/datasets/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/datasets/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/datasets/{ref}/versions/{version}"): (WRITE, None),
    ("DELETE", "/datasets/{ref}"): (WRITE, None),
}
"""What a route needs of a data set."""


async def test_the_table_has_every_route_of_a_dataset(lab: Lab) -> None:
    routes = {
        (method, route.path.removeprefix(PREFIX))
        for route in lab.app.app.router.routes
        if isinstance(route, PolicyRoute) and route.path.startswith(f"{PREFIX}/datasets/{{ref}}")
        for method in route.methods or ()
    }
    assert routes == {(method, path.partition("?")[0]) for method, path in NEEDS}


@pytest.mark.parametrize(("who", "level"), [*itertools.product(MAY, range(3))])
async def test_each_may_do_what_the_table_says(lab: Lab, who: str, level: int) -> None:
    """R223 to R228: as with jobs. Who may not see it is told that it is not there."""
    may, share, platform = MAY[who][level], list(JobShare)[level], lab.stage.platform
    async with lab.client(who) as http:
        for at, ((method, path), (need, body)) in enumerate(NEEDS.items()):
            made = await uploaded(platform, ANN, f"d{at}", {"w": b"w"}, workspace="vision", share=share)
            listed = (await http.get(f"{PREFIX}/datasets")).json()["items"]
            assert (made.dataset in {one["id"] for one in listed}) == (READ in may)
            address = PREFIX + path.format(ref=made.dataset, version=1, workspace="*")
            answer = await http.request(method, address, **({} if body is None else {"json": body}))
            if need in may:
                assert answer.is_success, (method, path, answer.text)
            elif may:
                assert answer.status_code == 403, (method, path, answer.text)
            else:
                assert answer.status_code == 404, (method, path, answer.text)
                assert answer.json()["code"] in HIDDEN | {"no_such_dataset"}
