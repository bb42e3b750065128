"""What the administration page tells to type works on a server set up as the page says."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.test_commands import Shell

PAGE = (Path(__file__).parents[3] / "docs/guide/administration.md").read_text()


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
