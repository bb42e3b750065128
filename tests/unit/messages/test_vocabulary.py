"""One word for one thing in everything that people read (R29): no entry of a catalogue, no name of a state or an event,
no text of the console and no description of the contract has a word that another one was chosen for. Helps of the
command line: tests/unit/cli/test_help.py.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.vocabulary import found
from trainmaster.api.app import TABLES
from trainmaster.api.openapi import build
from trainmaster.core import events, framework_kinds, states, verdicts
from trainmaster.messages import render

OF_PEOPLE = {
    **dict.fromkeys(("not_permitted", "user_made", "member_changed", "role_not_enough"), ("role", "角色")),
    **dict.fromkeys(("no_such_role", "role_too_high", "field_role", "field_role_of"), ("role", "角色")),
    "member_added": ("角色",),
    **dict.fromkeys(("invitation_made", "joined"), ("角色",)),
    **dict.fromkeys(("already_in", "group_gave", "group_took"), ("role", "角色")),
    "not_places": ("roles", "角色"),
}
"""What is said of the role of a person, by its code, and the word for it."""

EXCEPTIONS = {
    **{(code, word): "the role of a person" for code, both in OF_PEOPLE.items() for word in both},
    ("two_hosts", "Host"): "the header of HTTP",
    ("not_our_host", "Host"): "likewise",
}
"""(where, word) that is meant as it stands, and why."""

CONSOLE = {
    r"^common\.role\.|\b(?:account|people|person|users?)\b": ("role", "roles", "角色"),
    r"\b(?:tokens?|signin|password)\b": ("machine",),
}
"""Keys of the console under which a word is meant as it stands: the role of a person, the computer of who signs in."""


def said() -> Iterator[tuple[str, str, str]]:
    """(code, language, text) of all that the server says."""
    for code, entry in render.everything().items():
        for language in ("en", "zh"):
            yield code, language, entry.texts[language]
            yield code, language, entry.remedies[language]
    pairs = [*events.NAMES.items(), *states.SHOWN_NAMES.items()]
    pairs += [(code, (kind.zh, kind.en)) for code, kind in verdicts.VERDICTS.items()]
    pairs += [(code, (kind.zh, kind.en)) for code, kind in framework_kinds.KINDS.items()]
    options = [option for kind in framework_kinds.KINDS.values() for option in kind.options.items()]
    pairs += [(name, (option.zh, option.en)) for name, option in options]
    for code, (chinese, english) in pairs:
        yield str(code), "zh", chinese
        yield str(code), "en", english


def test_a_word_for_which_another_was_chosen_is_found() -> None:
    assert found("Lower gpu of role worker", "en") == [("role", "sub-task")]
    assert [word for word, _ in found("{n:card|cards} of a machine", "en")] == ["card", "cards", "machine"]
    assert [word for word, _ in found("Colour, initialising, flavours (D7)", "en")] == [
        "Colour",
        "initialising",
        "flavours",
        "D7",
    ]
    assert [word for word, _ in found("角色的使用时长和 2 张卡", "zh")] == ["角色", "卡", "使用时长"]


@pytest.mark.parametrize(
    "text",
    [
        "Sub-tasks and replicas on a node with 2 GPUs, in color",
        "Set roles.0.resources.gpu, `roles` or run: tm logs {job} --task {task} on an A100 or T4",
        "Write {{roles: [...]}} under local.mount_roots; see run/agent.log of the node agent",
    ],
)
def test_identifiers_and_the_words_that_were_chosen_are_left(text: str) -> None:
    assert found(text, "en") == []


def test_what_the_server_says_has_one_word_for_one_thing() -> None:
    wrong = [
        f"{code}: {word!r}, say {instead}: {text}"
        for code, language, text in said()
        for word, instead in found(text, language)
        if (code, word) not in EXCEPTIONS
    ]
    assert wrong == [], "\n".join(wrong)


def test_every_exception_is_still_one() -> None:
    used = {(code, word) for code, language, text in said() for word, _ in found(text, language)}
    assert EXCEPTIONS.keys() <= used


OF_PEOPLE_IN_CONTRACT = {
    ("/api/v1/workspaces/{workspace}/members/{user}", "role"),
    ("AccountBody", "role"),
    ("Membership", "role"),
}
"""(route or schema, word) of the contract that is meant as it stands: the role of a person."""


def described(part: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """(route or schema, text) of every summary and description of the contract, of fields and answers, too."""
    if isinstance(part, list):
        for one in part:
            yield from described(one, where)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in {"summary", "description"} and isinstance(value, str):
                yield where, value
            else:
                yield from described(value, where or (key if key not in {"paths", "components", "schemas"} else ""))


def test_the_descriptions_of_the_contract_are_found() -> None:
    document = {
        "paths": {"/a": {"get": {"summary": "A.", "parameters": [{"name": "p", "description": "B."}]}}},
        "components": {"schemas": {"C": {"description": "D.", "properties": {"description": {"description": "E."}}}}},
    }
    assert [*described(document)] == [("/a", "A."), ("/a", "B."), ("C", "D."), ("C", "E.")]


def test_what_the_contract_says_has_one_word_for_one_thing() -> None:
    document = build("Trainmaster", "0", [make(lambda app, _: app) for table in TABLES for make in table.makers])
    texts = [*described(document)]
    assert len(texts) > 400
    wrong = {(where, word, text) for where, text in texts for word, _ in found(text, "en")}
    assert {(where, word) for where, word, _ in wrong} == OF_PEOPLE_IN_CONTRACT, wrong


I18N = Path(__file__).parents[3] / "console" / "src" / "i18n"
TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/"  # a comment
    r'|(?P<key>\w+|"[^"\n]*")\s*:(?!:)'
    r'|"(?P<double>(?:[^"\\\n]|\\.)*)"'
    r"|'(?P<single>(?:[^'\\\n]|\\.)*)'"
    r"|`(?P<template>(?:[^`\\]|\\.)*)`"
    r"|export const (?P<file>\w+)"
    r"|(?P<open>\{)|(?P<close>\})",
    re.DOTALL,
)


def texts(source: str) -> Iterator[tuple[str, str]]:
    """(path of its key, text) of every text of a file of the console."""
    path: list[str] = []
    key = ""
    for token in TOKENS.finditer(source):
        if token["key"] or token["file"]:
            key = token["key"] or token["file"]
        elif token["open"]:
            path.append(key.strip('"'))
        elif token["close"]:
            path.pop()
        elif token.lastgroup is not None:
            yield ".".join([*path, key.strip('"')]), token[token.lastgroup]


def test_the_texts_of_the_console_are_found() -> None:
    source = 'export const job = {\n  // a "comment"\n  a: { b_one: "x: {{n}}", "c": `y` }, d:\n "z" };'
    assert list(texts(source)) == [("job.a.b_one", "x: {{n}}"), ("job.a.c", "y"), ("job.d", "z")]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_the_console_says_has_one_word_for_one_thing(language: str) -> None:
    files = sorted((I18N / language).glob("*.ts"))
    assert files
    wrong = [
        f"{file.parent.name}/{file.name} {key}: {word!r}, say {instead}: {text}"
        for file in files
        for key, text in texts(file.read_text(encoding="utf-8"))
        for word, instead in found(text, language)
        if not any(
            word.lower() in words and re.search(pattern, key, re.IGNORECASE) for pattern, words in CONSOLE.items()
        )
    ]
    assert wrong == [], "\n".join(wrong)


PICTURES = Path(__file__).parents[3] / "docs" / "images"
SHOWN = re.compile(r"<(?:text|title)\b[^>]*>(.*?)</(?:text|title)>", re.DOTALL)
MARKS = re.compile(r"<[^>]+>")


def in_picture(source: str) -> list[str]:
    """Return what an SVG says."""
    return [html.unescape(MARKS.sub("", text)) for text in SHOWN.findall(source)]


def test_the_texts_of_a_picture_are_found() -> None:
    source = '<svg><title id="t">One</title><text x="1">Engine <tspan class="n">local: a &amp; b</tspan></text></svg>'
    assert in_picture(source) == ["One", "Engine local: a & b"]


def test_what_drawings_say_has_one_word_for_one_thing() -> None:
    """R29. A drawing that is called zh-... is in Chinese, and there is one for each that is called en-..."""
    drawn = sorted(PICTURES.glob("*.svg"))
    assert {"en-concepts.svg", "en-slurm.svg"} <= {path.name for path in drawn}
    assert [path.name for path in drawn if not path.with_name(path.name.replace("en-", "zh-", 1)).exists()] == []
    wrong = [
        f"{path.name}: {word!r}, say {instead}: {text}"
        for path in drawn
        for text in in_picture(path.read_text(encoding="utf-8"))
        for word, instead in found(text, "zh" if path.name.startswith("zh-") else "en")
    ]
    assert wrong == [], "\n".join(wrong)
