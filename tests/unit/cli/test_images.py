"""Images on the command line (R25, R235): built while one looks on, stopped, and what went wrong said in words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.packages import sdist, take_only_from, wheel
from tests.fixtures.shell import ONE_NODE, Shell, serving


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("links")
    wheel(folder, "tinyone", "1.0", "value = 1\n")
    sdist(folder, "slow", "1.0", "import time\ntime.sleep(600)\nFOUND = 0\n")
    with pytest.MonkeyPatch.context() as patch:
        take_only_from(folder, patch)
        with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
            yield shell


def test_an_image_is_made_shown_and_deleted(tm: Shell, tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("tinyone\n")
    assert tm.here("image", "create", "tiny", "--requirements", str(file), "--for", "pytorch").split()[-1] == "tiny@1"
    assert "tiny@1" in tm.here("image", "list")
    assert "tinyone==1.0" in tm.here("image", "show", "tiny")
    assert "deleted" in tm.here("image", "delete", "tiny")


def test_a_build_is_stopped(tm: Shell, tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("slow\n")
    build = tm.here("image", "create", "slow", "--requirements", str(file), "--no-wait").strip()
    assert tm.json("image", "stop", build)["state"] == "stopped"
    assert build in tm.here("image", "builds")
