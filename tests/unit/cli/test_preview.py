"""`tm preview` tells the truth: what it says of a job, with a server and without, is what `tm submit` then meets (R41,
B8).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import quick
from tests.fixtures.shell import Shell, serving

DATA = Path(__file__).parent
"""Stands for the folder of data sets that an example mounts: any that is there."""
EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*/job.*"))


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    roots = f'[local]\nmount_roots = ["{DATA}"]\n'
    with serving(tmp_path_factory.mktemp("home"), "--demo-cards", "2", settings=roots) as shell:
        yield shell


def job_with_code(folder: Path, code: Any = ".", **more: Any) -> str:
    """A job file in a folder that holds its program."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text("print('trained')\n")
    job = {"name": "coded", "code": code, "command": "python train.py", "resources": {"cpu": 0.1, "memory": 64}}
    (folder / "job.json").write_text(json.dumps({**job, **more}))
    return str(folder / "job.json")


def both(tm: Shell, file: str, *words: str, code: int = 0) -> dict[str, Any]:
    """What the server says, where the check without one agrees."""
    online = json.loads(tm_out(tm, file, *words, code=code))
    offline = json.loads(tm_out(tm, file, "--offline", *words, code=code))
    assert (online["ok"], online["problems"]) == (offline["ok"], offline["problems"])
    return dict(online)


def tm_out(tm: Shell, file: str, *words: str, code: int) -> str:
    return tm("preview", file, *words, "--json", code=code)


@pytest.mark.parametrize("job", EXAMPLES, ids=lambda path: path.parent.name)
def test_every_example_is_valid_and_would_start_now(tm: Shell, job: Path) -> None:
    mounts = "inputs" in job.read_text()
    found = both(tm, str(job), *(("--set", f"inputs.0.path={DATA}") if mounts else ()))
    assert found["ok"]
    assert found["would_start"]["when"] == "now"


def test_numbers_that_no_parameter_can_have(tm: Shell, tmp_path: Path) -> None:
    """In the file, and where the command line changes it: the field is named, with and without a server."""
    file = tmp_path / "numbers.yaml"
    file.write_text("name: a\ncommand: python train.py\nparameters: {lr: 0.1}\n")
    for number in (".nan", ".inf", "9223372036854775808"):
        for offline in ((), ("--offline",)):
            said = tm("preview", str(file), "--set", f"parameters.lr={number}", *offline, code=2)
            assert "parameters.lr" in said, said
    file.write_text("name: a\ncommand: python train.py\nparameters: {lr: .nan}\n")
    assert "parameters.lr" in tm("submit", str(file), code=2)


def test_hooks_stand_beside_the_command(tm: Shell, tmp_path: Path) -> None:
    """R53: in a preview with and without a server, and in what is shown of a job."""
    file = tmp_path / "hooks.yaml"
    file.write_text(
        "name: hooks\ncommand: python train.py\nhooks: {before: python get.py --to=$HOME, after: [rm, -r, a b]}\n"
    )
    for offline in ((), ("--offline",)):
        lines = [line.split() for line in tm("preview", str(file), *offline).splitlines()]
        assert ["hooks.after", "rm", "-r", "'a", "b'"] in lines
        assert any(line[:3] == ["hooks.before", "python", "get.py"] for line in lines)
    (role,) = tm.json("preview", str(file))["roles"]
    assert (role["after"], role["command"]) == ("rm -r 'a b'", "python train.py")
    job = tm("submit", str(file)).split()[-1]
    assert "hooks.after: rm -r 'a b'" in tm("show", job)


def test_a_code_folder_is_the_senders_to_upload(tm: Shell, tmp_path: Path) -> None:
    """Nothing is sent, in a path as a text or as an object; and what was promised is what happens."""
    for number, code in enumerate((".", {"path": "."})):
        file = job_with_code(tmp_path / str(number), code)
        assert both(tm, file)["fits"]["when"] == "now"
        assert "it would start now" in tm("preview", file)
        assert "it would start now" in tm("submit", file, "--dry-run")
    assert not [*(tm.home / "uploads").glob("*/*")]
    assert tm.json("submit", file, "--wait")["state"] == "succeeded"


def test_what_of_a_code_folder_stays_here_is_said(tm: Shell, tmp_path: Path) -> None:
    file = job_with_code(tmp_path)
    for name in (".git", ".venv", "a/__pycache__"):
        (tmp_path / name).mkdir(parents=True)
    done = quick.tm("submit", file, env=tm.env)
    assert done.returncode == 0
    assert done.stderr.startswith("Not uploaded: .git/, .venv/, a/__pycache__/ (")
    assert ".trainmasterignore" in done.stderr
    assert done.stdout.strip().startswith("t")


def test_another_code_folder_on_the_command_line(tm: Shell, tmp_path: Path) -> None:
    """It starts at the job file's folder, as what stands in the file does."""
    file = job_with_code(tmp_path / "job", "nowhere")
    job_with_code(tmp_path / "other")
    assert both(tm, file, "--set", "code=../other")["ok"]
    ran = tm.json("submit", file, "--set", "code=../other", "--wait")
    assert ran["state"] == "succeeded"


def test_a_folder_that_cannot_be_sent_is_said_before(tm: Shell, tmp_path: Path) -> None:
    missing = job_with_code(tmp_path / "a", "nowhere")
    (problem,) = both(tm, missing, code=2)["problems"]
    assert (problem["path"], problem["rule"]) == ("code.path", f"there is no folder {tmp_path}/a/nowhere")
    leaving = job_with_code(tmp_path / "b")
    (tmp_path / "b/secret").symlink_to("/etc/passwd")
    (problem,) = both(tm, leaving, code=2)["problems"]
    assert (problem["path"], problem["rule"]) == ("secret", "a link must not lead out of the folder")
    for file, words in (
        (missing, f"there is no folder {tmp_path}/a/nowhere"),
        (leaving, "a link must not lead out of the folder"),
    ):
        assert words in tm("submit", file, code=2)


def test_what_else_is_wrong_is_said_as_well(tm: Shell, tmp_path: Path) -> None:
    file = job_with_code(tmp_path, "nowhere", command="a | b")
    assert {problem["path"] for problem in both(tm, file, code=2)["problems"]} == {"code.path", "command"}


def test_who_speaks_to_the_server_alone_is_told_that_the_folder_is_missing(tm: Shell, tmp_path: Path) -> None:
    """The same document by curl: nobody would upload anything, and a submit never believes that somebody will."""
    from trainmaster import Client
    from trainmaster.core.errors import InvalidSpec

    spec = json.loads(Path(job_with_code(tmp_path)).read_text())
    with Client(home=str(tm.home)) as client:
        alone = client.http.json("POST", "/jobs/preview", json={"spec": spec})
        assert [problem["code"] for problem in alone["problems"]] == ["code_not_uploaded"]
        wrong = client.http.json("POST", "/jobs/preview", json={"spec": spec, "code_follows": "yes"})
        assert [problem["path"] for problem in wrong["problems"]] == ["code_follows"]
        with pytest.raises(InvalidSpec) as refused:
            client.http.json("POST", "/jobs", json={"spec": spec, "code_follows": True})
    assert [problem.code for problem in refused.value.problems] == ["code_not_uploaded"]
