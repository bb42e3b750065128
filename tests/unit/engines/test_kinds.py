"""Kinds of engines are found by name: ours, and those of installed packages. What is wrong with a package is said with
its name.
"""

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.plain import PREFIX
from trainmaster.core.errors import InvalidSpec
from trainmaster.engines import kinds
from trainmaster.messages import render
from trainmaster.service.settings import load

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Lay a package with one module and one entry point where Python finds it, as pip does. That of other tests is not
    there.
    """
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(folder for folder in sys.path if PREFIX not in folder)])

    def made(package: str, kind: str, value: str, module: str = "") -> None:
        if module:
            (tmp_path / f"{value.partition(':')[0]}.py").write_text(module)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{kinds.GROUP}]\n{kind} = {value}\n")
        importlib.invalidate_caches()

    return made


def module(name: str, more: str = "") -> str:
    return (
        "from dataclasses import dataclass\nfrom typing import Literal\n"
        "from trainmaster.engines.kinds import EngineKind\nfrom trainmaster.messages.said import verbatim\n"
        "@dataclass(frozen=True)\nclass Settings:\n    speed: Literal['slow', 'fast'] = 'slow'\n"
        "    loud: bool = False\n"
        f"KIND = EngineKind({name!r}, verbatim('x'), lambda own, layout, config: None, Settings{more})\n"
    )


def why(name: str) -> str:
    with pytest.raises(InvalidSpec) as refused:
        kinds.find(name)
    return f"{refused.value.message}. {refused.value.remedy}"


@pytest.mark.parametrize("name", kinds.BUILT_IN)
def test_ours_are_named_as_their_folders_and_called_something_in_both_languages(name: str) -> None:
    kind = kinds.find(name)
    assert kind.name == name
    assert kind.settings() == kind.settings()
    assert render.text(kind.label, "en") != render.text(kind.label, "zh")


def test_one_of_a_package_is_found_and_its_settings_are_read(install: Install, tmp_path: Path) -> None:
    install("warp-drive", "warp", "warp_engine:KIND", module("warp"))
    assert kinds.names() == ["local", "slurm", "warp"]
    config = tmp_path / "config.toml"
    config.write_text('[[engines]]\nkind = "warp"\nspeed = "fast"\nloud = true\n')
    (engine,) = load(str(config)).engines
    assert (engine.name, engine.settings.speed, engine.settings.loud) == ("warp", "fast", True)
    config.write_text('[[engines]]\nkind = "warp"\nspeed = "Warp"\nloud = 1\nload = 2\n')
    with pytest.raises(InvalidSpec) as refused:
        load(str(config))
    assert {problem.path for problem in refused.value.problems} == {
        f"engines.0.{key}" for key in ("speed", "loud", "load")
    }


def test_for_one_that_is_not_there_those_that_are_there_are_named(install: Install) -> None:
    install("warp-drive", "warp", "warp_engine:KIND", module("warp"))
    assert "local, slurm, warp" in why("cloud")


@pytest.mark.parametrize(
    ("value", "text", "words"),
    [
        ("no_such_module:KIND", "", "ModuleNotFoundError"),
        ("broken_engine:KIND", "1 / 0\n", "ZeroDivisionError: division by zero"),
        ("empty_engine:KIND", "pass\n", "AttributeError"),
        ("other_engine:KIND", module("other"), "is not an EngineKind with the name warp"),
        ("wrong_engine:KIND", "KIND = 3\n", "is not an EngineKind"),
        ("loose_engine:KIND", module("warp").replace("@dataclass(frozen=True)\n", ""), "are no dataclass"),
    ],
)
def test_a_package_that_is_broken_is_named(install: Install, value: str, text: str, words: str) -> None:
    install("warp-drive", "warp", value, text)
    said = why("warp")
    assert words in said
    assert "pip uninstall warp-drive" in said


def test_two_packages_with_one_kind_are_both_named(install: Install) -> None:
    install("warp-drive", "warp", "warp_engine:KIND", module("warp"))
    install("hyper-drive", "warp", "hyper_engine:KIND", module("warp"))
    assert "hyper-drive, warp-drive" in why("warp")


def test_nobody_replaces_one_of_ours(install: Install) -> None:
    install("my-slurm", "slurm", "my_slurm:KIND", module("slurm"))
    assert kinds.find("slurm").make.__module__ == "trainmaster.engines.slurm.kind"


def test_what_the_configuration_does_not_name_is_not_loaded() -> None:
    code = (
        "import sys\nfrom trainmaster.service.settings import load\nload('/dev/null')\n"
        "print(*[name for name in sys.modules if name.startswith('trainmaster.engines.')"
        " or name == 'importlib.metadata'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "trainmaster.engines.local.kind" in loaded
    assert not any(name.startswith("trainmaster.engines.slurm") or name == "importlib.metadata" for name in loaded)
    assert "trainmaster.engines.local.engine" not in loaded
