"""Real cards as the driver's library tells of them, whole and cut (MIG): by a library made for the test."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from trainmaster.core.config import LocalConfig
from trainmaster.engines.local.cards import Card, find_cards
from trainmaster.engines.local.facts import Host


class NVMLError(Exception):
    """What the library raises."""


@dataclass
class Piece:
    """A card, or with `of` a slice of one. `slices`: by their number; None: it cannot be cut, {}: cut into nothing."""

    name: str
    uuid: str
    memory_mib: int
    slices: dict[int, "Piece"] | None = None
    instance: tuple[int, int] = (0, 0)
    compute: int = 0


@dataclass
class Library:
    """As much of pynvml as is asked for. `names_slices` false: as old drivers, which tell the name of the card."""

    cards: list[Piece]
    names_slices: bool = True
    NVMLError: type[Exception] = NVMLError
    NVML_DEVICE_MIG_ENABLE: int = 1
    nvmlMemory_v2: int = 33554472  # noqa: N815 (its own name)
    initialised: bool = field(default=False, init=False)

    def nvmlInit(self) -> None:
        self.initialised = True

    def nvmlSystemGetDriverVersion(self) -> bytes:
        return b"550.54"

    def nvmlDeviceGetCount(self) -> int:
        assert self.initialised
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Piece:
        return self.cards[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Piece:
        pieces = [piece for card in self.cards for piece in (card, *(card.slices or {}).values())]
        return next(piece for piece in pieces if piece.uuid == uuid)

    def nvmlDeviceGetName(self, piece: Piece) -> str:
        if self.names_slices or piece in self.cards:
            return piece.name
        return next(card.name for card in self.cards if piece in (card.slices or {}).values())

    def nvmlDeviceGetUUID(self, piece: Piece) -> bytes:
        return piece.uuid.encode()

    def nvmlDeviceGetMinorNumber(self, piece: Piece) -> int:
        return self.cards.index(piece) + 4

    def nvmlDeviceGetMemoryInfo(self, piece: Piece, version: int = 0) -> SimpleNamespace:
        if piece.slices is not None:
            raise NVMLError  # of a cut card only the privileged are told
        return SimpleNamespace(total=piece.memory_mib << 20, used=(512 if version == self.nvmlMemory_v2 else 992) << 20)

    def nvmlDeviceGetUtilizationRates(self, piece: Piece) -> SimpleNamespace:
        if piece not in self.cards:
            raise NVMLError
        return SimpleNamespace(gpu=40)

    def nvmlDeviceGetMigMode(self, piece: Piece) -> list[int]:
        if piece.name == "T4":
            raise NVMLError
        return [int(piece.slices is not None), 0]

    def nvmlDeviceGetMaxMigDeviceCount(self, piece: Piece) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, piece: Piece, index: int) -> Piece:
        if index not in (piece.slices or {}):
            raise NVMLError
        return (piece.slices or {})[index]

    def nvmlDeviceGetAttributes_v2(self, piece: Piece) -> SimpleNamespace:
        return SimpleNamespace(gpuInstanceSliceCount=piece.compute, memorySizeMB=piece.memory_mib)

    def nvmlDeviceGetGpuInstanceId(self, piece: Piece) -> int:
        return piece.instance[0]

    def nvmlDeviceGetComputeInstanceId(self, piece: Piece) -> int:
        return piece.instance[1]


def library(**fields: bool) -> Library:
    """A card that cannot be cut, one that is not, one cut in two, and one that is cut but empty."""
    small, large = (
        Piece("A100 MIG 1g.5gb", "MIG-s", 4864, instance=(9, 0), compute=1),
        Piece("A100 MIG 3g.20gb", "MIG-l", 19968, instance=(2, 0), compute=3),
    )
    cards = [
        Piece("T4", "GPU-t", 15360),
        Piece("A100", "GPU-w", 40960),
        Piece("A100", "GPU-c", 40960, {0: small, 3: large}),
        Piece("A100", "GPU-e", 40960, {}),
    ]
    return Library(cards, **fields)  # type: ignore[arg-type]


def test_a_cut_card_is_its_slices_and_nothing_else() -> None:
    host = Host(LocalConfig(), library())
    (node,) = host.nodes()
    assert node.gpus == ("T4", "A100", "A100 MIG 1g.5gb", "A100 MIG 3g.20gb")
    assert node.card_slots == ((0, 0), (1, 0), (2, 0), (2, 3))
    assert node.driver == "550.54"
    (cards,) = host.cards_by_node().values()
    assert cards.uuids == ("GPU-t", "GPU-w", "MIG-s", "MIG-l")
    usage = [(card.utilisation, card.memory_mib, card.memory_total_mib) for card in host.card_usage()[node.name]]
    assert usage == [(0.4, 512, 15360), (0.4, 512, 40960), (None, 512, 4864), (None, 512, 19968)]


def test_a_slice_is_reached_through_its_cards_file_and_its_own(tmp_path: Path) -> None:
    nvml = library()
    nvml.nvmlInit()
    for path, minor in (("gi9", 84), ("gi9/ci0", 85)):
        folder = tmp_path / "gpu6" / "mig" / path
        folder.mkdir(parents=True)
        (folder / "access").write_text(f"DeviceFileMinor: {minor}\nDeviceFileMode: 292\nDeviceFileModify: 1\n")
    _, whole, small, large = find_cards(nvml, str(tmp_path))
    assert whole == Card("A100", "GPU-w", ("/dev/nvidia5",), 40960, 1)
    assert small.devices == ("/dev/nvidia6", "/dev/nvidia-caps/nvidia-cap84", "/dev/nvidia-caps/nvidia-cap85")
    assert large.devices == ("/dev/nvidia6",)  # a driver that keeps no such files asks for none


def test_slices_have_a_model_of_their_own_with_old_drivers_too() -> None:
    assert Host(LocalConfig(), library(names_slices=False)).nodes()[0].gpus[2:] == (
        "A100 MIG 1g.5gb",
        "A100 MIG 3g.20gb",
    )


def test_whole_cards_need_no_slots_and_no_driver_means_no_cards() -> None:
    whole = Library([Piece("A100", "GPU-a", 40960)] * 2)
    assert Host(LocalConfig(), whole).nodes()[0].card_slots == ()

    class Missing(Library):
        def nvmlInit(self) -> None:
            raise NVMLError

    assert Host(LocalConfig(), Missing([])).nodes()[0].gpus == ()


def test_a_machine_without_the_driver_has_no_cards_and_loads_no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr("trainmaster.engines.local.facts.ctypes.CDLL", absent)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    host = Host(LocalConfig())
    assert (host.cards, host.driver) == ((), "")
    assert "pynvml" not in sys.modules
