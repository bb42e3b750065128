"""Volumes on the command line, and `tm cp` between this machine and whatever the server has (R47, R52, R140, R145,
R245).
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.shell import Shell, serving
from trainmaster.core.errors import InvalidSpec
from trainmaster.sdk.assets.copying import Remote
from trainmaster.sdk.client import Client


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home")) as shell:
        yield shell


def read(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "a.txt").write_text("a\n")
    (folder / "deep/b.txt").write_text("b\n" * 800_000)
    (folder / "deep/run.sh").write_text("echo\n")
    (folder / "deep/run.sh").chmod(0o755)
    (folder / "link").symlink_to("a.txt")
    return folder


def test_a_folder_goes_there_and_comes_back(tm: Shell, data: Path, tmp_path: Path) -> None:
    made = tm.json("volume", "create", "scratch", "--description", "of a test")
    root = Path(made["path"], "files")
    done = tm.json("cp", str(data), "volume:scratch/in")
    assert done == {
        "files": [f"volume:scratch/in/{name}" for name in ("a.txt", "deep/b.txt", "deep/run.sh", "empty")],
        "left_out": ["link"],
    }
    expected = {name: text for name, text in read(data).items() if name != "link"}
    assert read(root / "in") == expected
    assert (root / "in/empty").is_dir()
    assert os.access(root / "in/deep/run.sh", os.X_OK)
    for target in ("volume:scratch/one/", "volume:scratch/in", "volume:scratch/b.txt", "volume:scratch"):
        tm("cp", str(data / "a.txt"), target)
    assert read(root)["one/a.txt"] == read(root)["b.txt"] == read(root)["a.txt"] == "a\n"
    tm("cp", "volume:scratch/in", str(tmp_path / "back"))
    assert read(tmp_path / "back") == expected
    tm("cp", "volume:scratch/in/deep/b.txt", str(tmp_path))
    tm("cp", "volume:scratch/a.txt", str(tmp_path / "named.txt"))
    assert (tmp_path / "b.txt").stat().st_size == 1_600_000
    assert (tmp_path / "named.txt").read_text() == "a\n"
    said = tm("cp", "volume:scratch/a.txt", str(tmp_path / "named.txt"), code=2)
    assert "already exists" in said
    tm("volume", "upload", "scratch/more", str(data / "deep"))
    tm("volume", "download", "scratch/more", "--to", str(tmp_path / "more"))
    assert read(tmp_path / "more") == read(data / "deep")
    listed = tm.json("volume", "files", "scratch/in")
    assert [(one["kind"], one["name"]) for one in listed] == [
        ("folder", "deep"), ("folder", "empty"), ("file", "a.txt"),
    ]  # fmt: skip
    tm("volume", "delete", "scratch/in", "scratch/b.txt")
    assert sorted(os.listdir(root)) == ["a.txt", "more", "one"]
    tm("volume", "change", "scratch", "--name", "kept")
    assert "of a test" in tm("volume", "show", "kept")
    assert [one["name"] for one in tm.json("volume", "list")] == ["kept"]
    tm("volume", "delete", "kept")
    tm("volume", "show", "kept", code=1)


def test_whatever_the_server_has_comes_here(tm: Shell, data: Path, tmp_path: Path) -> None:
    """Of a job, of a data set and of a model; a job writes into a volume what the next copy brings."""
    tm("volume", "create", "shared")
    file = tmp_path / "job.json"
    text = (
        "mkdir -p /workspace/outputs/plots /model/deep; echo p > /workspace/outputs/plots/p.txt; "
        "echo w > /model/deep/w; echo v > /workspace/volume/shared/v.txt"
    )
    inputs = [{"volume": "shared", "read_only": False}]
    document = {"name": "writes", "command": ["bash", "-ec", text], "resources": {"cpu": 0.1, "memory": 64}}
    file.write_text(json.dumps({**document, "inputs": inputs, "model": {"name": "net"}}))
    job = tm.json("submit", str(file), "--wait")
    assert job["state"] == "succeeded"
    tm("dataset", "upload", "flowers", str(data))
    for number, (source, expected) in enumerate({
        f"job:{job['id']}": {"plots/p.txt": "p\n"},
        f"job:{job['id']}/outputs/plots": {"p.txt": "p\n"},
        f"job:{job['id']}/model/deep/w": {"w": "w\n"},
        "volume:shared": {"v.txt": "v\n"},
        "dataset:flowers@1/deep": read(data / "deep"),
        "dataset:flowers/a.txt": {"a.txt": "a\n"},
        "dataset:flowers": read(data),
        "model:net@1/model": {"deep/w": "w\n"},
        "model:net/model/deep": {"w": "w\n"},
    }.items()):  # fmt: skip
        to = tmp_path / f"to-{number}"
        done = tm.json("cp", source, f"{to}/")
        assert read(to) == expected, source
        assert {Path(one).name for one in done["files"]} == {Path(one).name for one in expected} - {"link"}
    tm("cp", "job:none/outputs", str(tmp_path / "x"), code=1)
    tm("cp", "volume:shared/none", str(tmp_path / "x"), code=1)
    assert not (tmp_path / "x").exists()


def test_one_side_is_here_and_only_volumes_are_written(tm: Shell, data: Path) -> None:
    for words in (
        ("a", "b"), ("volume:a/x", "volume:b/x"), (str(data), "dataset:flowers"), (str(data), "job:x/outputs"),
        ("volume:", "x"), ("job:a@1/x", "x"), ("dataset:a@b", "x"), ("model:a@", "x"),
    ):  # fmt: skip
        tm("cp", *words, code=2)


def test_what_names_a_place_on_the_server() -> None:
    assert Remote.parsed("volume:a/b/c") == Remote("volume", "a", None, "b/c")
    assert Remote.parsed("dataset:a@12") == Remote("dataset", "a", 12, "")
    for here in ("a", "./volume:a/b", "C:/x", "disk:a", "/volume:a"):
        assert Remote.parsed(here) is None
    for bad in ("volume:", "volume:/x", "volume:a@1", "dataset:a@", "dataset:a@-1", "model:@1", "dataset:a@٣"):
        with pytest.raises(InvalidSpec):
            Remote.parsed(bad)


def test_a_file_that_breaks_off_is_sent_again(tm: Shell, tmp_path: Path) -> None:
    """From Python; another file that is shorter by then is said so."""
    source = tmp_path / "x"
    source.write_bytes(b"x" * (3 << 20))
    moved: list[int] = []
    with Client(home=str(tm.home)) as client:
        client.volumes.create("python")
        assert client.volumes.upload(source, "python", on_bytes=moved.append) == ["x"]
        assert sum(moved) == 3 << 20
        client.volumes.move("python", "x", "in/y")
        client.volumes.make_folder("python", "in", there=True)
        client.volumes.remove("python", "in")
        assert client.volumes.files("python") == []
        client.volumes.delete("python")


def test_a_star_is_put_on_several_and_taken_from_one(tm: Shell) -> None:
    for name in ("liked", "other"):
        tm.here("volume", "create", name)
    assert tm.here("volume", "star", "liked", "other").splitlines() == ["liked  favorite", "other  favorite"]
    both = json.loads(tm.here("volume", "list", "--favorite", "--json"))
    assert {one["name"] for one in both} == {"liked", "other"}
    assert tm.here("volume", "star", "other", "--remove") == "other  no favorite\n"
    assert [one["name"] for one in json.loads(tm.here("volume", "list", "--favorite", "--mine", "--json"))] == ["liked"]
    assert tm.here("volume", "list", "--favorite", "--shared") == "No volumes.\n"
    assert "nothing: There is no volume" in tm.here("volume", "star", "nothing", code=1)
