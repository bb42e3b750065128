"""What of a code folder is sent: everything that can be, nothing that a job never needs, and no surprise half-way (R72,
B8).
"""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fixtures.api_server import running
from trainmaster.core.errors import InvalidSpec, TooLarge
from trainmaster.sdk.client import Client
from trainmaster.sdk.pack import demand_small, pack, survey


def refused(folder: Path) -> set[str]:
    with pytest.raises(InvalidSpec) as error:
        pack(folder)
    return {problem.path for problem in error.value.problems}


def test_what_cannot_be_sent_is_named_at_once(tmp_path: Path) -> None:
    """Sockets, pipes, links out of the folder and names that are no text: each is told, before the first byte."""
    (tmp_path / "train.py").write_text("print(1)")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "sock"))
    os.mkfifo(tmp_path / "pipe")
    os.symlink("/etc/passwd", tmp_path / "out")
    os.symlink(b"\xff\xfe", os.fsencode(tmp_path / "odd"))
    assert refused(tmp_path) == {"sock", "pipe", "out", "'odd'"}


def test_links_that_lead_nowhere_are_sent_as_they_are(tmp_path: Path) -> None:
    os.symlink("missing", tmp_path / "dangling")
    os.symlink("loop", tmp_path / "loop")
    assert b"".join(pack(tmp_path))


def test_a_file_that_goes_while_it_is_sent_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    blocks = pack(tmp_path)
    (tmp_path / "a.py").unlink()
    with pytest.raises(InvalidSpec, match="changed during the upload"):
        b"".join(blocks)


def test_what_is_left_out_is_known(tmp_path: Path) -> None:
    for name in (".git", ".venv", "src/__pycache__"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x").write_text("x")
    (tmp_path / "src/main.py").write_text("12345")
    (tmp_path / "data.bin").write_text("x")
    (tmp_path / ".trainmasterignore").write_text("*.bin\n")
    found = survey(tmp_path)
    assert set(found.left_out) == {".git/", ".venv/", "src/__pycache__/", "data.bin"}
    assert (found.files, found.size) == (2, 5 + len("*.bin\n"))


@pytest.mark.filterwarnings("error")
def test_the_ignore_file_is_read_as_git_reads_its_own(tmp_path: Path) -> None:
    """Also what is no expression there, and what would be one elsewhere."""
    lines = (r"\#notes", r"\!keep", "[z-a]", "[!]x]q", "[[x]1", "[a&&b]2", "v[0-9]", "w[!0-9]")
    (tmp_path / ".trainmasterignore").write_text("\n".join(lines))
    out = ("#notes", "!keep", "aq", "[1", "&2", "v1", "wx")
    stay = ("zq-", "xq", "]q", "y1", "c2", "vx", "w1", "notes", "a")
    for name in (*out, *stay):
        (tmp_path / name).write_text(name)
    assert set(survey(tmp_path).left_out) == set(out)


def test_a_worktrees_pointer_to_its_repository_stays_here(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /somewhere/else")
    assert survey(tmp_path).left_out == (".git",)


def test_a_folder_over_the_limit_is_refused_with_both_sizes_before_it_is_sent(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "weights").write_bytes(os.urandom(3 << 20))
    with pytest.raises(TooLarge) as error:
        demand_small(code, 1)
    assert "holds 3 MiB" in error.value.message
    assert "1 MiB that the server accepts" in error.value.message
    assert "weights (3 MiB)" in error.value.remedy
    (code / "weights").write_bytes(bytes(3 << 20))
    demand_small(code, 1)  # packed it is small
    with running(tmp_path / "home") as server, Client(server.url, server.token) as client:
        limits = replace(server.platform.config.limits, max_upload_mib=1)
        server.platform.config = replace(server.platform.config, limits=limits)
        (code / "weights").write_bytes(os.urandom(3 << 20))
        sent: list[int] = []
        with pytest.raises(TooLarge, match="holds 3 MiB; packed it exceeds the 1 MiB"):
            client.upload(code, sent.append)
        assert sent == []
