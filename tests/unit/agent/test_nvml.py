"""What NVIDIA's library says of a card, read as its published interface lays it out."""

import ctypes
from typing import Any

import pytest

from trainmaster.agent.measuring.nvml import Nvml


class Library:
    """Writes into the caller's memory by offset, as the real one does."""

    def __init__(self, path: str) -> None:
        self.path = path

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:
        return 0 if uuid == b"GPU-1" else 6

    def nvmlDeviceGetUtilizationRates(self, handle: Any, into: Any) -> int:
        (ctypes.c_uint * 2).from_address(ctypes.addressof(into._obj))[0] = 40
        return 0

    def nvmlDeviceGetMemoryInfo_v2(self, handle: Any, into: Any) -> int:
        """nvmlMemory_v2_t: a version, four bytes of nothing, then total, reserved, free and used."""
        assert ctypes.sizeof(into._obj) == 40
        if ctypes.c_uint.from_address(ctypes.addressof(into._obj)).value != 33554472:  # nvmlMemory_v2 of nvml.h
            return 25
        numbers = (ctypes.c_ulonglong * 4).from_address(ctypes.addressof(into._obj) + 8)
        numbers[:] = [81559 << 20, 480 << 20, 76000 << 20, 4909 << 20]
        return 0


def test_usage_of_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """As nvidia-smi tells it: without what the driver keeps for itself."""
    monkeypatch.setattr(ctypes, "CDLL", Library)
    nvml = Nvml()
    assert nvml.usage("GPU-1") == (0.4, 4909)
    assert nvml.usage("GPU-2") is None


def test_a_driver_that_cannot_say_it_is_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Library, "nvmlDeviceGetMemoryInfo_v2")
    monkeypatch.setattr(ctypes, "CDLL", Library)
    assert Nvml().usage("GPU-1") is None
