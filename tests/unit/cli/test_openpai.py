"""OpenPAI files by the command line: another name, other values, and a code folder of one's own machine (R67, R72,
R92).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.shell import Shell, serving


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home")) as shell:
        yield shell


def file_of(folder: Path, **fields: Any) -> str:
    role = {"name": "w", "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0, "taskNumber": 1, "command": "cat main.py"}
    document = {"jobName": "mine", "image": "local", "taskRoles": [role], **fields}
    path = folder / "job.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_a_code_folder_is_uploaded_as_that_of_any_job(tm: Shell, tmp_path: Path) -> None:
    """Beside the job file, as people keep it; a preview promises it, and sends nothing."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code/main.py").write_text("what the folder holds\n")
    file = file_of(tmp_path, codeDir="./code")
    assert tm.json("preview", file)["ok"]
    assert tm.json("preview", file, "--offline")["ok"]
    job = tm.json("submit", file, "--wait")
    assert (job["state"], job["slug"]) == ("succeeded", "mine")
    assert "what the folder holds" in tm("logs", job["id"])
    for key in ("code", "codeDir"):
        named = file_of(tmp_path, jobName=f"by-{key}")
        job = tm.json("submit", named, "--set", f"{key}=./code", "--wait")
        assert "what the folder holds" in tm("logs", job["id"])


def test_another_name_is_another_job(tm: Shell, tmp_path: Path) -> None:
    """The name of an OpenPAI job is unique: a second one needs its own."""
    role = {"name": "w", "command": "true"}
    file = file_of(tmp_path, jobName="once", taskRoles=[role])
    tm("submit", file)
    assert "in use" in tm("submit", file, code=2)
    assert tm.json("submit", file, "--name", "once.more", "--wait")["slug"] == "once.more"


def test_values_are_changed_by_openpais_paths_and_by_ours(tm: Shell, tmp_path: Path) -> None:
    role = {"name": "w", "command": "echo $MODE"}
    file = file_of(tmp_path, jobName="changed", taskRoles=[role])
    words = ["--set", "taskRoles.0.taskNumber=2", "--set", "env.MODE=fast", "--set", "roles.0.resources.memory=128"]
    spec = tm.json("preview", file, *words)["spec"]
    assert spec == tm.json("preview", file, "--offline", *words)["spec"]
    assert (spec["roles"][0]["replicas"], spec["roles"][0]["resources"]["memory"]) == (2, 128)
    job = tm.json("submit", file, *words, "--wait")
    assert (job["state"], job["tasks"]["total"]) == ("succeeded", 2)
    assert tm("logs", job["id"]) == "w-0 | fast\nw-1 | fast\n"
    assert "roles.7" in tm("submit", file, "--set", "roles.7.replicas=2", code=2)
