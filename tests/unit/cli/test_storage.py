"""The keys of a storage connection come from anywhere but the command line, and what talks S3 is loaded late (R240)."""

import builtins
import getpass
import subprocess
import sys

import pytest
from typer.main import get_command

from tests.unit.cli.test_secrets import Typed
from trainmaster.cli.main import commands
from trainmaster.cli.people.storage import read_keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [("AKID\nsecret\n", ("AKID", "secret")), (" AKID \r\n secret \r\n", ("AKID", "secret")), ("AKID", ("", ""))],
)
def test_two_lines_that_are_piped_in_are_the_keys(
    monkeypatch: pytest.MonkeyPatch, text: str, keys: tuple[str, str]
) -> None:
    monkeypatch.setattr("sys.stdin", Typed(text, terminal=False))
    assert read_keys() == keys


def test_at_a_terminal_the_secret_is_asked_for_without_an_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Typed("", terminal=True))
    monkeypatch.setattr(builtins, "input", lambda prompt: "AKID ")
    monkeypatch.setattr(getpass, "getpass", lambda prompt: "typed")
    assert read_keys() == ("AKID", "typed")


def test_no_argument_takes_a_key() -> None:
    found = get_command(commands(["people.storage"]))
    taken = {param.name for param in found.commands["storage"].commands["add"].params}  # type: ignore[attr-defined]
    assert taken == {"name", "endpoint", "bucket", "region", "prefix", "workspace", "as_json"}


@pytest.mark.parametrize("what", ["trainmaster.cli.main", "trainmaster.service.wiring", "trainmaster.api.app"])
def test_what_talks_to_a_store_is_loaded_with_the_first_one(what: str) -> None:
    text = f"import sys, {what}; print([name for name in ('minio', 'urllib3', 'Crypto') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
