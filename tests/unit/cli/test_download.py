"""What jobs made comes to whoever asks for it: outputs, models and logs, by the command line and from a program (R149,
R242).
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.shell import Shell, serving
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.sdk.client import Client

SCRIPT = """
mkdir -p plots/deep && echo first > plots/a.txt && echo second > plots/deep/b.txt && : > plots/empty
echo weights > /model/w.bin && echo said
"""


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home")) as shell:
        yield shell


@pytest.fixture(scope="module")
def job(tm: Shell, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A job that wrote files, a model and a line of its log."""
    file = tmp_path_factory.mktemp("job") / "job.json"
    command = ["bash", "-ec", "cd /workspace/outputs; " + SCRIPT]
    resources = {"cpu": 0.1, "memory": 64}
    file.write_text(
        json.dumps({"name": "writes", "command": command, "resources": resources, "model": {"name": "kept"}})
    )
    ran = tm.json("submit", str(file), "--wait")
    assert ran["state"] == "succeeded"
    return str(ran["id"])


def read(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


OUTPUTS = {"plots/a.txt": "first\n", "plots/deep/b.txt": "second\n", "plots/empty": ""}


def test_outputs_come_as_they_were_written(tm: Shell, job: str, tmp_path: Path) -> None:
    said = tm("download", job, "--to", str(tmp_path / "all"))
    assert read(tmp_path / "all") == OUTPUTS
    assert said.splitlines() == [str(tmp_path / "all" / name) for name in sorted(OUTPUTS)]
    tm("download", job, "outputs/plots/deep", "--to", str(tmp_path / "deep"))
    assert read(tmp_path / "deep") == {"b.txt": "second\n"}
    tm("download", job, "outputs/plots/a.txt", "--to", str(tmp_path / "one"))
    assert read(tmp_path / "one") == {"a.txt": "first\n"}
    found = tm.json("download", job, "model", "--to", str(tmp_path / "model"))
    assert found == {"files": [str(tmp_path / "model/w.bin")]}


def test_a_folder_is_listed_without_a_size_that_is_not_its_own(tm: Shell, job: str) -> None:
    """What a file system says of a folder is neither how many entries it has nor how much is in it."""
    sizes = {row.split("\t")[-1]: row.split("\t")[1] for row in tm("files", job, "outputs/plots").splitlines()[1:]}
    assert sizes == {"outputs/plots/deep": "", "outputs/plots/a.txt": "6 B", "outputs/plots/empty": "0 B"}
    (top,) = [row.split("\t")[1] for row in tm("files", job).splitlines() if row.endswith("\toutputs")]
    assert top == "1 entry"


def test_a_saved_model_and_the_logs(tm: Shell, job: str, tmp_path: Path) -> None:
    tm("models", "download", "kept@1", "--to", str(tmp_path / "first"))
    tm("models", "download", "kept", "--to", str(tmp_path / "newest"))
    assert read(tmp_path / "first") == read(tmp_path / "newest")
    assert "weights\n" in read(tmp_path / "first").values()
    tm("download", job, "--logs", "--to", str(tmp_path / "logs"))
    assert "said\n" in read(tmp_path / "logs").values()


def test_nothing_that_is_there_is_overwritten(tm: Shell, job: str, tmp_path: Path) -> None:
    """All or nothing: one file in the way, and none is written."""
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots/a.txt").write_text("mine")
    said = tm("download", job, "--to", str(tmp_path), code=2)
    assert "already exists" in said
    assert read(tmp_path) == {"plots/a.txt": "mine"}
    tm("download", job, "outputs/plots/a.txt", "--to", str(tmp_path / "plots"), code=2)
    assert read(tmp_path) == {"plots/a.txt": "mine"}


def test_what_is_not_there_is_said(tm: Shell, job: str, tmp_path: Path) -> None:
    assert "no" in tm("download", job, "outputs/nothing", "--to", str(tmp_path), code=1)
    assert "no version 7" in tm("models", "download", "kept@7", "--to", str(tmp_path), code=1)
    assert "no version 7" in tm("models", "show", "kept@7", code=1)
    assert "leave it out with --logs" in tm("download", job, "outputs", "--logs", "--to", str(tmp_path), code=2)
    assert "write for example kept@3" in tm("models", "download", "kept@new", "--to", str(tmp_path), code=2)
    assert read(tmp_path) == {}


def test_a_program_downloads_the_same(tm: Shell, job: str, tmp_path: Path) -> None:
    with Client(home=str(tm.home)) as client:
        ran, heard = client.get(job), list[int]()
        files = ran.download(to=tmp_path / "out", on_bytes=heard.append)
        assert (read(tmp_path / "out"), [file.name for file in files]) == (OUTPUTS, ["a.txt", "b.txt", "empty"])
        assert sum(heard) > 0
        assert client.download_model("kept", to=tmp_path / "model")
        assert [file.suffix for file in ran.download_logs(tmp_path / "logs")] == [".log"]
        with pytest.raises(Conflict) as there:
            ran.download(to=tmp_path / "out")
        assert len(there.value.problems) == len(OUTPUTS)
        with pytest.raises(NotFound):
            ran.download("outputs/nothing", tmp_path)
