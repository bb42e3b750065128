"""What this machine is and has: cores, memory, cards, kernel, driver, and how busy they are. Reads only; keeps no state
but NVML.

Virtual nodes share the machine; what they offer comes from the configuration. A missing driver is no error: no cards
then.
"""

import ctypes
import os
import platform
import socket
from collections.abc import Callable
from typing import Any, Final

import psutil

from trainmaster.agent.settings import Cards
from trainmaster.core.config import LocalConfig, VirtualNode
from trainmaster.core.records import Node
from trainmaster.engines.base import CardUsage
from trainmaster.engines.local.cards import Card, find_cards, slots_of, text

MIB: Final = 1 << 20


def driver() -> Any:
    """Return pynvml, None on a machine without NVIDIA's driver: there its bindings, 1 MiB of memory, stay away."""
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    import pynvml  # noqa: PLC0415 - only where there is a driver

    return pynvml


class Host:
    """This machine, read once at the start of an engine. `nvml`: the driver's library (another one in tests)."""

    def __init__(self, config: LocalConfig, nvml: Any = None) -> None:
        self.config, self._nvml = config, nvml or driver()
        self.driver = ""
        self.cards = self._find_cards()

    def _find_cards(self) -> tuple[Card, ...]:
        if self._nvml is None:
            return ()
        try:
            self._nvml.nvmlInit()
            self.driver = text(self._nvml.nvmlSystemGetDriverVersion())
            return find_cards(self._nvml)
        except self._nvml.NVMLError:
            return ()

    def nodes(self, facts: tuple[tuple[str, str], ...] = ()) -> tuple[Node, ...]:
        """Return the machines this host is shown as. `facts` are added to what the system says of itself."""
        kinds = self._kinds()
        count, local = max(1, len(kinds)), self.config
        cpu = len(os.sched_getaffinity(0)) / count
        memory = psutil.virtual_memory().total // MIB // count
        told = (("cpu_model", _cpu_model()), *facts)
        nodes = []
        for number, kind in enumerate(kinds):
            virtual = bool(local.virtual_nodes or local.nodes)
            models, slots = tuple(card.model for card in self._share(number)), slots_of(self._share(number))
            if kind.gpus:
                models, slots = _simulated(kind)
            nodes.append(
                Node(
                    name=f"node-{number + 1}" if virtual else socket.gethostname().split(".")[0],
                    host=_address(number) if virtual else "127.0.0.1",
                    cpu=(kind.cpu or cpu) * local.overcommit_cpu,
                    memory_mib=kind.memory_mib or memory,
                    gpus=models,
                    pool=kind.pool,
                    simulated=kind.gpus > 0,
                    facts=told,
                    card_slots=slots,
                    driver=kind.driver or self.driver,
                    os=kind.os or _os_name(),
                    kernel=kind.kernel or platform.release(),
                )
            )
        return tuple(nodes)

    def _kinds(self) -> list[VirtualNode]:
        """Return what every machine is to look like, in order."""
        local = self.config
        if local.nodes:
            return [kind for kind in local.nodes for _ in range(max(1, kind.count))]
        kind = VirtualNode(
            cpu=local.cpu, memory_mib=local.memory_mib, gpus=local.simulated_gpus, gpu_type=local.gpu_type
        )
        return [kind] * max(1, local.virtual_nodes)

    def cards_by_node(self) -> dict[str, Cards]:
        """Return which cards each node has, for the agent."""
        found: dict[str, Cards] = {}
        for number, node in enumerate(self.nodes()):
            real = () if node.simulated else self._share(number)
            found[node.name] = Cards(node.simulated, tuple(c.uuid for c in real), tuple(c.devices for c in real))
        return found

    def _share(self, number: int) -> tuple[Card, ...]:
        each = len(self.cards) // max(1, len(self._kinds()))
        return self.cards[number * each : (number + 1) * each]

    def card_usage(self) -> dict[str, list[CardUsage]]:
        """Return how busy every real card of every node is."""
        return {node.name: self._cards_of(number) for number, node in enumerate(self.nodes()) if not node.simulated}

    def _cards_of(self, number: int) -> list[CardUsage]:
        found = []
        for card in self._share(number):
            share = self._read(card, lambda handle: self._nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100)
            used = self._read(
                card,
                lambda handle: self._nvml.nvmlDeviceGetMemoryInfo(handle, version=self._nvml.nvmlMemory_v2).used // MIB,
            )
            found.append(CardUsage(share, used, card.memory_mib))
        return found

    def _read(self, card: Card, what: Callable[[Any], Any]) -> Any:
        """Return what the driver measures of a card, None where it does not (of a slice it tells no utilisation)."""
        try:
            return what(self._nvml.nvmlDeviceGetHandleByUUID(card.uuid))
        except self._nvml.NVMLError:
            return None


def _simulated(kind: VirtualNode) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """Return the models of simulated cards, and of sliced ones the (physical card, slice) of each."""
    if not kind.slices:
        return (kind.gpu_type,) * kind.gpus, ()
    slots = tuple((card, part) for card in range(kind.gpus) for part in range(kind.slices))
    return (kind.slice_type or f"{kind.gpu_type}.s{kind.slices}",) * len(slots), slots


def _address(number: int) -> str:
    """Return the loopback address of a virtual node: 127.0.0.2 for the first."""
    return f"127.0.{(number + 2) // 256}.{(number + 2) % 256}"


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next(
                (line.partition(":")[2].strip() for line in file if line.startswith("model name")), platform.machine()
            )
    except OSError:
        return platform.machine()


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()
