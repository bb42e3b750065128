"""Code uploads (issue 2, item 10; api.md): packed by the SDK, checked and named by content, hostile archives
refused.
"""

import gzip
import io
import os
import random
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.core.errors import InvalidSpec, TooLarge
from trainmaster.core.folders.layout import Layout
from trainmaster.sdk.pack import folder_digest, pack
from trainmaster.storage.uploads import Receiver, StoredUpload, receive, receive_all

LIMIT = 8


def archive(*members: tuple[str, object]) -> bytes:
    """A tar.gz of (name, content bytes | TarInfo changes)."""
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as tar:
        for name, what in members:
            info = tarfile.TarInfo(name)
            if isinstance(what, bytes):
                info.size = len(what)
                tar.addfile(info, io.BytesIO(what))
            else:
                for key, value in dict(what).items():
                    setattr(info, key, value)
                tar.addfile(info)
    return sink.getvalue()


def send(home: Path, data: bytes) -> StoredUpload:
    return receive_all((data[at : at + 1000] for at in range(0, len(data), 1000)), Layout(str(home)), LIMIT)


def left_over(home: Path) -> list[str]:
    return sorted(name for name in os.listdir(home / "uploads") if name.startswith("."))


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "package" / "__pycache__").mkdir(parents=True)
    (folder / "nothing").mkdir()
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("[core]")
    (folder / "package" / "__pycache__" / "x.pyc").write_bytes(b"0")
    (folder / "train.py").write_text("print('训练')\n")
    (folder / "package" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "package" / "run.sh").chmod(0o755)
    (folder / "latest").symlink_to("package/run.sh")
    return folder


def test_what_is_packed_arrives_and_has_the_digest_the_client_computed(tmp_path: Path, code: Path) -> None:
    upload = send(tmp_path, b"".join(pack(code)))
    assert upload.digest == folder_digest(code)
    tree = Path(Layout(str(tmp_path)).upload(upload.digest))
    found = sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))
    assert found == ["latest", "nothing", "package", "package/run.sh", "train.py"]
    assert (tree / "train.py").read_text() == "print('训练')\n"
    assert os.access(tree / "package" / "run.sh", os.X_OK)
    assert os.readlink(tree / "latest") == "package/run.sh"
    assert (upload.files, upload.size_bytes) == (2, 26)
    assert left_over(tmp_path) == []


def test_the_same_folder_packed_by_tar_gets_the_same_name(tmp_path: Path, code: Path) -> None:
    names = ["./train.py", "./latest", "./nothing", "./package/run.sh"]
    digests = set()
    for seed in range(3):
        random.Random(seed).shuffle(names)
        os.utime(code / "train.py", (seed, seed))
        packed = subprocess.run(["tar", "czf", "-", "-C", str(code), *names], check=True, capture_output=True).stdout
        digests.add(send(tmp_path, packed).digest)
    assert digests == {folder_digest(code)}


def test_content_mode_and_name_change_the_digest(code: Path) -> None:
    seen = {folder_digest(code)}
    (code / "train.py").write_text("print('训 练')\n")
    seen.add(folder_digest(code))
    (code / "train.py").chmod(0o755)
    seen.add(folder_digest(code))
    (code / "train.py").rename(code / "main.py")
    seen.add(folder_digest(code))
    (code / "nothing").rmdir()
    seen.add(folder_digest(code))
    assert len(seen) == 5


def test_packing_twice_gives_the_same_bytes(code: Path) -> None:
    first = b"".join(pack(code))
    os.utime(code / "train.py", (1, 1))
    assert b"".join(pack(code)) == first


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("/etc/cron.d/x", b"x"),
        ("../outside", b"x"),
        ("a/../../outside", b"x"),
        ("link", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
        ("link", {"type": tarfile.SYMTYPE, "linkname": "../../x"}),
        ("sly", {"type": tarfile.SYMTYPE, "linkname": "a/../../x"}),
        ("hard", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"}),
        ("device", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}),
        ("disk", {"type": tarfile.BLKTYPE, "devmajor": 8, "devminor": 0}),
        ("pipe", {"type": tarfile.FIFOTYPE}),
        ("x\n", b"x"),
        ("n" * 300, b"x"),
        ("d/" * 80 + "x", b"x"),
    ],
)
def test_a_dangerous_entry_is_refused_by_name(tmp_path: Path, name: str, what: object) -> None:
    with pytest.raises(InvalidSpec) as refused:
        send(tmp_path, archive(("good.py", b"1"), (name, what)))
    assert len(refused.value.problems) == 1
    assert refused.value.problems[0].remedy
    assert left_over(tmp_path) == []


