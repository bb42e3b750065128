"""Outputs of jobs that go to object storage while the jobs run (R147, R148, R158, B8), against a real S3 server."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.seeing import ALL
from tests.fixtures.stores import HERE, Store, served
from tests.scenario.stage import ADMIN, Stage, spec
from tests.scenario.test_secrets import refused
from tests.scenario.test_storage import kept
from trainmaster import answers
from trainmaster.core.errors import Conflict, InvalidSpec
from trainmaster.core.sending import SendState
from trainmaster.store.jobs.job_query import JobQuery

WAITS: Final = 'while [ ! -e "$TRAINMASTER_OUTPUT_DIR/go" ]; do sleep 0.05; done'


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with served(tmp_path_factory.mktemp("store") / "s3") as one:
        yield one


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A platform that looks at what jobs wrote all the time."""
    async with Stage(tmp_path / "home", {"storage": {"allow": [HERE], "send_every_s": 0.2}}) as stage:
        stage.platform.context.sending.first_s = 0.2
        yield stage


def writes(name: str, place: str, text: str, **fields: Any) -> dict[str, Any]:
    how = {key: fields.pop(key) for key in ("folder", "if_exists") if key in fields}
    return spec(name, text, outputs=[{"s3": place, **how}], model={"save": False}, **fields)


def there(store: Store, prefix: str) -> dict[str, bytes]:
    """Return what lies below a prefix, by path."""
    root = store.bucket / prefix
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


async def sent(stage: Stage, job: str, state: str = "done") -> answers.OutputTarget:
    """Return what is told of the job's one place once it is in a state, and that is told in its history."""
    kind = {"done": "uploaded", "failed": "upload_failed"}[state]
    await stage.ended(job)
    view = await stage.until(job, lambda view: view.uploads[0].state == state and kind in stage.kinds(job), state)
    return view.uploads[0]


async def test_what_a_job_writes_goes_up_while_it_runs_and_the_rest_after(stage: Stage, store: Store) -> None:
    """Below the prefix of the connection, with the job's name in it; links are not followed, empty files are files."""
    await kept(stage, store, prefix="team")
    secret = stage.home / "config.toml"
    text = (
        'cd "$TRAINMASTER_OUTPUT_DIR"; mkdir -p deep; echo one > deep/first.txt; : > empty; '
        f'ln -s {secret} link; head -c 9000000 /dev/zero > large; {WAITS}; echo two > "中 文+&=.txt"'
    )
    job = await stage.submit(writes("runs", "data/runs/{name}-{id}", text))
    place = f"team/runs/runs-{job}"
    await stage.until(job, lambda _: {"deep/first.txt", "empty", "large"} <= there(store, place).keys(), "uploads")
    view = await stage.until(job, lambda view: view.uploads[0].files == 3, "the count")
    assert (view.state, view.uploads[0].size_bytes, view.uploads[0].place) == (
        "running", 9_000_004, f"data/runs/runs-{job}",
    )  # fmt: skip
    stage.output(job, "go").write_text("")
    done = await sent(stage, job)
    assert there(store, place) == {
        "deep/first.txt": b"one\n", "empty": b"", "go": b"", "large": bytes(9_000_000), "中 文+&=.txt": b"two\n",
    }  # fmt: skip
    assert (done.files, done.size_bytes, done.left_files, done.left_out) == (5, 9_000_008, 0, 1)
    assert done.why is not None
    assert done.why.en == "1 file was not uploaded; the first: link: a symbolic link"
    [event] = [one for one in stage.events(job) if one.kind.value == "uploaded"]
    assert (event.data["files"], event.data["left_out"]) == (5, 1)
    assert not stage.platform.context.sending._open, "finished places are not looked at"


