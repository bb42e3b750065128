"""The value of a secret comes from anywhere but the command line (B12)."""

import getpass
import io
from typing import Any

import pytest
import typer
from typer.main import get_command

from trainmaster.cli.main import commands
from trainmaster.cli.people.secrets import read_value


class Typed(io.StringIO):
    def __init__(self, text: str, terminal: bool) -> None:
        super().__init__(text)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("s3cret", "s3cret"),
        ("s3cret\n", "s3cret"),
        ("s3cret\r\n", "s3cret"),
        ("two\nlines\n\n", "two\nlines\n"),
        ("", ""),
    ],
)
def test_what_is_piped_in_is_the_value_without_the_end_of_its_last_line(
    monkeypatch: pytest.MonkeyPatch, text: str, value: str
) -> None:
    monkeypatch.setattr("sys.stdin", Typed(text, terminal=False))
    assert read_value(None) == value


def test_at_a_terminal_it_is_asked_for_without_an_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Typed("", terminal=True))
    monkeypatch.setattr(getpass, "getpass", lambda prompt: "typed")
    assert read_value(None) == "typed"


def test_a_file_is_taken_as_it_is() -> None:
    file: Any = typer.FileText(io.BytesIO(b"a\nkey\n"), encoding="utf-8")
    assert read_value(file) == "a\nkey\n"


def test_no_argument_takes_a_value() -> None:
    found: Any = get_command(commands(["people.secrets"]))
    taken = {param.name for param in found.commands["secret"].commands["set"].params}
    assert taken == {"name", "workspace", "from_file", "as_json"}
