"""An algorithm whose code is a commit: its page says which, and another version with the same code keeps it (R150)."""

from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.world import World
from tests.fixtures.repositories import repository

ALGORITHM = "command: python train.py\nparameters:\n- {name: lr, type: float, default: 0.1}\n"


def test_an_algorithm_says_from_which_commit_its_code_is(world: World, console: Console, tmp_path: Path) -> None:
    with repository(tmp_path / "digits") as made, world.client() as client:
        files = {"train.py": "print('trained')\n", "algorithm.yaml": ALGORITHM}
        commit = made.files({f"src/{path}": text for path, text in files.items()})
        id_ = client.algorithms.upload(made.url, "digits", commit=commit, folder="src").id
    console.open(f"/algorithms/{id_}")
    origin = console.at("algorithm-origin")
    expect(origin).to_contain_text(made.url)
    expect(origin).to_contain_text(f"src {commit[:12]}")
    console.press("algorithm-create")
    console.at("algorithm-description").fill("digits, well read")
    console.press("algorithm-make")
    expect(console.at("version-2")).to_have_attribute("aria-current", "true")
    expect(origin).to_contain_text(f"src {commit[:12]}")
    with world.client() as client:
        spec = client.algorithms.get("digits").spec
    assert spec["origin"] == {"git": made.url, "commit": commit, "folder": "src"}
