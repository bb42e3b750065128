"""Code of a commit, from the command line to a job that runs it (R23, R150)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.repositories import Repository, repository
from tests.fixtures.shell import ONE_NODE, Shell, serving

FILES = {
    "nets/mnist/algorithm.yaml": "command: python train.py\nparameters: [{name: lr, type: float, default: 0.5}]\n",
    "nets/mnist/train.py": "import sys\nprint('of the commit', sys.argv[1:])\n",
}


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Repository]:
    with repository(tmp_path / "lab.git") as made:
        yield made


def test_a_commit_becomes_a_version_and_runs(tm: Shell, held: Repository, tmp_path: Path) -> None:
    commit = held.files(FILES)
    words = ("algorithm", "create", held.url, "--commit", commit, "--folder", "nets/mnist")
    assert tm(*words) == "mnist@1\n"
    assert tm(*words) == "mnist@1\n", "the same commit is the same version"
    assert tm.json("algorithm", "show", "mnist")["spec"]["origin"] == {
        "git": held.url,
        "commit": commit,
        "folder": "nets/mnist",
    }
    assert f"from: {held.url} {commit} nets/mnist" in tm("algorithm", "show", "mnist")
    (tmp_path / "run.yaml").write_text("name: run\nalgorithm: mnist\nresources: {cpu: 0.5, memory: 256MiB}\n")
    tm("submit", str(tmp_path / "run.yaml"), "--wait")
    job = tm.json("list")[0]["id"]
    assert "of the commit ['--lr=0.5']" in tm("logs", job)
    newer = held.files({**FILES, "nets/mnist/more.py": "x = 1\n"})
    assert tm(*words[:4], newer, *words[5:]) == "mnist@2\n"
    back = tm("algorithm", "download", "mnist@2", "--to", str(tmp_path / "back"))
    assert {Path(line).name for line in back.splitlines()} == {"algorithm.yaml", "train.py", "more.py"}


def test_a_file_of_ones_own_names_the_commit(tm: Shell, held: Repository, tmp_path: Path) -> None:
    commit = held.files({"src/train.py": "print(1)\n"})
    own = tmp_path / "own"
    own.mkdir()
    (own / "algorithm.yaml").write_text(
        f"command: python train.py\ncode: {{git: '{held.url}', commit: {commit}, folder: src}}\n"
    )
    assert tm("algorithm", "create", str(own)) == "own@1\n"
    assert tm.json("algorithm", "show", "own")["spec"]["origin"]["folder"] == "src"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ext::sh -c touch% {tmp}/owned", "not the address of a git repository on a server"),
        ("file://{tmp}", "not the address of a git repository on a server"),
        ("https://ann:hunter2@example.org/a", "holds no user, password or token"),
    ],
)
def test_what_is_refused_registers_nothing(tm: Shell, tmp_path: Path, address: str, said: str) -> None:
    before = tm.json("algorithm", "list")
    told = tm("algorithm", "create", address.format(tmp=tmp_path), "--commit", "1" * 40, "--name", "bad", code=2)
    assert said in told
    assert "hunter2" not in told
    assert tm.json("algorithm", "list") == before
    assert not (tmp_path / "owned").exists()


def test_an_option_in_place_of_an_address_is_no_address(tm: Shell) -> None:
    told = tm("algorithm", "create", "--commit", "1" * 40, "--", "--upload-pack=touch owned", code=2)
    assert "not the address of a git repository" in told


def test_a_commit_with_submodules_registers_nothing(tm: Shell, held: Repository) -> None:
    tree = held.tree(("160000", "third", "1" * 40))
    told = tm("algorithm", "create", held.url, "--commit", held.commit(tree), "--name", "bad", code=2)
    assert "third: is a submodule" in told or "a submodule, which is not fetched" in told
    assert "bad" not in {one["name"] for one in tm.json("algorithm", "list")}
