"""The machines to simulate, from `64x8`, a YAML or a CSV file.

One line of words describes equal nodes: ``64x8`` is 64 nodes of 8 cards; ``1x0:cpu=100`` one node of 100 cores without
cards; ``8x8:model=A100,cpu=128,memory=1TiB,pool=big``. A file has the same fields by name, one group of equal nodes a
row. Where cores or memory are not said, a node has plenty: what a recorded workload does not tell must not bind.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.formats.units import NotRead, parse_memory_mib
from trainmaster.core.records import Node
from trainmaster.messages.cluster import simulation
from trainmaster.messages.said import Said
from trainmaster.simulate.traces import read_text

PLENTY_CORES: Final = 1_000_000.0
PLENTY_MIB: Final = 1 << 29
MOST: Final = 1 << 30
N = TypeVar("N", int, float)
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "count": ("count", "nodes"),
    "cards": ("cards", "gpus", "gpu"),
    "model": ("model", "gpu_type"),
    "cpu": ("cpu", "cores"),
    "cpu_milli": ("cpu_milli",),
    "memory": ("memory", "memory_mib"),
    "pool": ("pool",),
    "name": ("name", "sn"),
}
"""A field of a group of nodes -> the names it goes by."""


def parse_cluster(descriptions: Sequence[str]) -> tuple[Node, ...]:
    """Return the nodes of all `descriptions`, each as the module says. Raises InvalidSpec naming the part."""
    groups: list[dict[str, Any]] = []
    for text in descriptions:
        groups += _groups(text)
    nodes = _nodes(groups)
    if not nodes:
        raise _wrong(", ".join(descriptions), simulation.machines_without_nodes())
    return nodes


def added(nodes: Sequence[Node], description: str) -> tuple[Node, ...]:
    """Return `nodes` and some more: ``4`` is four more like the last one, anything else a description of its own."""
    if description.isdigit():
        if not nodes:
            raise _wrong(description, simulation.no_node_to_be_like())
        like = nodes[-1]
        more = [(like.cpu, like.memory_mib, like.gpus, like.pool)] * int(description)
    else:
        more = [(n.cpu, n.memory_mib, n.gpus, n.pool) for n in parse_cluster([description])]
    first = len(nodes)
    return (*nodes, *(Node(f"added-{first + i}", _host(first + i), *node) for i, node in enumerate(more)))


def describe(nodes: Sequence[Node]) -> tuple[str, str]:
    """Return the nodes in a few words, in Chinese and English: ``64 nodes, 512 GPUs``."""
    cards = sum(len(node.gpus) for node in nodes)
    count = f"{len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}"
    if cards:
        return f"{len(nodes)} 个节点，{cards} 张加速卡", f"{count}, {cards} {'GPU' if cards == 1 else 'GPUs'}"
    cores = sum(node.cpu for node in nodes if node.cpu < PLENTY_CORES)
    return f"{len(nodes)} 个节点，{cores:g} 核", f"{count}, {cores:g} {'core' if cores == 1 else 'cores'}"


def _groups(text: str) -> list[dict[str, Any]]:
    path = Path(text)
    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if suffix in ("yaml", "yml", "json"):
        return _from_yaml(text)
    if suffix == "csv":
        return [dict(row) for row in csv.DictReader(io.StringIO(read_text(text)))]
    size, _, rest = text.partition(":")
    count, cross, cards = size.partition("x")
    if not (cross and count.isdigit() and cards.isdigit()):
        raise _wrong(text, simulation.neither_size_nor_file())
    group: dict[str, Any] = {"count": int(count), "cards": int(cards)}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise _wrong(text, simulation.not_key_and_value(repr(pair)))
        group[key.strip()] = value.strip()
    return [group]


def _from_yaml(path: str) -> list[dict[str, Any]]:
    try:
        found = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise _wrong(path, simulation.machines_not_yaml(str(error))) from error
    groups = found.get("nodes") if isinstance(found, dict) else found
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise _wrong(path, simulation.machines_not_a_list())
    return groups


def _nodes(groups: Iterable[Mapping[str, Any]]) -> tuple[Node, ...]:
    out: list[Node] = []
    for group in groups:
        said = _without_blanks(group)
        count, cards = _amount(said, "count", int, 1), _amount(said, "cards", int, 0)
        cpu, memory = _amount(said, "cpu", float, PLENTY_CORES), _amount(said, "memory", _mib, PLENTY_MIB)
        cpu = _amount(said, "cpu_milli", lambda text: float(text) / 1000, cpu)
        gpus = (str(said.get("model", "gpu")),) * cards
        for _ in range(count):
            at = len(out)
            name = str(said["name"]) if "name" in said and count == 1 else f"node-{at}"
            out.append(Node(name, _host(at), cpu, memory, gpus, str(said.get("pool", "default")), simulated=True))
    return tuple(out)


def _without_blanks(group: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: field for field, names in FIELDS.items() for name in names}
    for key in group:
        if key not in known:
            raise _wrong(str(dict(group)), simulation.not_a_node_field(key, [*FIELDS]))
    return {known[key]: value for key, value in group.items() if value not in (None, "")}


def _amount(said: Mapping[str, Any], field: str, read: Callable[[str], N], default: N) -> N:
    if field not in said:
        return default
    try:
        amount = read(str(said[field]))
    except NotRead as error:
        raise _wrong(str(said[field]), simulation.node_amount_not_read(field, error.said)) from error
    except ValueError as error:
        raise _wrong(str(said[field]), simulation.node_amount_not_read(field, str(error))) from error
    if not 0 <= amount < MOST:
        raise _wrong(str(said[field]), simulation.node_amount_out_of_range(field, MOST))
    return amount


def _mib(text: str) -> int:
    return parse_memory_mib(int(text) if text.isdigit() else text)


def _host(at: int) -> str:
    return f"10.{at >> 16 & 255}.{at >> 8 & 255}.{at & 255}"


def _wrong(text: str, why: Said) -> InvalidSpec:
    return InvalidSpec(simulation.machines_not_valid(text, why), problems=(problem_of("cluster", why),))
