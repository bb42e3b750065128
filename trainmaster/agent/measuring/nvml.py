"""Utilisation and memory of real cards, through NVIDIA's own library by ctypes: the agent has no packages.

Never raises for a missing library or card: there is then nothing to tell.
"""

from __future__ import annotations

import ctypes


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    """nvmlMemory_v2_t. The first version counts what the driver keeps for itself as used: 480 MiB of an H100."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("total", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


_SECOND = ctypes.sizeof(_Memory) | 2 << 24


class Nvml:
    """One opened library; `usage` answers None for what cannot be read."""

    def __init__(self, library: str = "libnvidia-ml.so.1") -> None:
        self._handles: dict[str, ctypes.c_void_p] = {}
        self._lib: ctypes.CDLL | None = None
        try:
            lib = ctypes.CDLL(library)
            if lib.nvmlInit_v2() == 0 and hasattr(lib, "nvmlDeviceGetMemoryInfo_v2"):  # drivers since 510
                self._lib = lib
        except (OSError, AttributeError):
            self._lib = None

    def usage(self, uuid: str) -> tuple[float, float] | None:
        """Return (utilisation 0..1, memory used in MiB) of the card `uuid`, or of that number; None where it is not
        known.
        """
        handle = self._handle(uuid)
        if handle is None or self._lib is None:
            return None
        utilisation, memory = _Utilisation(), _Memory(version=_SECOND)
        if self._lib.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(utilisation)) != 0:
            return None
        if self._lib.nvmlDeviceGetMemoryInfo_v2(handle, ctypes.byref(memory)) != 0:
            return None
        return utilisation.gpu / 100, memory.used / 1048576

    def _handle(self, uuid: str) -> ctypes.c_void_p | None:
        if self._lib is None:
            return None
        if uuid not in self._handles:
            handle = ctypes.c_void_p()
            if uuid.isdigit():
                found = self._lib.nvmlDeviceGetHandleByIndex_v2(int(uuid), ctypes.byref(handle))
            else:
                found = self._lib.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle))
            if found != 0:
                return None
            self._handles[uuid] = handle
        return self._handles[uuid]
