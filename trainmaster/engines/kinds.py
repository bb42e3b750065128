"""The kinds of engines: what each is, and where it is found. Two are built in; others are packages, each with an entry
point.

Nothing of a kind is loaded before somebody asks for it by name. Invariants: no two have one name, and one that cannot
be loaded is a problem that names its package.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from trainmaster.core.config import Config, EngineConfig, NoSettings
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.adding import Adding
from trainmaster.engines.base import Engine
from trainmaster.messages.said import Said, verbatim
from trainmaster.messages.server import settings as saying

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "trainmaster.engines"
"""Of entry points. Each has the name of its kind and leads to an EngineKind."""
BUILT_IN: Final = ("local", "slurm")
"""Those of our own, each in `engines/<name>/kind.py`. Nobody else's has one of these names."""


def _no_problems(settings: Any) -> Iterable[tuple[str, Said]]:
    return ()


@dataclass(frozen=True, slots=True)
class EngineKind:
    """One kind of engine. `name`: as `kind` in `[[engines]]` has it; `label`: what people call it.

    `make`: returns an engine that is not started, of its `[[engines]]`, the server's folders and the whole
    configuration. `settings`: a frozen dataclass of what its `[[engines]]` may say beside, each with a default (text,
    number, truth, `Literal` of texts, tuple of texts, `Mapping` of texts). `problems`: what of such settings cannot be
    together, by the name of one of them. `this_machine`: its node is this machine, as `[local]` has it; a server has at
    most one such engine. `adding`: how one is added.
    """

    name: str
    label: Said
    make: Callable[[EngineConfig, Layout, Config], Engine]
    settings: type[Any] = NoSettings
    problems: Callable[[Any], Iterable[tuple[str, Said]]] = _no_problems
    this_machine: bool = False
    adding: Adding = field(default_factory=Adding)

    def __post_init__(self) -> None:
        """Raise ValueError for settings that are no dataclass."""
        if not is_dataclass(self.settings):
            raise ValueError(f"the settings of the kind {self.name} are no dataclass")


def names() -> list[str]:
    """Return the names of all kinds that there are, sorted. Reads what is installed: tens of milliseconds."""
    return sorted({*BUILT_IN, *(entry.name for entry in _entries())})


def find(name: str) -> EngineKind:
    """Return the kind of that name, loading it. Raises InvalidSpec where there is none, two packages bring it, or it
    cannot be loaded.
    """
    if name in BUILT_IN:
        built_in: EngineKind = import_module(f"trainmaster.engines.{name}.kind").KIND
        return built_in
    found = [entry for entry in _entries() if entry.name == name]
    if not found:
        raise InvalidSpec(saying.unknown_engine_kind(names()))
    if len(found) > 1:
        raise InvalidSpec(saying.engine_kind_of_two(name, sorted(map(_package, found))))
    return _loaded(found[0])


def _loaded(entry: "EntryPoint") -> EngineKind:
    try:
        kind = entry.load()
    except Exception as error:  # a third party's package may raise anything
        why = verbatim(f"{type(error).__name__}: {error}")
        raise InvalidSpec(saying.engine_kind_broken(entry.name, _package(entry), why)) from error
    if not isinstance(kind, EngineKind) or kind.name != entry.name:
        why = saying.not_an_engine_kind(entry.value, entry.name)
        raise InvalidSpec(saying.engine_kind_broken(entry.name, _package(entry), why))
    return kind


def _entries() -> "Iterable[EntryPoint]":
    # A server with the built-in kinds alone never reads the list of installed packages.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return entry_points(group=GROUP)


def _package(entry: "EntryPoint") -> str:
    return entry.dist.name if entry.dist is not None else entry.module
