"""What `pip install trainmaster` brings to a laptop: command line and SDK, whole, and a plain word for what needs a
server's packages.
"""

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.fixtures.client_alone import PROJECT, TM, alone, client_packages, hidden, named
from tests.fixtures.shell import ONE_NODE, Shell, serving
from trainmaster.cli.installed import REMEDY, SERVER, lacking, told_plainly
from trainmaster.core.errors import Unavailable

ROOT = Path(__file__).parents[3]
PATIENCE_S = 120.0
WITHOUT = {"IPython", "babel", "pandas"}
"""Used where they are: by a notebook, and by a language that somebody added."""
EVERYTHING = """
import pkgutil
from importlib import import_module
import trainmaster.sdk
from trainmaster import Client, answers, log, progress
from trainmaster.cli.main import commands
for one in pkgutil.iter_modules(trainmaster.sdk.__path__):
    import_module(f"trainmaster.sdk.{one.name}")
commands()
Client("http://127.0.0.1:9").close()
"""
REHEARSE = """
import sys
from trainmaster.sdk.offline import rehearse
for path in sys.argv[1:]:
    found = rehearse(path)
    assert found.ok, (path, found.problems)
    print(path)
"""


def run(program: str, *words: str, home: Path, code: int | None = 0, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run a program with the client alone, on a machine where `home` is the person's own folder. `code` None: it ends
    as it may.
    """
    known = {name: value for name, value in os.environ.items() if not name.startswith("TRAINMASTER_")}
    done = subprocess.run(
        [*alone(program), *words],
        cwd=ROOT,
        env={**known, "HOME": str(home), "COLUMNS": "160", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert code in (done.returncode, None), (words, done.returncode, done.stdout, done.stderr)
    return done


PROGRAMS: Final = {"uv"}
"""Packages that bring a program: whoever needs it says that it is missing (service/environments)."""


def third_party() -> Iterator[str]:
    """Yield every module of others that the product imports anywhere."""
    for path in (ROOT / "trainmaster").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            yield from (name.partition(".")[0] for name in names)


def test_the_two_groups_share_nothing_and_every_module_of_the_server_is_known() -> None:
    extra = set(map(named, PROJECT["optional-dependencies"]["server"]))
    assert not extra & client_packages()
    assert set(map(named, SERVER.values())) == extra - PROGRAMS
    theirs = set(third_party()) - sys.stdlib_module_names - {"trainmaster"}
    assert theirs & hidden() - WITHOUT <= set(SERVER)
    assert set(SERVER) <= hidden(), "they are hidden here"
    assert lacking() == []


def test_sdk_and_commands_are_there(tmp_path: Path) -> None:
    run(EVERYTHING, home=tmp_path)


def test_the_help_is_the_same_as_everywhere(tmp_path: Path) -> None:
    env = {**os.environ, "COLUMNS": "160"}
    whole = subprocess.run(
        [sys.executable, "-c", TM, "--help"], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    said = run(TM, "--help", home=tmp_path).stdout
    assert said == whole.stdout
    assert "serve" in said


def test_the_examples_are_checked_without_a_server(tmp_path: Path) -> None:
    jobs = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("examples/*/job.*"))]
    assert len(jobs) > 3
    assert run(REHEARSE, *jobs, home=tmp_path).stdout.split() == jobs
    assert "it is valid" in run(TM, "submit", "--dry-run", jobs[0], home=tmp_path).stdout


@pytest.mark.parametrize(
    "words",
    [("serve",), ("unit",), ("unit", "--user"), ("engine", "add", "slurm", "alps"), ("engine", "check", "alps")],
)
def test_what_needs_a_server_here_says_what_is_missing_and_leaves_nothing(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    said = run(TM, *words, home=tmp_path, code=1)
    assert said.stdout == ""
    first, remedy = said.stderr.splitlines()
    assert first.startswith("error This needs server packages that are not installed here: alembic, argon2-cffi, ")
    assert REMEDY in remedy
    assert [*tmp_path.iterdir()] == []


def test_the_doctor_looks_at_the_server_elsewhere_alone(tmp_path: Path) -> None:
    found = {one["name"]: one for one in json.loads(run(TM, "doctor", "--json", home=tmp_path).stdout)}
    assert set(found) == {"python", "server", "computer"}
    assert "psutil" in found["computer"]["detail"]
    assert REMEDY in found["computer"]["remedy"]
    assert "TRAINMASTER_URL" in found["server"]["remedy"]


def test_only_a_package_of_the_server_is_told_so() -> None:
    with pytest.raises(Unavailable, match="psutil"), told_plainly():
        raise ModuleNotFoundError("No module named 'psutil._common'", name="psutil._common")
    with pytest.raises(ModuleNotFoundError), told_plainly():
        raise ModuleNotFoundError("No module named 'trainmaster.nothing'", name="trainmaster.nothing")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


LOOK = (
    "list", "queue", "pool list", "node list", "engine list", "workspace list", "flavor list", "token list", "doctor",
)  # fmt: skip


def test_with_a_server_elsewhere_all_is_there(server: Shell, tmp_path: Path) -> None:
    url = json.loads((server.home / "run/server.json").read_text())["url"]
    elsewhere = {"TRAINMASTER_URL": url, "TRAINMASTER_TOKEN": server("token", "create", "laptop").strip()}

    def tm(*words: str, code: int | None = 0) -> str:
        return run(TM, *words, home=tmp_path, code=code, **elsewhere).stdout

    (tmp_path / "main.py").write_text("print('from the laptop')\n")
    script = "python main.py; echo kept >/workspace/outputs/x; while [ ! -e /tmp/over ]; do sleep 0.1; done"
    role = {"name": "main", "command": ["bash", "-ec", script], "resources": {"cpu": 0.1, "memory": 64}}
    (tmp_path / "job.json").write_text(json.dumps({"name": "far", "code": ".", "roles": [role]}))
    job = tm("submit", str(tmp_path / "job.json")).strip()
    give_up = time.monotonic() + PATIENCE_S
    while json.loads(tm("show", job, "--json"))["state"] != "running" or "from the laptop" not in tm("logs", job):
        assert time.monotonic() < give_up
    for words in (*LOOK, f"explain {job}"):
        tm(*words.split())
    assert tm("exec", job, "--", "echo", "inside") == "inside\n"
    tm("exec", job, "--", "touch", "/tmp/over", code=None)  # the end of the task may be its own
    waiting = f"from trainmaster import Client\nassert Client().get({job!r}).wait(timeout=60).succeeded"
    run(waiting, home=tmp_path, **elsewhere)
    tm("download", job, "outputs", "--to", str(tmp_path / "got"))
    assert (tmp_path / "got/x").read_text() == "kept\n"
    assert "Succeeded" in tm("clone", job, "--set", "roles.0.command=echo again", "--wait")
