"""Sphinx directives that print the HTTP API from its contract: `http-operations`, and `http-shapes` for a page of its
own.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from contract_text import Field, Operation, Shape, operations, shapes
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from trainmaster._version import __version__
from trainmaster.api.app import TABLES
from trainmaster.api.openapi import build

SHAPES_PAGE: Final = "http-shapes.html"


@cache
def contract() -> dict[str, Any]:
    routes = [make(lambda app, _: app) for table in TABLES for make in table.makers]
    return build("Trainmaster", __version__, routes)


@cache
def named() -> frozenset[str]:
    return frozenset(contract()["components"]["schemas"])


def section(title: str, anchor: str, *children: nodes.Node) -> nodes.section:
    return nodes.section("", nodes.title(title, title), *children, ids=[anchor], names=[anchor])


def prose(text: str) -> Iterator[nodes.Node]:
    """Text with `code` in backticks, a paragraph for each empty line."""
    for part in text.split("\n\n"):
        pieces = re.split(r"`{1,2}([^`]+)`{1,2}", " ".join(part.split()))
        inline = [nodes.literal(one, one) if at % 2 else nodes.Text(one) for at, one in enumerate(pieces) if one]
        yield nodes.paragraph("", "", *inline)


def linked(text: str, page: str = SHAPES_PAGE) -> Iterator[nodes.Node]:
    """A type, the names of shapes in it as links."""
    for one in re.split(r"(\w+)", text):
        if one in named():
            yield nodes.reference(one, one, refuri=f"{page}#shape-{one.lower()}", internal=True)
        elif one:
            yield nodes.Text(one)


def grid(head: Iterable[str], rows: Iterable[Iterable[list[nodes.Node]]]) -> nodes.table:
    names = [*head]
    group = nodes.tgroup(cols=len(names))
    group += [nodes.colspec(colwidth=1) for _ in names]
    group += nodes.thead("", _row([[nodes.Text(name)] for name in names]))
    group += nodes.tbody("", *[_row(row) for row in rows])
    return nodes.table("", group)


def _row(cells: Iterable[list[nodes.Node]]) -> nodes.row:
    return nodes.row("", *[nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells])


def _named(one: Field) -> list[nodes.Node]:
    return [nodes.literal(one.name, one.name)]


def _worth(one: Field) -> list[nodes.Node]:
    return [nodes.Text("required" if one.required else one.default)]


def _operation(one: Operation) -> nodes.section:
    anchor = re.sub(r"\W+", "-", f"{one.method} {one.path}".lower()).strip("-")
    body: list[nodes.Node] = [*prose(one.meaning)]
    facts = [[nodes.Text("Scope: "), nodes.literal(one.scope, one.scope)] if one.scope else [nodes.Text("Open to all")]]
    if one.takes:
        facts.append([nodes.Text("Takes: "), *linked(one.takes)])
    for status, shape in one.answers:
        facts.append([nodes.Text(f"Answers {status}: "), *(linked(shape) if shape else [nodes.Text("nothing")])])
    body.append(nodes.bullet_list("", *[nodes.list_item("", nodes.paragraph("", "", *fact)) for fact in facts]))
    if one.parameters:
        rows = [
            (_named(each), [nodes.Text(each.where)], [*linked(each.kind)], _worth(each), [nodes.Text(each.meaning)])
            for each in one.parameters
        ]
        body.append(grid(("parameter", "in", "type", "default", "meaning"), rows))
    return section(f"{one.method} {one.path}", anchor, *body)


def _shape(one: Shape) -> nodes.section:
    body = [*prose(one.meaning)] if one.meaning else []
    if one.fields:
        rows = [(_named(each), [*linked(each.kind, "")], _worth(each)) for each in one.fields]
        body.append(grid(("field", "type", "default"), rows))
    else:
        body.append(nodes.paragraph("", "", *linked(one.kind, "")))
    return section(one.name, f"shape-{one.name.lower()}", *body)


class Operations(Directive):
    """Every operation, a section for each noun."""

    def run(self) -> list[nodes.Node]:
        return [
            section(noun, f"http-{re.sub(r'[^a-z]+', '-', noun.lower())}", *map(_operation, found))
            for noun, found in operations(contract()).items()
        ]


class Shapes(Directive):
    """Every shape of bodies and answers."""

    def run(self) -> list[nodes.Node]:
        return [_shape(one) for one in shapes(contract())]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("http-operations", Operations)
    app.add_directive("http-shapes", Shapes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
