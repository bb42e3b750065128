"""Sphinx directives that print tables of the product from the product's own code, so that they cannot be out of date.

Use one as an empty fenced block with the name in braces: see TABLES.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from trainmaster.core import config, errors, events, framework_kinds, states, verdicts
from trainmaster.engines import kinds
from trainmaster.messages.catalogue import ENTRIES
from trainmaster.messages.jobs import form, rules

Cell = str | nodes.Node
Rows = Iterable[Sequence[Cell]]


def code(text: str) -> nodes.Node:
    return nodes.literal(text, text)


def table(head: Sequence[str], rows: Rows) -> nodes.table:
    """A table of texts and inline nodes."""
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", _row(head))
    group += nodes.tbody("", *[_row(row) for row in rows])
    return nodes.table("", group)


def _row(cells: Sequence[Cell]) -> nodes.row:
    inline = [nodes.Text(cell) if isinstance(cell, str) else cell for cell in cells]
    return nodes.row("", *[nodes.entry("", nodes.paragraph("", "", cell)) for cell in inline])


def state_tables() -> list[nodes.Node]:
    rows = [
        (code(state.value), en, zh, code(states.PAI_STATE[state])) for state, (zh, en) in states.SHOWN_NAMES.items()
    ]
    return [table(("state", "English", "中文", "OpenPAI"), rows)]


def event_tables() -> list[nodes.Node]:
    rows = [(code(kind.value), en, zh) for kind, (zh, en) in events.NAMES.items()]
    return [table(("event", "English", "中文"), rows)]


def verdict_tables() -> list[nodes.Node]:
    rows = [(code(name), kind.en, kind.zh, kind.fault) for name, kind in verdicts.VERDICTS.items()]
    return [table(("verdict", "English", "中文", "whose fault"), rows)]


def error_tables() -> list[nodes.Node]:
    kinds = sorted(errors.TrainmasterError.__subclasses__(), key=lambda kind: (kind.status, kind.kind))
    rows = [(code(kind.kind), str(kind.status), inspect.getdoc(kind) or "") for kind in kinds]
    return [table(("kind", "HTTP status", "meaning"), rows)]


def problem_tables() -> list[nodes.Node]:
    """What is said of documents: codes with their templates, counts written with the noun of many."""
    entries = [ENTRIES[name] for catalogue in (form, rules) for name in vars(catalogue) if name in ENTRIES]
    rows = [(code(entry.code), _plain(entry.texts["en"]), _plain(entry.remedies["en"])) for entry in entries]
    return [table(("code", "rule", "remedy"), [row for row in rows if row[2]])]


def _plain(template: str) -> str:
    return re.sub(r"\{(\w+):\w[^|}]*\|([^}]*)\}", r"{\1} \2", template).replace("{{", "{").replace("}}", "}")


def framework_tables() -> list[nodes.Node]:
    rows = [
        (code(kind.kind), option_name, f"{option.en} ({option.minimum} to {option.maximum})")
        for kind in framework_kinds.KINDS.values()
        for option_name, option in kind.options.items()
    ]
    return [table(("framework", "option", "meaning"), rows)]


def setting_tables() -> list[nodes.Node]:
    found: list[nodes.Node] = []
    for section in dataclasses.fields(config.Config):
        if section.name != "engines":
            assert callable(section.default_factory)
            found += _settings(f"[{section.name}]", section.default_factory())
    found += _settings("[[engines]]", config.EngineConfig())
    for kind in kinds.BUILT_IN:
        found += _settings(f'[[engines]], kind = "{kind}"', kinds.find(kind).settings())
    return found


def _settings(title: str, settings: Any) -> list[nodes.Node]:
    text = (inspect.getdoc(type(settings)) or "").replace("`", "")
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    rows = [
        (code(name), code(_spelled(value))) for name, value in values.items() if not dataclasses.is_dataclass(value)
    ]
    parts = [nodes.paragraph(part, part) for part in text.split("\n\n")]
    return [nodes.rubric("", title), *parts, *([table(("key", "default"), rows)] if rows else [])]


def _spelled(value: object) -> str:
    """As TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


TABLES: dict[str, Callable[[], list[nodes.Node]]] = {
    "states": state_tables,
    "events": event_tables,
    "verdicts": verdict_tables,
    "errors": error_tables,
    "problems": problem_tables,
    "framework-options": framework_tables,
    "settings": setting_tables,
}


class ProductTable(Directive):
    """Prints the table it is named after."""

    def run(self) -> list[nodes.Node]:
        return TABLES[self.name]()


def setup(app: Sphinx) -> dict[str, bool]:
    for name in TABLES:
        app.add_directive(name, ProductTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
