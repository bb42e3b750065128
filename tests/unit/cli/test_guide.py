"""What the guide tells to type works on a server set up as the page says, and prints what the page shows."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.fixtures.beside_pages import beside

ROOT = Path(__file__).parents[3]
NOT_PLAYED = {"images.md": "its jobs install packages, for which a package index must be reached"}
SHOWING = sorted(page.name for page in (ROOT / "docs/guide").glob("*.md") if "```console\n" in page.read_text())


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
    with beside(name, tmp_path) as stands:
        session = said.Session(tmp_path / "work", tmp_path / "home", stands=stands)
        try:
            done, _ = said.play(ROOT / "docs/guide" / name, session)
        finally:
            session.close()
    assert done
    for one in done:
        assert said.skeleton(one.printed) == said.skeleton(one.shown), one.command


def test_a_page_that_counts_on_an_id_that_never_came_is_told_so(said: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo t1b12c714386972a32f5c1258dc79667e\n$ echo tJOB2\n```\n")
    with pytest.raises(AssertionError, match=r"echo tJOB2: only 1 id was printed"):
        said.play(page, said.Session(tmp_path, tmp_path / "home"))


def test_every_page_that_shows_a_session_is_played() -> None:
    assert NOT_PLAYED.keys() <= set(SHOWING)
    assert {"getting-started.md", "data.md", "models.md"} <= set(SHOWING)
