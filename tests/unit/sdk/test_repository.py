"""The files of a commit, brought by a real git from a real server: whole, and nothing obeyed of what a repository says
(R23, R150).
"""

import base64
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.repositories import FILE, LINK, PROGRAM, SUBMODULE, Repository, repository
from trainmaster.core.errors import InvalidSpec, Unavailable
from trainmaster.sdk.assets.algorithms import given_algorithm
from trainmaster.sdk.assets.repository import fetched
from trainmaster.spec.algorithms.origins import Origin

ALGORITHM = "command: python train.py\n"


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    with repository(tmp_path / "nets") as made:
        yield made
    assert not list((tmp_path / "tmp").iterdir()), "what was fetched is gone"


def found(held: Repository, commit: str, folder: str | None = None) -> dict[str, bytes | str]:
    """Return what comes: contents by path, of links where they lead."""
    with fetched(Origin(git=held.url, commit=commit, folder=folder)) as files:
        paths = [path for path in files.rglob("*") if path.is_symlink() or path.is_file()]
        return {
            str(path.relative_to(files)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in paths
        }


def refused(held: Repository, commit: str, folder: str | None = None) -> dict[str, str]:
    with pytest.raises(InvalidSpec) as why:
        found(held, commit, folder)
    return {one.path: one.code for one in why.value.problems}


def test_a_commit_comes_as_it_was_committed(held: Repository) -> None:
    """An older one too, with links and programs, empty and large files; not what attributes would make of it."""
    blob = held.blob(large := os.urandom(3 << 20))
    lib = held.tree((FILE, "中 文.py", held.blob(b"x = 1\r\n")), (PROGRAM, "run.sh", held.blob(b"#!/bin/sh\n")))
    attributes = held.blob(b"*.py text eol=lf export-ignore filter=lfs ident\n")
    tree = held.tree(
        (FILE, ".gitattributes", attributes),
        (FILE, "empty", held.blob(b"")),
        (FILE, "large.bin", blob),
        ("40000", "lib", lib),
        (LINK, "link", held.blob(b"lib/run.sh")),
    )
    first = held.commit(tree)
    held.files({"other": "newer"})
    held.git("config", "uploadpack.allowAnySHA1InWant", "true")
    expected = {
        ".gitattributes": b"*.py text eol=lf export-ignore filter=lfs ident\n",
        "empty": b"",
        "large.bin": large,
        "lib/中 文.py": b"x = 1\r\n",
        "lib/run.sh": b"#!/bin/sh\n",
        "link": "lib/run.sh",
    }
    held.git("update-ref", "refs/heads/older", first)
    assert found(held, first) == expected
    assert found(held, first, "lib") == {"中 文.py": b"x = 1\r\n", "run.sh": b"#!/bin/sh\n"}
    with fetched(Origin(git=held.url, commit=first)) as files:
        assert (files / "lib" / "run.sh").stat().st_mode & stat.S_IXUSR
        assert not (files / "large.bin").stat().st_mode & stat.S_IXUSR


def test_a_server_that_gives_out_no_single_commits_is_asked_for_all(held: Repository) -> None:
    older = held.files({"a": "1"})
    tree = held.git("rev-parse", f"{older}^{{tree}}")
    newer = held.git("commit-tree", tree, "-p", older, "-m", "x")
    held.git("update-ref", "refs/heads/main", newer)
    assert found(held, older) == {"a": b"1"}


def test_what_is_not_there_is_told(held: Repository) -> None:
    commit = held.files({"a/b": "1"})
    assert refused(held, "0" * 40) == {"commit": "no_such_commit"}
    assert refused(held, held.git("rev-parse", f"{commit}^{{tree}}")) == {"commit": "no_such_commit"}, "no commit"
    assert refused(held, commit, "c") == {"folder": "no_such_folder_in_commit"}
    assert refused(held, commit, "a/b") == {"folder": "no_such_folder_in_commit"}


def test_submodules_are_named_and_not_fetched(held: Repository) -> None:
    modules = held.blob(b'[submodule "x"]\n\tpath = third/x\n\turl = ext::sh -c touch% /tmp/owned\n')
    tree = held.tree((FILE, ".gitmodules", modules), ("40000", "third", held.tree((SUBMODULE, "x", "1" * 40))))
    before = held.asked
    assert refused(held, held.commit(tree)) == {"third/x": "submodule_in_commit"}
    assert held.asked > before


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("..", "path_in_commit_not_usable"),
        (".git", "path_in_commit_not_usable"),
        (".GIT", "path_in_commit_not_usable"),
        (".", "path_in_commit_not_usable"),
        ("../../out", "path_in_commit_not_usable"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(held: Repository, tmp_path: Path, name: str, code: str) -> None:
    inner = held.tree((PROGRAM, "hook", held.blob(b"#!/bin/sh\ntouch /tmp/owned\n")))
    with pytest.raises((InvalidSpec, Unavailable)) as why:
        found(held, held.commit(held.tree(("40000", name, inner))))
    if isinstance(why.value, InvalidSpec):
        assert [one.code for one in why.value.problems] == [code]
    assert not list(tmp_path.rglob("hook"))


@pytest.mark.parametrize("target", ["/etc/passwd", "../../etc/passwd", "a/../../..", ""])
def test_a_link_that_leaves_the_folder_is_refused(held: Repository, target: str) -> None:
    commit = held.commit(held.tree((LINK, "way", held.blob(target.encode()))))
    assert refused(held, commit) == {"way": "link_leaves_folder"}


def test_nothing_is_written_through_a_link_of_the_same_name(held: Repository, tmp_path: Path) -> None:
    """A link and a folder of one name, which no git would commit: files would land where the link leads."""
    inner = held.tree((FILE, "x", held.blob(b"x")))
    for tree in (
        held.tree((LINK, "a", held.blob(b"b")), ("40000", "a", inner), ("40000", "b", inner)),
        held.tree((FILE, "a", held.blob(b"1")), (FILE, "a", held.blob(b"2"))),
    ):
        assert set(refused(held, held.commit(tree)).values()) == {"path_in_commit_not_usable"}


def test_no_hook_runs_and_no_variable_leads_elsewhere(
    held: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those of the person's own templates, nor of a repository in which the command is typed."""
    commit = held.files({"train.py": "x"})
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "post-merge"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-$0\n")
        (hooks / name).chmod(0o755)
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[init]\n\ttemplateDir = {tmp_path}/template\n[core]\n\thooksPath = {hooks}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:file")
    assert found(held, commit) == {"train.py": b"x"}
    assert not list(tmp_path.glob("ran-*"))
    assert not (tmp_path / "elsewhere").exists()


def test_an_address_that_settings_turn_into_a_file_is_not_followed(
    held: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git allows nothing but the network, whatever an address becomes."""
    commit = held.files({"a": "1"})
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[url "file://{held.root}"]\n\tinsteadOf = {held.url}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    with pytest.raises(Unavailable) as why:
        found(held, commit)
    assert "file" in why.value.said.args["why"]


def test_who_needs_a_password_and_has_none_is_told_and_not_asked(held: Repository) -> None:
    commit = held.files({"a": "1"})
    held.password = base64.b64encode(b"ann:hunter2").decode()
    with pytest.raises(Unavailable) as why:
        found(held, commit)
    assert why.value.said.code == "commit_not_fetched"


def test_without_git_that_is_said(held: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable) as why:
        found(held, "0" * 40)
    assert why.value.said.code == "no_git"


def test_an_algorithm_of_a_repository_names_no_folder_of_this_machine(held: Repository, tmp_path: Path) -> None:
    """Its algorithm.yaml is another's: `code` would send files of whoever registers it."""
    for code in ("/etc", "../..", "'~'", str(tmp_path)):
        commit = held.files({"algorithm.yaml": f"{ALGORITHM}code: {code}\n"})
        with pytest.raises(InvalidSpec) as why, given_algorithm(held.url, commit, None):
            pass
        assert [one.code for one in why.value.problems] == ["code_outside_repository"]
    commit = held.files({"nets/algorithm.yaml": f"{ALGORITHM}code: src\n", "nets/src/train.py": "x"})
    with given_algorithm(held.url, commit, "nets") as given:
        assert given.folder is not None
        assert [path.name for path in Path(given.folder).iterdir()] == ["train.py"]
        assert given.name == "nets"
        assert given.origin == Origin(git=held.url, commit=commit, folder="nets/src")
    with pytest.raises(InvalidSpec) as why, given_algorithm(held.url, commit, None):
        pass
    assert [one.code for one in why.value.problems] == ["no_algorithm_file_in_commit"]
    commit = held.files({"algorithm.yaml": ALGORITHM, "train.py": "x"})
    with given_algorithm(held.url, commit, None) as given:
        assert (given.name, given.origin) == ("nets", Origin(git=held.url, commit=commit))
