"""Container images, without a runtime: how they are named, what a runtime of either kind answers, what is unpacked, and
what a sandbox shows of it (R25, R68).
"""

import io
import json
import os
import socketserver
import stat
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.registry import entry
from trainmaster.agent.containers.places import CONFIG
from trainmaster.agent.containers.references import Reference, reference_of
from trainmaster.agent.containers.runtime import Runtime, RuntimeFailed, digests_of
from trainmaster.agent.containers.unpacking import NotUnpacked, Unpacker, settle
from trainmaster.agent.sandbox import rooted
from trainmaster.core.launch import Mount

DIGEST = f"sha256:{'ab' * 32}"


@pytest.mark.parametrize(
    ("text", "name", "which"),
    [
        ("python", "docker.io/library/python", "latest"),
        ("python:3.12", "docker.io/library/python", "3.12"),
        ("pytorch/pytorch:2.4", "docker.io/pytorch/pytorch", "2.4"),
        ("registry.example.org/ai/torch", "registry.example.org/ai/torch", "latest"),
        ("localhost/x:1", "localhost/x", "1"),
        ("10.0.0.1:5000/x/y:1", "10.0.0.1:5000/x/y", "1"),
        ("[::1]:5000/x", "[::1]:5000/x", "latest"),
        (f"x.org/y:1@{DIGEST}", "x.org/y", DIGEST),
    ],
)
def test_a_reference_is_read_as_runtimes_read_it(text: str, name: str, which: str) -> None:
    found = reference_of(text)
    assert found is not None
    assert (found.name, found.which) == (name, which)
    assert reference_of(found.text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "", "-x", "--privileged", "x y", "x\ny", "x\0y", "http://x.org/y", "me:word@x.org/y", "X", "x//y", "/x", "x/",
        "x:", "x@sha256:12", f"x@sha512:{'a' * 128}", "x.org:port/y", "..", "a/../b", "x" * 501, "镜像",
    ],
)  # fmt: skip
def test_what_is_none_is_none(text: str) -> None:
    assert reference_of(text) is None


