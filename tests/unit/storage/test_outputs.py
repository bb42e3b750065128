"""Saving outputs as immutable model versions (R138, R147-R149; issue 2, item 8) and serving files safely."""

import errno
import hashlib
import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from tests.fixtures import disks
from trainmaster.answers import Files
from trainmaster.core.errors import NotFound, StorageFailed, Unavailable
from trainmaster.storage import outputs, trees

WHO = {"job": "t" + "a" * 32, "attempt": 2, "spec_digest": "s", "metrics": {"loss": 0.1}}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    (folder / "model" / "weights").mkdir(parents=True)
    (folder / "outputs" / "empty").mkdir(parents=True)
    (folder / "model" / "weights" / "w.bin").write_bytes(os.urandom(3_000_000))
    (folder / "model" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "model" / "run.sh").chmod(0o755)
    (folder / "outputs" / "评估.json").write_text('{"accuracy": 0.97}')
    (tmp_path / "models").mkdir()
    return folder


def save(job: Path, version: int = 1, **more) -> outputs.Saved:
    """Make a version and give it its number, as the service does."""
    target, folder = str(job.parent / "models" / str(version)), str(job.parent / "models" / ".saving" / "t-2")
    given = {"provenance": WHO, **more}
    found = outputs.published(folder, given["provenance"])
    if found is not None and found[0] == target:
        return found[1]
    done = outputs.write(str(job / "model"), str(job / "outputs"), folder, **given)
    outputs.publish(folder, target)
    return done


def left(job: Path) -> list[str]:
    """Return what lies beside the models."""
    return [
        *(n for n in os.listdir(job.parent / "models" / ".saving") if not n.endswith(".went")),
        *(n for n in os.listdir(job.parent / "models") if n != ".saving"),
    ]


def test_the_version_holds_everything_with_digests_and_provenance(job: Path) -> None:
    saved = save(job)
    version = job.parent / "models" / "1"
    manifest = json.loads((version / "manifest.json").read_text())
    assert manifest == saved.manifest
    assert manifest["provenance"] == WHO
    assert saved.files == 3
    by_path = {record["path"]: record for record in manifest["files"]}
    assert set(by_path) == {"model/weights/w.bin", "model/run.sh", "outputs/评估.json", "outputs/empty"}
    for path, record in by_path.items():
        if record["kind"] in "fx":
            assert hashlib.sha256((version / "files" / path).read_bytes()).hexdigest() == record["sha256"]
    assert by_path["model/run.sh"]["kind"] == "x"
    assert saved.size_bytes == sum(record["size"] for record in manifest["files"])


def test_a_version_cannot_change_with_its_source_and_is_read_only(job: Path) -> None:
    save(job)
    kept = job.parent / "models" / "1" / "files" / "model" / "run.sh"
    before = kept.read_text()
    with open(job / "model" / "run.sh", "r+") as file:  # the same inode would show this
        file.write("XXXX")
    assert kept.read_text() == before
    for here, _, names in os.walk(kept.parents[1]):
        assert os.stat(here).st_mode & 0o222 == 0
        assert all(os.stat(os.path.join(here, name)).st_mode & 0o222 == 0 for name in names)


def test_what_was_published_is_found_wherever_it_lies_until_it_is_let_go(job: Path) -> None:
    first = save(job, version=7)
    (job / "model" / "late").write_text("later")
    folder, target = str(job.parent / "models" / ".saving" / "t-2"), str(job.parent / "models" / "7")
    assert outputs.published(folder, WHO) == (target, first)
    assert outputs.published(folder, {**WHO, "attempt": 3}) is None, "somebody else's lies there"
    outputs.forget(folder)
    assert outputs.published(folder, WHO) is None
    outputs.forget(folder)


def test_a_version_is_never_replaced(job: Path) -> None:
    first = save(job)
    (job / "model" / "late").write_text("later")
    with pytest.raises(OSError, match="not empty"):
        save(job, provenance={**WHO, "attempt": 3})
    assert json.loads((job.parent / "models" / "1" / "manifest.json").read_text()) == first.manifest


def test_equal_content_has_an_equal_digest_whatever_times_and_order(job: Path, tmp_path: Path) -> None:
    first = save(job)
    os.utime(job / "model" / "run.sh", (1, 1))
    assert save(job, version=2).digest == first.digest
    (job / "model" / "run.sh").chmod(0o644)
    assert save(job, version=3).digest != first.digest


def test_links_out_devices_and_pipes_are_left_out_and_named(job: Path) -> None:
    (job / "outputs" / "passwd").symlink_to("/etc/passwd")
    (job / "outputs" / "up").symlink_to("../../../secret")
    (job / "outputs" / "sly").symlink_to("empty/../../model")
    (job / "model" / "latest").symlink_to("weights/w.bin")
    (job / "model" / "weights" / "absolute").symlink_to("/model/run.sh")
    os.mkfifo(job / "outputs" / "pipe")
    saved = save(job)
    assert {entry["path"] for entry in saved.skipped} == {"outputs/passwd", "outputs/up", "outputs/sly", "outputs/pipe"}
    files = job.parent / "models" / "1" / "files"
    assert os.readlink(files / "model" / "latest") == "weights/w.bin"
    assert (files / "model" / "weights" / "absolute").read_text() == "#!/bin/sh\n"


def test_too_large_leaves_nothing_behind(job: Path) -> None:
    with pytest.raises(StorageFailed, match="larger than the 1 MiB"):
        save(job, max_mib=1)
    assert left(job) == []
    assert save(job, max_mib=4).files == 3