async def test_a_file_that_changes_goes_again_and_one_that_does_not_goes_once(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    text = f'cd "$TRAINMASTER_OUTPUT_DIR"; echo a > a; echo b > b; {WAITS}'
    job = await stage.submit(writes("twice", "data/twice-{id}", text))
    place = f"twice-{job}"
    await stage.until(job, lambda view: view.uploads != [] and view.uploads[0].files == 2, "both")
    untouched = (store.bucket / place / "b").stat().st_mtime_ns
    stage.output(job, "a").write_text("changed\n")
    os.utime(stage.output(job, "b"))  # its time is another, its bytes are not
    await stage.until(job, lambda _: there(store, place).get("a") == b"changed\n", "the change")
    stage.output(job, "go").write_text("")
    assert (await sent(stage, job)).files == 3
    assert (store.bucket / place / "b").stat().st_mtime_ns == untouched


async def test_a_folder_of_the_outputs_and_the_model_go_where_each_is_told(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    text = "mkdir $TRAINMASTER_OUTPUT_DIR/plots; echo p > $TRAINMASTER_OUTPUT_DIR/plots/p; echo o > $TRAINMASTER_OUTPUT_DIR/o; echo m > $TRAINMASTER_MODEL_DIR/m"  # noqa: E501
    outputs = [{"s3": "data/both/plots", "folder": "outputs/plots"}, {"s3": "data/both/model", "folder": "model"}]
    job = await stage.submit(spec("both", text, outputs=outputs))
    await stage.until(job, lambda view: [one.state for one in view.uploads] == ["done", "done"], "both")
    assert there(store, "both") == {"plots/p": b"p\n", "model/m": b"m\n"}


async def test_a_folder_that_leads_elsewhere_sends_nothing_of_there(stage: Stage, store: Store) -> None:
    """A link in the middle of the way, which the job has laid, and one that it lays in place of a folder."""
    await kept(stage, store)
    (stage.home / "private").mkdir()
    (stage.home / "private" / "secret").write_text("secret\n")
    text = f'cd "$TRAINMASTER_OUTPUT_DIR"; ln -s {stage.home} way; mkdir own; echo x > own/x; {WAITS}; rm -r own; ln -s {stage.home}/private own'  # noqa: E501
    outputs = [{"s3": "data/leads/a", "folder": "outputs/way/private"}, {"s3": "data/leads/b", "folder": "outputs/own"}]
    job = await stage.submit(spec("leads", text, outputs=outputs, model={"save": False}))
    await stage.until(job, lambda view: view.uploads != [] and view.uploads[1].files == 1, "x")
    stage.output(job, "go").write_text("")
    await stage.until(job, lambda view: [one.state for one in view.uploads] == ["done", "done"], "both")
    assert there(store, "leads") == {"b/x": b"x\n"}


async def test_a_server_that_starts_anew_goes_on_and_sends_nothing_twice(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    text = f'cd "$TRAINMASTER_OUTPUT_DIR"; for n in 1 2 3; do echo $n > $n; done; {WAITS}; echo 4 > 4'
    job = await stage.submit(writes("anew", "data/anew", text))
    await stage.until(job, lambda view: view.uploads != [] and view.uploads[0].files == 3, "three")
    times = {path.name: path.stat().st_mtime_ns for path in (store.bucket / "anew").iterdir()}
    await stage.platform.close()
    stage.output(job, "go").write_text("")
    stage.platform = stage._build()
    await stage.platform.start()
    assert (await sent(stage, job)).files == 5
    assert {name: (store.bucket / "anew" / name).stat().st_mtime_ns for name in times} == times
    assert stage.kinds(job).count("uploaded") == 1


async def test_a_store_that_is_away_is_waited_for_also_after_the_end(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    job = await stage.submit(writes("away", "data/away", f"echo x > $TRAINMASTER_OUTPUT_DIR/x; {WAITS}"))
    await stage.until(job, lambda view: view.uploads != [] and view.uploads[0].files == 1, "x")
    store.kill()
    try:
        stage.output(job, "go").write_text("")
        await stage.ended(job)
        view = await stage.until(job, lambda view: view.uploads[0].tries > 1, "a second try")
        [one] = view.uploads
        assert (one.state, one.left_files, one.next_at is not None) == ("going", 1, True)
        assert one.why is not None
        assert "cannot be reached" in one.why.en
    finally:
        await asyncio.to_thread(store.start)
    assert (await sent(stage, job)).why is None


async def test_what_failed_is_told_and_tried_again_when_somebody_asks(stage: Stage, store: Store) -> None:
    """The connection was deleted: nothing that waiting would help, so it fails at the job's end."""
    await kept(stage, store)
    job = await stage.submit(writes("fails", "data/fails", f"echo x > $TRAINMASTER_OUTPUT_DIR/x; {WAITS}"))
    await stage.running(job)
    with pytest.raises(Conflict):
        await stage.platform.upload_again(job, ADMIN)
    await stage.platform.storage.drop("default", "data", ADMIN)
    stage.output(job, "go").write_text("")
    one = await sent(stage, job, "failed")
    assert one.why is not None
    assert one.why.en == "There is no storage connection data in workspace default"
    assert there(store, "fails").keys() <= {"x"}
    await kept(stage, store)
    await stage.platform.upload_again(job, ADMIN)
    assert (await sent(stage, job)).files == 2
    assert [kind for kind in stage.kinds(job) if kind.startswith("upload")] == [
        "upload_failed", "upload_asked", "uploaded",
    ]  # fmt: skip
    with pytest.raises(Conflict):
        await stage.platform.upload_again(job, ADMIN)


async def test_it_fails_in_the_end_where_the_store_stays_away(stage: Stage, store: Store) -> None:
    await kept(stage, store, "gone", endpoint="http://127.0.0.1:9")
    stage.platform.context.sending.give_up_s = 0.5
    job = await stage.submit(writes("late", "gone/late", "echo x > $TRAINMASTER_OUTPUT_DIR/x"))
    assert (await sent(stage, job, "failed")).tries > 0


# ----------------------------------------------------------------------------------------- a place that is not empty


async def test_a_place_that_is_not_empty_is_warned_of_or_refused_before_the_submit(stage: Stage, store: Store) -> None:
    """R148, B8: as its document says, in the preview and at the submit; what is fresh by its name is never looked at in
    vain.
    """
    store.put("full/old.txt", "old\n")
    await kept(stage, store)
    for how, code in (("keep", "send_place_kept"), ("overwrite", "send_place_overwritten")):
        preview = await stage.platform.preview({"spec": writes("warns", "data/full", "true", if_exists=how)}, ADMIN)
        assert [(one.path, one.code) for one in preview.warnings] == [("outputs.0.s3", code)]
        assert preview.ok
    document = writes("refuses", "data/full", "true", if_exists="refuse")
    assert await refused(stage, document) == {"outputs.0.s3": "send_place_not_empty"}
    assert await refused(stage, writes("no", "none/x", "true")) == {"outputs.0.s3": "no_such_connection"}
    preview = await stage.platform.preview({"spec": writes("fresh", "data/full/{id}", "true")}, ADMIN)
    assert (preview.ok, preview.warnings) == (True, [])
    job = await stage.submit(writes("warned", "data/full", "true"))
    await sent(stage, job)
    assert [one.code for one in (await stage.view(job)).warnings] == ["send_place_kept"]


async def test_places_of_entries_that_meet_or_are_not_empty_are_warned_of(stage: Stage, store: Store) -> None:
    """R50, R148: of a sweep, whose entries have places of their own by {name}, or should have."""
    store.put("swept/runs-3/old.txt", "old\n")
    store.put("swept/runs-5/old.txt", "old\n")
    await kept(stage, store)

    async def told(place: str, values: int, how: str = "keep") -> list[tuple[str, str]]:
        document = writes("runs", place, "true", if_exists=how) | {"sweep": {"grid": {"lr": [*range(values)]}}}
        found = await stage.platform.sweeps.preview({"spec": document}, ADMIN)
        assert (found.problems, found.job and found.job.warnings) == ([], [])
        return [(one.path, one.code) for one in found.warnings]

    assert await told("data/swept/{name}", 4) == [("entries.3.outputs.0.s3", "send_place_kept")]
    assert await told("data/swept/{name}", 9, "overwrite") == [
        ("entries.3.outputs.0.s3", "send_place_overwritten"),
        ("entries.5.outputs.0.s3", "send_place_overwritten"),
    ]
    assert await told("data/swept/{name}-{id}", 9) == []
    assert await told("data/fresh", 2) == [("outputs.0.s3", "outputs_of_entries_in_one_place")]
    assert await told("data/fresh", 1) == []


async def test_of_many_jobs_every_place_that_must_be_empty_is_judged(stage: Stage, store: Store) -> None:
    """R50, R148, B8: of a thousand entries and of a batch, by few questions to the store; nothing is taken in."""
    await kept(stage, store, prefix="team")
    for key in (
        "must/runs-3/old",
        "must/runs-7/out/deep/old",
        "must/runs-10/",
        "must/runs-900/x",
        "must/runs",
        "must/runsx/y",
    ):
        store.put(f"team/{key}x" if key.endswith("/") else f"team/{key}", "old\n")
    (store.bucket / "team/must/runs-11").mkdir()  # of a folder that is empty

    async def told(place: str) -> set[tuple[str, str]]:
        document = writes("runs", place, "true", if_exists="refuse") | {"sweep": {"grid": {"lr": [*range(1000)]}}}
        began = time.monotonic()
        with pytest.raises(InvalidSpec) as refused:
            await stage.platform.sweeps.submit({"spec": document}, ADMIN, None)
        assert time.monotonic() - began < 20, "a question for each entry"
        found = {(one.path, one.code) for one in refused.value.problems}
        preview = await stage.platform.sweeps.preview({"spec": document}, ADMIN)
        assert (preview.ok, {(one.path, one.code) for one in preview.problems}) == (False, found)
        return found

    code = "send_place_not_empty"
    assert await told("data/must/{name}") == {(f"entries.{at}.outputs.0.s3", code) for at in (3, 7, 10, 900)}
    assert await told("data/must/{name}/out") == {("entries.7.outputs.0.s3", code)}
    items = [{"spec": writes(name, "data/must/{name}", "true", if_exists="refuse")} for name in ("a", "runs-3", "b")]
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.submit_batch([*items, {"spec": {}}], ADMIN, None)
    paths = [one.path for one in refused.value.problems]
    assert "items.1.outputs.0.s3" in paths
    assert not [one for one in paths if one.startswith(("items.0", "items.2"))]
    assert (await stage.platform.jobs(JobQuery(), 10, None, ADMIN)).items == []
    made = await stage.platform.submit_batch([items[0], items[2]], ADMIN, None)
    assert len(made.items) == 2


async def test_keep_leaves_what_was_there_and_overwrite_replaces_it(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    text = f'cd "$TRAINMASTER_OUTPUT_DIR"; echo new > a; echo new > b; {WAITS}; echo newer > a; echo newer > b'
    for how, a in (("keep", b"old\n"), ("overwrite", b"newer\n")):
        store.put(f"{how}/a", "old\n")
        job = await stage.submit(writes(how, f"data/{how}", text, if_exists=how))
        await stage.until(job, lambda view: view.uploads != [] and view.uploads[0].files > 0, "the first")
        stage.output(job, "go").write_text("")
        done = await sent(stage, job)
        assert there(store, how) == {"a": a, "b": b"newer\n", "go": b""}, "its own objects it may replace"
        assert done.left_out == (1 if how == "keep" else 0)
        if done.why is not None:
            assert (
                done.why.en == "1 file was not uploaded; the first: a: an object of this name was there before the job"
            )


async def test_a_place_that_must_be_empty_is_looked_at_again_before_the_start(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    holds = await stage.submit(spec("holds", "sleep 60", resources={"cpu": 4.0}, replicas=2))
    await stage.running(holds)
    waits = await stage.submit(writes("waits", "data/later", "true", if_exists="refuse"))
    store.put("later/x", "somebody was faster\n")
    await stage.platform.stop(holds, ADMIN)
    view = await stage.ended(waits)
    assert (view.state, view.uploads) == ("failed", [])
    assert view.verdict is not None
    assert "data/later is not empty" in view.verdict.message.en


async def test_a_second_attempt_goes_on_where_the_first_one_was(stage: Stage, store: Store) -> None:
    """Also where the place must be empty: what is there is the job's own."""
    await kept(stage, store)
    text = 'cd "$TRAINMASTER_OUTPUT_DIR"; echo $TRAINMASTER_ATTEMPT >> tries; test $(wc -l < tries) = 2'
    job = await stage.submit(writes("twice", "data/attempts", text, if_exists="refuse", retries=1))
    assert (await sent(stage, job)).files == 1
    assert (await stage.view(job)).state == "succeeded"
    assert len(there(store, "attempts")["tries"].splitlines()) == 2


async def test_the_logs_of_all_attempts_are_kept_where_the_job_says(stage: Stage, store: Store) -> None:
    """R158: whole, with the names of a download; and a rule that removes logs here removes nothing there."""
    await kept(stage, store)
    text = 'echo "attempt $TRAINMASTER_ATTEMPT"; echo x > /tmp/x; test $TRAINMASTER_ATTEMPT = 2'
    outputs = [{"s3": "data/logs/{id}", "folder": "logs"}]
    job = await stage.submit(spec("tells", text, outputs=outputs, model={"save": False}, retries=1))
    done = await sent(stage, job)
    found = there(store, f"logs/{job}")
    assert found == {f"attempt-{one}/task0-0.log": f"attempt {one}\n".encode() for one in (1, 2)}
    assert (done.folder, done.files, done.left_out) == ("logs", 2, 0)

    log, later = Path(stage.platform.context.layout.task(job, 2, 0, 0).log), stage.platform.context.clock() + 7200
    log.write_text("removed by a rule\n")
    os.utime(log, (later, later))
    sending = stage.platform.context.sending
    [target] = sending.rows.of_job(stage.platform.context.reader.find(ALL, job).seq)
    sending.rows.put(replace(target, state=SendState.FAILED))
    assert await sending.again(target.seq) == 1
    await stage.until(job, lambda view: view.uploads[0].state == "done", "done again")
    assert there(store, f"logs/{job}") == found


async def test_what_is_written_wrongly_is_told_at_once(stage: Stage, store: Store) -> None:
    wrong: dict[str, tuple[dict[str, str], str]] = {
        "path": ({"s3": "data/../x"}, "stored_place_not_plain"),
        "word": ({"s3": "data/{user}"}, "output_place_word"),
        "folder": ({"s3": "data/x", "folder": "code"}, "output_folder_not_known"),
        "below": ({"s3": "data/x", "folder": "logs/1"}, "output_folder_not_known"),
        "leaves": ({"s3": "data/x", "folder": "outputs/../model"}, "output_folder_not_known"),
        "name": ({"s3": "-data"}, "bad_stored_place"),
        "how": ({"s3": "data/x", "if_exists": "ask"}, "not_one_of"),
    }
    for item, code in wrong.values():
        with pytest.raises(InvalidSpec) as error:
            await stage.platform.submit({"spec": spec("wrong", outputs=[item])}, ADMIN, None)
        assert [one.code for one in error.value.problems] == [code]
    outputs = [{"s3": "data/x"}, {"s3": "data/x/y", "folder": "model"}]
    with pytest.raises(InvalidSpec) as error:
        await stage.platform.submit({"spec": spec("wrong", outputs=outputs)}, ADMIN, None)
    assert [one.code for one in error.value.problems] == ["outputs_in_one_place"]


async def test_many_small_files_and_one_of_several_parts_are_there_by_their_digests(stage: Stage, store: Store) -> None:
    await kept(stage, store)
    text = (
        'cd "$TRAINMASTER_OUTPUT_DIR"; for n in $(seq 150); do echo $n > $n.txt; done; '
        "head -c 20000000 /dev/urandom > large.bin"
    )
    job = await stage.submit(writes("many", "data/many", text))
    assert (await sent(stage, job)).files == 151
    found = there(store, "many")
    assert {f"{n}.txt": f"{n}\n".encode() for n in range(1, 151)}.items() <= found.items()
    large = stage.output(job, "large.bin").read_bytes()
    assert hashlib.sha256(found["large.bin"]).digest() == hashlib.sha256(large).digest()


async def test_a_job_that_is_deleted_is_not_sent_any_more(stage: Stage, store: Store) -> None:
    await kept(stage, store, "gone", endpoint="http://127.0.0.1:9")
    job = await stage.submit(writes("deleted", "gone/x", "echo x > $TRAINMASTER_OUTPUT_DIR/x"))
    await stage.ended(job)
    await stage.until(job, lambda view: view.uploads[0].tries > 0, "a try")
    await stage.platform.delete(job, ADMIN)
    sending = stage.platform.context.sending
    for _ in range(200):
        if not sending._open:
            break
        await asyncio.sleep(0.05)
    assert not sending._open
    assert sending.rows.open() == []
