"""Reads HOME/config.toml into core.config. Refuses unknown keys and wrong types, all at once, naming the remedy."""

import os
import tomllib
from dataclasses import fields
from typing import Any, get_type_hints

from trainmaster.core.config import Config, LimitsConfig, LocalConfig, ServerConfig, VirtualNode
from trainmaster.core.errors import ProblemList

_SECTIONS: dict[str, type[Any]] = {"server": ServerConfig, "local": LocalConfig, "limits": LimitsConfig}
_CHOICES = {
    "local.sandbox": ("auto", "bubblewrap", "none"),
    "local.cgroups": ("auto", "off"),
}


def load(path: str) -> Config:
    """Return the configuration in the TOML file at `path`; a missing file means all defaults.

    Raises InvalidSpec listing every unknown key, wrong type and value out of range.
    """
    if not os.path.exists(path):
        return Config()
    problems = ProblemList()
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        problems.add(os.path.basename(path), f"not valid TOML: {error}", "Mend the line named, or remove the file.")
        document = {}
    config = parse(document, problems)
    problems.raise_if_any("config.toml is not valid")
    return config


def parse(document: dict[str, Any], problems: ProblemList) -> Config:
    """Return the Config in `document`, noting every problem in `problems`."""
    for name in document.keys() - _SECTIONS.keys():
        problems.add(name, "unknown section", f"Known sections: {', '.join(sorted(_SECTIONS))}.")
    parts = {name: _section(name, kind, document.get(name, {}), problems) for name, kind in _SECTIONS.items()}
    return Config(**parts)


def _section(name: str, kind: type[Any], values: Any, problems: ProblemList) -> Any:
    if not isinstance(values, dict):
        problems.add(
            name, "must be a section", f"Write [{name}] on a line of its own ([[local.nodes]] for each kind of node)."
        )
        return kind()
    hints = get_type_hints(kind)
    known = {field.name for field in fields(kind)}
    accepted: dict[str, Any] = {}
    for key, value in values.items():
        path = f"{name}.{key}"
        if key not in known:
            problems.add(path, "unknown setting", f"Known settings: {', '.join(sorted(known))}.", value=value)
            continue
        converted = _convert(path, hints[key], value, problems)
        if converted is not None:
            accepted[key] = converted
    return kind(**accepted)


def _convert(path: str, hint: Any, value: Any, problems: ProblemList) -> Any:
    if hint == tuple[VirtualNode, ...] and isinstance(value, list):
        return tuple(_section(f"{path}.{at}", VirtualNode, item, problems) for at, item in enumerate(value))
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if hint == tuple[str, ...] and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if not isinstance(hint, type) or not isinstance(value, hint) or isinstance(value, bool):
        name = "list of texts" if hint == tuple[str, ...] else getattr(hint, "__name__", str(hint))
        problems.add(path, f"must be a {name}", "See the administration guide for this setting.", value=value)
        return None
    if isinstance(value, int | float) and value < 0:
        problems.add(path, "must not be negative", "Use 0 for no limit, or a positive number.", value=value)
        return None
    choices = _CHOICES.get(path)
    if choices and value not in choices:
        problems.add(path, f"must be one of {', '.join(choices)}", f"Write {choices[0]!r}.", value=value)
        return None
    return value