def test_too_many_files_are_refused_before_any_is_copied(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders count as well, and what lies there is not taken into memory to find out."""
    monkeypatch.setattr(outputs, "MAX_FILES", 50)
    for number in range(60):
        (job / "outputs" / f"empty{number}").mkdir()
    with pytest.raises(StorageFailed, match="more than 50 files"):
        save(job)
    assert left(job) == []


def test_a_full_disk_waits_and_is_not_filled_by_trying(tmp_path: Path) -> None:
    """The platform's trouble is not the job's: saved as soon as there is room. What can never fit is said."""
    with disks.in_memory(tmp_path / "disk", 8) as disk:
        job = disk / "job"
        (job / "model").mkdir(parents=True)
        (disk / "models").mkdir()
        (job / "model" / "w").write_bytes(b"w" * (3 << 20))
        ballast = disks.fill(disk, leave=1 << 20)
        before = os.statvfs(disk).f_bavail
        with pytest.raises(Unavailable, match="no room"):
            save(job)
        assert (os.statvfs(disk).f_bavail, left(job)) == (before, [])
        ballast.unlink()
        assert save(job).files == 1


def test_what_takes_the_last_room_while_it_is_copied_is_waited_for(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(outputs.sparse.os, "pwrite", full)
        with pytest.raises(Unavailable, match="no room"):
            save(job)
    assert left(job) == []
    assert save(job).files == 3


def test_what_lies_too_deep_is_left_out_and_said(job: Path) -> None:
    here = job / "outputs"
    for _ in range(70):
        here = here / "d"
    here.mkdir(parents=True)
    (here / "lost").write_text("1")
    (said,) = save(job).skipped
    assert said["path"] == "outputs/" + "/".join("d" * 64)
    assert "64 folders deep" in said["reason"]


def test_what_a_crash_left_half_written_is_done_again(job: Path) -> None:
    half = job.parent / "models" / ".saving" / "t-2" / "files" / "model"
    half.mkdir(parents=True)
    (half / "run.sh").write_text("half")
    half.chmod(0o555)
    assert save(job).files == 3
    assert left(job) == ["1"]


def test_a_sparse_file_stays_small_and_says_that_it_is(job: Path) -> None:
    """Its name is not what sha256sum prints."""
    with open(job / "model" / "sparse", "wb") as file:
        file.truncate(8 << 40)
    saved = save(job)
    copy = os.stat(job.parent / "models" / "1" / "files" / "model" / "sparse")
    assert (copy.st_size, copy.st_blocks) == (8 << 40, 0)
    assert [record["path"] for record in saved.manifest["files"] if record.get("sparse")] == ["model/sparse"]


class TestServing:
    def test_listing_shows_folders_first_and_kinds(self, job: Path) -> None:
        (job / "model" / "link").symlink_to("/etc")
        listed = trees.list_files(str(job), "model")
        assert [(item.name, item.kind) for item in listed.items] == [
            ("weights", "folder"),
            ("link", "link"),
            ("run.sh", "file"),
        ]
        assert listed.items[0].path == "model/weights"
        assert trees.list_files(str(job / "not-there-yet")) == Files(path="", items=[])

    def test_of_a_folder_with_too_many_files_the_first_are_shown_and_only_they_are_in_memory(
        self, job: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(trees, "MAX_LISTED", 50)
        names = [f"{number:05}-{'x' * 200}" for number in range(10_000)]
        for name in names:
            os.link(job / "model" / "run.sh", job / "outputs" / name)
        tracemalloc.start()
        try:
            listed = trees.list_files(str(job), "outputs")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert [item.name for item in listed.items] == names[:50]
        assert peak < sum(map(len, names)) // 4

    def test_of_what_is_not_there_yet_an_archive_is_empty(self, job: Path) -> None:
        for path in ("", "/", "."):
            archive = zipfile.ZipFile(io.BytesIO(b"".join(trees.zip_tree(str(job / "not-there-yet"), path))))
            assert archive.namelist() == []
        with pytest.raises(NotFound):
            trees.zip_tree(str(job), "model/nothing")

    @pytest.mark.parametrize(
        "path", ["../secret", "model/../../secret", "/etc/passwd", "link", "inner/passwd", "x\0y", "", "model"]
    )
    def test_nothing_outside_is_opened(self, job: Path, path: str) -> None:
        (job.parent / "secret").write_text("no")
        (job / "link").symlink_to(job.parent / "secret")
        (job / "inner").symlink_to("/etc")
        with pytest.raises(NotFound):
            trees.open_file(str(job), path)

    def test_a_file_and_an_archive_come_out_whole(self, job: Path) -> None:
        opened = trees.open_file(str(job), "model/weights/w.bin")
        data = b"".join(trees.blocks_of(opened.fd))
        assert (len(data), opened.name) == (3_000_000, "w.bin")
        archive = zipfile.ZipFile(io.BytesIO(b"".join(trees.zip_tree(str(job), "model"))))
        assert sorted(archive.namelist()) == ["run.sh", "weights/w.bin"]
        assert archive.read("weights/w.bin") == data

    def test_a_version_can_be_deleted_although_it_is_read_only(self, job: Path) -> None:
        save(job)
        trees.remove_tree(str(job.parent / "models" / "1"))
        trees.remove_tree(str(job.parent / "models" / "1"))
        assert left(job) == []


def test_a_folder_nested_deeper_than_python_calls_is_removed(tmp_path: Path) -> None:
    """A task may nest folders as deep as it likes; deleting its job must not fail for it (R202)."""
    root = tmp_path / "job"
    root.mkdir()
    script = "import os\nfor _ in range(1500): os.mkdir('a'); os.chdir('a')"
    subprocess.run([sys.executable, "-c", script], cwd=root, check=True)
    trees.remove_tree(str(root))
    assert not root.exists()
