"""What is imported when: the command line answers at once and the server stays small because nothing heavy is loaded
early.
"""

import subprocess
import sys

import pytest


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


HELP = """
import sys
from trainmaster.cli.main import run
sys.argv = ["tm", "--help"]
try:
    run()
except SystemExit as ended:
    assert ended.code == 0
"""
HEAVY = {
    "torch",
    "tensorboard",
    "numpy",
    "fastapi",
    "pydantic",
    "sqlalchemy",
    "uvicorn",
    "httpx",
    "msgspec",
    "re2",
    "rich",
    "websockets",
    "yaml",
    "psutil",
    "argon2",
    "prometheus_client",
}


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import trainmaster", set()),
        ("import trainmaster.cli.main", set()),
        (HELP, {"rich"}),
        ("import trainmaster.sdk.client", {"msgspec"}),
        ("import trainmaster.sdk.task", set()),
        (
            "import trainmaster.service.wiring, trainmaster.api.app",
            {"fastapi", "pydantic", "sqlalchemy", "yaml", "psutil", "argon2", "msgspec", "re2"},
        ),
    ],
)
def test_only_what_is_needed_is_loaded(code: str, allowed: set[str]) -> None:
    assert loaded(code) & HEAVY <= allowed


def test_a_client_brings_no_command_line_of_the_http_library() -> None:
    found = loaded("from trainmaster.sdk.client import Client\nClient('http://127.0.0.1:9', 'x')")
    assert "httpx" in found
    assert not {"rich", "pygments", "click"} & found


def test_the_contracts_shapes_are_not_built_at_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import trainmaster.api.app, sys; print('trainmaster.api.takes' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