def test_special_bits_do_not_get_in(tmp_path: Path) -> None:
    """Set-uid, set-gid and sticky bits, and rights of others to write, of files and of folders."""
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as tar:
        for name, mode in (("root.sh", 0o6777), ("group.py", 0o2666), ("shared", 0o7777), ("shared/x", 0o1111)):
            kind = tarfile.DIRTYPE if name == "shared" else tarfile.REGTYPE
            info = tarfile.TarInfo(name)
            info.mode, info.type = mode, kind
            tar.addfile(info)
    upload = send(tmp_path, sink.getvalue())
    tree = Path(Layout(str(tmp_path)).upload(upload.digest))
    modes = {str(path.relative_to(tree)): path.stat().st_mode & 0o7777 for path in tree.rglob("*")}
    assert modes == {"root.sh": 0o755, "group.py": 0o644, "shared": 0o755, "shared/x": 0o755}


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ("Train.py", "train.py", "train.py"),
        ("data/A.txt", "Data/b.txt", "Data"),
        ("caf\u00e9.py", "cafe\u0301.py", "cafe\u0301.py"),
        ("stra\u00dfe", "STRASSE", "STRASSE"),
        ("\u212bngstrom", "\u00e5ngstrom", "\u00e5ngstrom"),
    ],
)
def test_two_names_that_some_systems_take_for_one_are_refused(
    tmp_path: Path, first: str, second: str, named: str
) -> None:
    """By case, by how characters are encoded, or both: one of them would silently replace the other there."""
    with pytest.raises(InvalidSpec) as refused:
        send(tmp_path, archive((first, b"1"), (second, b"2")))
    (found,) = {(one.path, one.code) for one in refused.value.problems}
    assert found == (named, "names_collide")
    assert "Rename" in refused.value.problems[0].remedy
    assert left_over(tmp_path) == []


def test_two_such_names_are_told_before_anything_is_sent(code: Path) -> None:
    """Of files and of folders, where the folder lies on a system that tells them apart."""
    (code / "Train.py").write_text("1")
    (code / "Package").mkdir()
    (code / "Package" / "x").write_text("1")
    with pytest.raises(InvalidSpec) as refused:
        list(pack(code))
    assert {(one.path, one.code) for one in refused.value.problems} == {
        ("train.py", "names_collide"),
        ("package", "names_collide"),
    }


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpec) as refused:
        send(tmp_path, archive(("../a", b""), ("/b", b""), ("c", b""), ("c", b""), ("c/d", b"")))
    assert [problem.path for problem in refused.value.problems] == ["../a", "/b", "c", "c/d"]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    target = tmp_path / "victim"
    target.mkdir()
    with pytest.raises(InvalidSpec):
        send(tmp_path, archive(("d", {"type": tarfile.SYMTYPE, "linkname": "x"}), ("d/file", b"x")))
    assert list(target.iterdir()) == []


