"""The engines in config.toml."""

from pathlib import Path

import pytest

from trainmaster.core.config import Config, EngineConfig
from trainmaster.core.errors import InvalidSpec
from trainmaster.service.settings import load


def read(tmp_path: Path, text: str) -> Config:
    """Return the configuration that `text` is."""
    (tmp_path / "config.toml").write_text(text)
    return load(str(tmp_path / "config.toml"))


def test_without_a_word_the_engine_is_this_machine(tmp_path: Path) -> None:
    assert read(tmp_path, "").engines == (EngineConfig("local", "local"),)


def test_an_engine_has_a_name_and_pools_of_its_own(tmp_path: Path) -> None:
    assert read(tmp_path, '[[engines]]\nname = "here"\npools = ["lab"]\n').engines == (
        EngineConfig("here", "local", ("lab",)),
    )


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('[[engines]]\nkind = "cloud"\n', "engines.0.kind"),
        ('[[engines]]\nspeed = "warp"\n', "engines.0.speed"),
        ('[[engines]]\nkind = "slurm"\nrun_as = "Owner"\n', "engines.0.run_as"),
        ('[[engines]]\nkind = "slurm"\nsandbox = "yes"\n', "engines.0.sandbox"),
        ('[[engines]]\nkind = "slurm"\nusers = ["ada"]\n', "engines.0.users"),
        ('[[engines]]\n[[engines]]\nname = "b"\n', "engines.kind"),
        ('[[engines]]\npools = ["a", "a"]\n', "engines.pools"),
        ("engines = 3\n", "engines"),
        ('[server]\ndata = "here"\n', "server.data"),
        ("[[engines]]\npools = 3\n", "engines.0.pools"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, path: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        read(tmp_path, text)
    assert [problem.path for problem in refused.value.problems] == [path]
