"""The real accelerators of this machine, by NVIDIA's library: whole cards, and the slices (MIG) of cards that are cut.

A slice is a card with a model name of its own, and the card that it is cut from is none. Reads only. No cut card was at
hand: this follows the published interface, and is tested with a library of the tests' own.
"""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

CAPABILITIES: Final = "/proc/driver/nvidia/capabilities"
"""Where the driver says which device file gives access to which slice."""

_MINOR: Final = re.compile(r"^DeviceFileMinor:\s*(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator. `devices`: the files that give access to it; `physical`: its card's number; `part`: None, or its
    slice.
    """

    model: str
    uuid: str
    devices: tuple[str, ...]
    memory_mib: int
    physical: int
    part: int | None = None


def slots_of(cards: tuple[Card, ...]) -> tuple[tuple[int, int], ...]:
    """Return (physical card, slice) of each card; empty where none is cut."""
    if all(card.part is None for card in cards):
        return ()
    return tuple((card.physical, card.part or 0) for card in cards)


def find_cards(nvml: Any, capabilities: str = CAPABILITIES) -> tuple[Card, ...]:
    """Return all cards by number, of a cut one its slices. `nvml`: pynvml, initialised. Raises its NVMLError."""
    return tuple(card for index in range(nvml.nvmlDeviceGetCount()) for card in _found(nvml, index, capabilities))


def _found(nvml: Any, index: int, capabilities: str) -> Iterator[Card]:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    model, minor = text(nvml.nvmlDeviceGetName(handle)), nvml.nvmlDeviceGetMinorNumber(handle)
    device = f"/dev/nvidia{minor}"
    if not _is_cut(nvml, handle):
        memory = nvml.nvmlDeviceGetMemoryInfo(handle).total >> 20
        yield Card(model, text(nvml.nvmlDeviceGetUUID(handle)), (device,), memory, index)
        return
    for part in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        with suppress(nvml.NVMLError):  # not every number has a slice
            piece = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, part)
            attributes = nvml.nvmlDeviceGetAttributes_v2(piece)
            instance = nvml.nvmlDeviceGetGpuInstanceId(piece), nvml.nvmlDeviceGetComputeInstanceId(piece)
            files = (device, *_access(f"{capabilities}/gpu{minor}/mig", *instance))
            name = _name(text(nvml.nvmlDeviceGetName(piece)), model, attributes)
            yield Card(name, text(nvml.nvmlDeviceGetUUID(piece)), files, int(attributes.memorySizeMB), index, part)


def _is_cut(nvml: Any, handle: Any) -> bool:
    try:
        now, _ = nvml.nvmlDeviceGetMigMode(handle)
    except nvml.NVMLError:  # the card knows no MIG
        return False
    return bool(now == nvml.NVML_DEVICE_MIG_ENABLE)


def _name(told: str, whole: str, attributes: Any) -> str:
    """Return the model of a slice, as ``NVIDIA A100 MIG 1g.5gb``. Some drivers tell only the card's name."""
    if told != whole:
        return told
    return f"{whole} MIG {attributes.gpuInstanceSliceCount}g.{math.ceil(attributes.memorySizeMB / 1024)}gb"


def _access(folder: str, gpu_instance: int, compute_instance: int) -> Iterator[str]:
    """Yield the device files that a program needs beside the card's to use a slice."""
    for path in (f"gi{gpu_instance}/access", f"gi{gpu_instance}/ci{compute_instance}/access"):
        with suppress(OSError), open(f"{folder}/{path}", encoding="ascii") as file:
            minor = _MINOR.search(file.read())
            if minor is not None:
                yield f"/dev/nvidia-caps/nvidia-cap{minor[1]}"


def text(value: str | bytes) -> str:
    """Return `value` as text: older bindings of the library give bytes."""
    return value.decode() if isinstance(value, bytes) else value
