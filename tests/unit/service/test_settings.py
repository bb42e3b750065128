"""The engines in config.toml."""

from pathlib import Path

import pytest

from trainmaster.cli.server.serve import announced_at
from trainmaster.core.config import Config, EngineConfig, ServerConfig
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
        ('[server]\naddress = "http://10.0.0.5:8470"\n', "server.address"),
        ('[server]\naddress = "0.0.0.0"\n', "server.address"),
        ('[server]\naddress = "[::]:8470"\n', "server.address"),
        ('[server]\naddress = "10.0.0.5:http"\n', "server.address"),
        ('[server]\naddress = "me@10.0.0.5"\n', "server.address"),
        ('[server]\naddress = ":8470"\n', "server.address"),
        ('[server]\naddress = "a b"\n', "server.address"),
        ("[[engines]]\npools = 3\n", "engines.0.pools"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, path: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        read(tmp_path, text)
    assert [problem.path for problem in refused.value.problems] == [path]


@pytest.mark.parametrize(
    ("host", "address", "announced"),
    [
        ("10.0.0.5", "", "http://10.0.0.5:8471"),
        ("0.0.0.0", "", ""),
        ("::", "", ""),
        ("0.0.0.0", "10.0.0.5", "http://10.0.0.5:8471"),
        ("::", "fd00-5.example.org:80", "http://fd00-5.example.org:80"),
        ("::", "[fd00::5]", "http://[fd00::5]:8471"),
        ("127.0.0.1", "[fd00::5]:80", "http://[fd00::5]:80"),
    ],
)
def test_where_other_servers_reach_one(host: str, address: str, announced: str) -> None:
    """An address that stands for all of a machine is nobody's: another machine would look for the server on itself."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    assert announced_at(ServerConfig(host=host, address=address), f"http://{shown}:8471") == announced


def test_an_address_on_the_command_line_is_looked_at_too() -> None:
    with pytest.raises(InvalidSpec) as refused:
        announced_at(ServerConfig(address="http://10.0.0.5"), "http://127.0.0.1:8470")
    assert refused.value.code == "not_a_host"
