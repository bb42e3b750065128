"""What the guide tells to type works on a server set up as the page says, and prints what the page shows."""

import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

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


NOT_PLAYED = {"images.md": "its jobs install packages, for which a package index must be reached"}
SHOWING = sorted(page.name for page in (ROOT / "docs/guide").glob("*.md") if "```console\n" in page.read_text())
AT_ROOT = "/srv/datasets"
"""What data.md tells to make as root; here it is a folder of the test."""


@pytest.fixture(scope="module")
def said() -> ModuleType:
    spec = importlib.util.spec_from_file_location("said", ROOT / "scripts/said.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["said"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [page for page in SHOWING if page not in NOT_PLAYED])
def test_a_page_shows_what_is_printed(name: str, said: ModuleType, tmp_path: Path) -> None:
    """From the start of the server to its end; `scripts/said.py PAGE --write` renews the page."""
    (tmp_path / "work").mkdir()
    flowers = tmp_path / "datasets/flowers"
    flowers.mkdir(parents=True)
    (flowers / "labels.txt").write_text("daisy rose tulip\n")
    page = tmp_path / name
    page.write_text((ROOT / "docs/guide" / name).read_text().replace(AT_ROOT, str(flowers.parent)))
    session = said.Session(tmp_path / "work", tmp_path / "home")
    try:
        done, _ = said.play(page, session)
    finally:
        session.close()
    assert done
    for one in done:
        assert said.skeleton(one.printed) == said.skeleton(one.shown), one.command


def test_every_page_that_shows_a_session_is_played() -> None:
    assert NOT_PLAYED.keys() <= set(SHOWING)
    assert {"getting-started.md", "data.md", "models.md"} <= set(SHOWING)
