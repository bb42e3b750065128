"""What the guide tells to type works on a server set up as the page says, and prints what the page shows."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from tests.fixtures.receivers import hooks_beside
from tests.fixtures.stores import served

ROOT = Path(__file__).parents[3]
NOT_PLAYED = {"images.md": "its jobs install packages, for which a package index must be reached"}
SHOWING = sorted(page.name for page in (ROOT / "docs/guide").glob("*.md") if "```console\n" in page.read_text())
AT_ROOT = "/srv/datasets"
"""What data.md tells to make as root; here it is a folder of the test."""


@contextmanager
def stand_ins(page: str, folder: Path) -> Iterator[dict[str, str]]:
    """What stands here for the addresses that a page names: a server that the page does not start."""
    if page == "storage.md":
        with served(folder / "s3") as store:
            yield {"https://s3.example.org": store.endpoint}
    elif page == "notifications.md":
        with hooks_beside() as hooks:
            yield {"https://example.org/": hooks.url.removesuffix("hook")}
    else:
        yield {}


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
    with stand_ins(name, tmp_path) as stands:
        session = said.Session(tmp_path / "work", tmp_path / "home", stands=stands)
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
