"""The machine shown as nodes: equal ones, ones that differ, sliced cards; so that everything can be tried anywhere."""

from pathlib import Path

import pytest

from trainmaster.core.config import LocalConfig, VirtualNode
from trainmaster.core.errors import InvalidSpec
from trainmaster.engines.local.facts import Host
from trainmaster.service.settings import load

CONFIG = """
[[local.nodes]]
count = 2
cpu = 8
memory_mib = 4096
gpus = 4
gpu_type = "A100"
driver = "535.104.05"

[[local.nodes]]
cpu = 2.5
memory_mib = 1024
gpus = 2
gpu_type = "MLU370"
slices = 2
driver = "5.10.22"
kernel = "5.4.0"
os = "Ubuntu 20.04"
pool = "lab"
"""


def test_nodes_differ_as_configured(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    host = Host(load(str(tmp_path / "config.toml")).local)
    first, second, third = host.nodes()
    assert [node.name for node in (first, second, third)] == ["node-1", "node-2", "node-3"]
    assert (first.host, third.host) == ("127.0.0.2", "127.0.0.4")
    assert (first.gpus, first.driver, first.pool, first.card_slots) == (("A100",) * 4, "535.104.05", "default", ())
    assert first.os
    assert first.kernel
    assert third.gpus == ("MLU370.s2",) * 4
    assert third.card_slots == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert (third.cpu, third.memory_mib, third.pool, third.kernel, third.os) == (
        2.5,
        1024,
        "lab",
        "5.4.0",
        "Ubuntu 20.04",
    )
    assert all(cards.simulated for cards in host.cards_by_node().values())


def test_equal_nodes_are_as_before() -> None:
    host = Host(LocalConfig(virtual_nodes=3, cpu=2, simulated_gpus=1))
    assert [(node.name, node.host, node.cpu, node.gpus) for node in host.nodes()] == [
        (f"node-{i}", f"127.0.0.{i + 1}", 2, ("simulated",)) for i in (1, 2, 3)
    ]
    (only,) = Host(LocalConfig()).nodes()
    assert only.host == "127.0.0.1"


def test_many_nodes_have_addresses_of_their_own() -> None:
    nodes = Host(LocalConfig(nodes=(VirtualNode(count=600),))).nodes()
    assert len({node.host for node in nodes}) == 600
    assert nodes[254].host == "127.0.1.0"


def test_wrong_settings_are_named_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[[local.nodes]]\ncpu = -1\ncolour = 2\n")
    with pytest.raises(InvalidSpec) as refused:
        load(str(tmp_path / "config.toml"))
    assert {item.path for item in refused.value.problems} == {"local.nodes.0.cpu", "local.nodes.0.colour"}
