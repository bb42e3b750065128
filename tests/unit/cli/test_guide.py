"""What the guide tells to type works on a server set up as the page says, and prints what the page shows."""

import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.test_commands import Shell

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/guide/administration.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    shell = Shell(tmp_path_factory.mktemp("home"))
    (shell.home / "config.toml").write_text(next(text for text in blocks("toml") if "[[local.nodes]]" in text))
    shell.serve()
    yield shell
    shell.stop()


def test_every_command_of_the_page(tm: Shell) -> None:
    said = {}
    for line in "".join(blocks("bash")).splitlines():
        program, *words = shlex.split(line, comments=True)
        assert program == "tm"
        said[" ".join(words[:2])] = tm(*words)
    assert [row.split("\t")[:4] for row in said["node list"].splitlines()[1:]] == [
        [node, pool, "In service", "Room now"]
        for node, pool in (("node-1", "default"), ("node-3", "default"), ("node-4", "lab"))
    ]
    assert "quotas default: gpu 0/16 (at most 32)" in said["workspace set"]
    assert "lab  dedicated" in said["pool set"]
    assert re.search(r"age_cap_s\t1d12h\t", said["queue policy"])


def test_getting_started_shows_what_is_printed(tmp_path: Path) -> None:
    """From the start of the server to a job that waits; `scripts/said.py PAGE --write` renews the page."""
    spec = importlib.util.spec_from_file_location("said", ROOT / "scripts/said.py")
    assert spec is not None
    assert spec.loader is not None
    said = sys.modules["said"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(said)
    (tmp_path / "work").mkdir()
    session = said.Session(tmp_path / "work", tmp_path / "home")
    try:
        done, _ = said.play(ROOT / "docs/guide/getting-started.md", session)
    finally:
        session.close()
    assert [one.command for one in done if "submit" in one.command][-1] == "tm submit wide.yaml --name next"
    for one in done:
        assert said.skeleton(one.printed) == said.skeleton(one.shown), one.command