class Told:
    """A runtime that answers what it was told to."""

    def __init__(self, folder: Path, answers: dict[str, tuple[int, Any]]) -> None:
        self.path, self.asked = str(folder / "s"), list[tuple[str, dict[str, str]]]()
        outer = self

        class Teller(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Answer."""
                outer.asked.append((self.path, dict(self.headers.items())))
                status, body = answers.get(self.path, (404, {"message": "no such thing"}))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            do_POST = do_DELETE = do_GET  # noqa: N815 - the names that are called

            def address_string(self) -> str:
                """A unix socket has none."""
                return ""

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

        self.server = Server(self.path, Teller)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Any]:
    made: list[Told] = []

    def make(answers: dict[str, tuple[int, Any]]) -> Told:
        made.append(Told(tmp_path, answers))
        return made[-1]

    yield make
    for one in made:
        one.server.shutdown()
        one.server.server_close()


@pytest.mark.parametrize(
    ("newest", "oldest", "spoken"), [("1.41", "1.24", "1.41"), ("1.47", "1.24", "1.41"), ("1.52", "1.44", "1.44")]
)
def test_the_oldest_version_is_spoken_that_both_know(told: Any, newest: str, oldest: str, spoken: str) -> None:
    there = told({"/version": (200, {"ApiVersion": newest, "MinAPIVersion": oldest, "Version": "28.1"})})
    found = Runtime(there.path).version()
    assert (found.name, found.version, found.api) == ("Docker", "28.1", spoken)


@pytest.mark.parametrize("answer", [(200, {"ApiVersion": "1.40"}), (200, b"hello"), (500, b""), (200, {})])
def test_what_is_no_runtime_is_told_so(told: Any, answer: tuple[int, Any]) -> None:
    with pytest.raises(RuntimeFailed):
        Runtime(told({"/version": answer}).path).version()


def test_a_socket_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeFailed, match="No such file"):
        Runtime(str(tmp_path / "none")).version()


def test_a_pull_fails_with_what_its_stream_says_and_a_password_is_a_header(told: Any) -> None:
    """The status is 200 by then; what is asked for holds no password."""
    lines = b'{"status":"Pulling","id":"a"}\n{"errorDetail":{"message":"denied: no"},"error":"denied: no"}\n'
    there = told(
        {
            "/version": (200, {"ApiVersion": "1.41", "MinAPIVersion": "1.24"}),
            "/v1.41/images/create?fromImage=x.org%2Fy&tag=1": (200, lines),
        }
    )
    seen: list[Any] = []
    with pytest.raises(RuntimeFailed, match="denied: no"):
        Runtime(there.path).pull(Reference("x.org/y", "1"), {"username": "u", "password": "hunter2"}, seen.append)
    assert seen == [{"status": "Pulling", "id": "a"}]
    path, headers = there.asked[-1]
    assert "hunter2" not in path
    assert "X-Registry-Auth" in headers


def test_digests_are_those_of_the_name_that_was_asked_for() -> None:
    """Docker shortens names of its own registry."""
    image = {"RepoDigests": [f"other.org/y@sha256:{'0' * 64}", f"python@{DIGEST}"]}
    assert digests_of(image, Reference("docker.io/library/python")) == [DIGEST]
    for wrong in (Reference("x.org/y"), Reference("docker.io/library/python", "", f"sha256:{'1' * 64}")):
        with pytest.raises(RuntimeFailed):
            digests_of(image, wrong)


def archive(*files: tuple[tarfile.TarInfo, bytes]) -> io.BytesIO:
    """Return an archive of these, in their order."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for info, content in files:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    made.seek(0)
    return made


def test_files_come_as_they_are_but_for_owners_rights_and_devices(tmp_path: Path) -> None:
    info = entry("bin/tool", mode=0o6755)
    info.uid, info.mtime = 12345, 1_000_000_000
    made = archive(
        (entry("./", tarfile.DIRTYPE, mode=0o555), b""),
        (info, b"tool"),
        (entry("bin/hard", tarfile.LNKTYPE, link="bin/tool"), b""),
        (entry("bin/soft", tarfile.SYMTYPE, link="/bin/tool"), b""),
        (entry("closed", mode=0), b"x"),
        (entry("locked", tarfile.DIRTYPE, mode=0), b""),
        (entry("locked/in", mode=0o644), b"y"),
        (entry("dev/sda", tarfile.BLKTYPE), b""),
        (entry("pipe", tarfile.FIFOTYPE), b""),
        (entry("bin/tool2", mode=0o755), b"old"),
        (entry("bin/tool2", mode=0o755), b"new"),
    )
    Unpacker(str(tmp_path), 1 << 20).run(made)
    tool = (tmp_path / "bin/tool").stat()
    assert (stat.S_IMODE(tool.st_mode), tool.st_uid, tool.st_mtime, tool.st_nlink) == (0o755, os.getuid(), 1e9, 2)
    assert os.readlink(tmp_path / "bin/soft") == "/bin/tool"
    assert (tmp_path / "closed").read_text() + (tmp_path / "locked/in").read_text() == "xy"
    assert (tmp_path / "bin/tool2").read_text() == "new"
    assert not (tmp_path / "dev/sda").exists()
    assert not (tmp_path / "pipe").exists()


@pytest.mark.parametrize(
    "files",
    [
        [(entry("../x"), b"x")],
        [(entry("a/../../x"), b"x")],
        [(entry("a", tarfile.SYMTYPE, link="/tmp"), b""), (entry("a/x"), b"x")],
        [(entry("a", tarfile.SYMTYPE, link=".."), b""), (entry("a", tarfile.DIRTYPE), b""), (entry("a/x"), b"x")],
        [(entry("x", tarfile.LNKTYPE, link="../../../etc/passwd"), b"")],
        [(entry("a", tarfile.SYMTYPE, link="/etc"), b""), (entry("x", tarfile.LNKTYPE, link="a/passwd"), b"")],
        [(entry("/".join(["d"] * 200)), b"x")],
        [(entry("a"), b"x"), (entry("a/x"), b"x")],
        [(entry("big"), b"x" * 2000)],
    ],
)
def test_what_would_lie_elsewhere_or_is_too_much_is_refused(
    tmp_path: Path, files: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(NotUnpacked):
        Unpacker(str(tmp_path / "in"), 1000).run(archive(*files))
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize("cut", [0, 100, 700, 1500, 1536, 3072])
def test_an_archive_that_was_cut_is_refused_or_empty(tmp_path: Path, cut: int) -> None:
    made = archive((entry("a"), b"x" * 600), (entry("b"), b"y" * 600)).getvalue()[:cut]
    with pytest.raises(NotUnpacked):
        Unpacker(str(tmp_path), 1 << 20).run(io.BytesIO(made))


@pytest.mark.parametrize("kind", ["absent", "link", "file"])
def test_every_image_gets_an_etc_that_is_kept_up_to_date(tmp_path: Path, kind: str) -> None:
    if kind == "link":
        (tmp_path / "etc").symlink_to("/etc")
    elif kind == "file":
        (tmp_path / "etc").write_text("")
    settle(str(tmp_path))
    assert os.readlink(tmp_path / "etc/hosts") == "/trainmaster/etc/hosts"
    assert f":{os.getuid()}:" in (tmp_path / "etc/passwd").read_text()
    settle(str(tmp_path))
    assert len((tmp_path / "etc/passwd").read_text().splitlines()) == 1


def test_an_image_shows_its_folders_but_those_of_the_platform(tmp_path: Path) -> None:
    for name in ("bin", "usr", "workspace", "proc", "trainmaster", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "lib").symlink_to("usr/lib")
    words = rooted.system(str(tmp_path))
    shown = {words[at + 2] for at, word in enumerate(words) if word in ("--ro-bind", "--symlink")}
    assert shown - {"/sys/devices/system"} == {"/bin", "/usr", "/data", "/lib"}
    assert rooted.system(str(tmp_path / "none")) == ()


def test_a_mount_has_a_place_only_where_no_link_leads_away(tmp_path: Path) -> None:
    root, source = tmp_path / "root", str(tmp_path)
    (root / "opt/there").mkdir(parents=True)
    (root / "opt/file").write_text("")
    (root / "opt/link").symlink_to("/oldroot/root")
    (root / "top").symlink_to("/oldroot/root")
    good = ["/workspace/x", "/new", "/new/deeper", "/opt", "/opt/there"]
    bad = ["/opt/new", "/opt/file", "/opt/file/x", "/opt/link", "/opt/link/x", "/top", "/top/x"]
    mounts = [Mount(source, target, True) for target in (*good, *bad)]
    assert rooted.misplaced(mounts, str(root)) == bad


def test_variables_that_are_none_are_left_out(tmp_path: Path) -> None:
    told = ["A=1", "B=", "C", "=x", "D\n=2", "E=\0", 3, "1F=2", "PATH=/bin:/x=y", "L=" + "x" * (64 << 10)]
    (tmp_path / CONFIG).write_text(json.dumps({"env": told}))
    assert rooted.variables(str(tmp_path)) == {"A": "1", "B": "", "PATH": "/bin:/x=y"}
    (tmp_path / CONFIG).write_text("[]")
    assert rooted.variables(str(tmp_path)) == {}