def test_bombs_are_stopped(tmp_path: Path) -> None:
    zeros = archive(("zeros", b"\0" * (LIMIT * 6 << 20)))
    assert len(zeros) < LIMIT << 20
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 30 << 20
    name = gzip.compress(header.tobuf() + b"\0" * header.size)
    many = archive(*((f"f{n}", b"") for n in range(20_100)))
    for bomb, code in (
        (zeros, "unpacked_too_large"),
        (name, "unpacked_too_large"),
        (many, "too_many_files"),
    ):
        with pytest.raises(InvalidSpec) as refused:
            send(tmp_path, bomb)
        assert [problem.code for problem in refused.value.problems] == [code]
    with pytest.raises(TooLarge):
        send(tmp_path, os.urandom((LIMIT << 20) + 1))
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    "data",
    [b"", b"not a tar", gzip.compress(b"not a tar" * 200), archive(("a", b"x" * 9000))[:-40]],
    ids=["nothing", "no gzip", "no tar inside", "cut off"],
)
def test_what_is_no_archive_is_said_so(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InvalidSpec) as refused:
        send(tmp_path, data)
    assert refused.value.problems[0].code == "bad_archive"
    assert left_over(tmp_path) == []


async def test_a_broken_connection_leaves_nothing(tmp_path: Path) -> None:
    async def stream():
        yield b"some"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await receive(stream(), Layout(str(tmp_path)), LIMIT)
    assert left_over(tmp_path) == []


async def test_the_asynchronous_half(tmp_path: Path, code: Path) -> None:
    async def stream():
        for block in pack(code):
            yield block

    assert (await receive(stream(), Layout(str(tmp_path)), LIMIT)).digest == folder_digest(code)
    Receiver(Layout(str(tmp_path)), LIMIT).abort()
    assert left_over(tmp_path) == []


class TestIgnoring:
    @pytest.mark.parametrize(
        ("line", "gone"),
        [
            ("*.ckpt", {"a.ckpt", "data/b.ckpt"}),
            ("/a.ckpt", {"a.ckpt"}),
            ("data/", {"data/b.ckpt", "data/c.txt", "data/deep/d.txt"}),
            ("data/*.txt", {"data/c.txt"}),
            ("**/d.txt", {"data/deep/d.txt"}),
            ("data/**/d.txt", {"data/deep/d.txt"}),
            ("[ab].ckpt", {"a.ckpt", "data/b.ckpt"}),
            ("*\n!keep.py", {"a.ckpt", "data/b.ckpt", "data/c.txt", "data/deep/d.txt", ".trainmasterignore"}),
            ("# comment\n", set()),
        ],
    )
    def test_lines_mean_what_they_mean_to_git(self, tmp_path: Path, line: str, gone: set[str]) -> None:
        folder = tmp_path / "f"
        every = {"a.ckpt", "keep.py", "data/b.ckpt", "data/c.txt", "data/deep/d.txt"}
        for name in every:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
        (folder / ".trainmasterignore").write_text(line)
        with tarfile.open(fileobj=io.BytesIO(b"".join(pack(folder)))) as tar:
            sent = {member.name for member in tar if member.isfile()}
        assert sent == (every | {".trainmasterignore"}) - gone

    def test_what_cannot_be_sent_is_named_before_anything_is_sent(self, code: Path) -> None:
        (code / "out").symlink_to("/etc/passwd")
        os.mkfifo(code / "pipe")
        with pytest.raises(InvalidSpec) as refused:
            pack(code)
        assert [problem.path for problem in refused.value.problems] == ["out", "pipe"]
        (code / ".trainmasterignore").write_text("out\npipe\n")
        assert b"".join(pack(code))
        with pytest.raises(InvalidSpec):
            pack(code / "no-such-folder")


@settings(max_examples=examples(40))
@given(
    tree=st.dictionaries(
        st.from_regex(r"[a-zé]{1,3}(/[a-zé]{1,3}){0,3}", fullmatch=True), st.binary(max_size=300), max_size=12
    )
)
def test_any_tree_survives_the_journey(tmp_path_factory, tree: dict[str, bytes]) -> None:
    home = tmp_path_factory.mktemp("h")
    folder = home / "code"
    folder.mkdir()
    for name, content in tree.items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        except OSError:
            continue  # a name that is a file and a folder at once
    upload = send(home, b"".join(pack(folder)))
    assert upload.digest == folder_digest(folder)
    stored = Path(Layout(str(home)).upload(upload.digest))
    there = {str(p.relative_to(stored)): p.read_bytes() for p in stored.rglob("*") if p.is_file()}
    assert there == {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
