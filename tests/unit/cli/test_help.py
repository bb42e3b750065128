"""Every command explains itself in both languages: what it does, what it prints, and what one types (R149, R246); and
whatever the command line prints stands in both languages, in the words that were agreed on.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trainmaster.cli
from tests.fixtures.vocabulary import found

HAN = re.compile(r"[\u4e00-\u9fff]")
ROOT = Path(trainmaster.cli.__file__).parent
WALK = """
import json
from typer.main import get_command
from trainmaster.cli.main import commands

def walk(command, path):
    params = [{"names": list(one.opts), "help": getattr(one, "help", None), "hidden": getattr(one, "hidden", False)}
              for one in command.params]
    yield {"path": path, "help": command.help or "", "epilog": command.epilog or "", "params": params,
           "group": hasattr(command, "commands")}
    for name in getattr(command, "commands", ()):
        if path != "tm engine add":
            yield from walk(command.commands[name], f"{path} {name}")

print(json.dumps([*walk(get_command(commands()), "tm")]))
"""


def walked(language: str) -> list[dict[str, Any]]:
    env = {**os.environ, "TRAINMASTER_LANG": language}
    done = subprocess.run([sys.executable, "-c", WALK], env=env, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


@pytest.fixture(scope="module")
def english() -> list[dict[str, Any]]:
    return walked("en")


@pytest.fixture(scope="module")
def chinese() -> list[dict[str, Any]]:
    return walked("zh")


def test_each_command_says_what_it_does_and_what_it_prints_with_an_example(english: list[dict[str, Any]]) -> None:
    for one in english:
        first, *more = one["help"].split("\n\n")
        assert first.endswith("."), one["path"]
        assert len(first) <= 100, one["path"]
        assert "\n" not in one["help"].replace("\n\n", ""), one["path"]
        if not one["group"]:
            assert more, f"{one['path']} does not say what it prints"
            assert one["path"].rpartition(" ")[2] in one["epilog"], one["path"]


def test_each_option_is_explained(english: list[dict[str, Any]], chinese: list[dict[str, Any]]) -> None:
    own = {"install_completion", "show_completion", "help"}
    for told in (english, chinese):
        for one in told:
            for param in one["params"]:
                if not param["hidden"] and not own & {name.strip("-").replace("-", "_") for name in param["names"]}:
                    assert param["help"], (one["path"], param["names"])


def test_chinese_helps_are_chinese_and_english_ones_english(
    english: list[dict[str, Any]], chinese: list[dict[str, Any]]
) -> None:
    assert [one["path"] for one in english] == [one["path"] for one in chinese]
    for en, zh in zip(english, chinese, strict=True):
        assert not HAN.search(en["help"]), en["path"]
        assert all(HAN.search(part) for part in zh["help"].split("\n\n")), zh["path"]
        for first, second in zip(en["params"], zh["params"], strict=True):
            if not first["hidden"] and "completion" not in first["names"][0]:
                assert not HAN.search(first["help"]), (en["path"], first)
                assert HAN.search(second["help"]), (zh["path"], second)


def test_helps_are_in_the_agreed_words(english: list[dict[str, Any]], chinese: list[dict[str, Any]]) -> None:
    """R29: what a command does, what it prints, its arguments and options, and what stands beside its examples."""
    wrong = []
    for language, told in (("en", english), ("zh", chinese)):
        for one in told:
            of_people = ROLE if one["path"].split()[1:2] in OF_PEOPLE_GROUPS else NOTHING
            texts = [one["help"], one["epilog"], *[param["help"] or "" for param in one["params"]]]
            wrong += [(language, one["path"], text) for text in texts if found(of_people.sub("", text), language)]
    assert wrong == []


def test_a_chinese_help_is_whole_in_80_columns() -> None:
    """Typer cuts a text without spaces."""
    env = {**os.environ, "COLUMNS": "80"}
    words = [sys.executable, "-m", "trainmaster", "--lang", "zh", "logs", "--help"]
    shown = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
    assert "…" not in shown
    for title in ("参数", "选项", "示例", "显示此帮助"):
        assert title in shown


def printed() -> Iterator[tuple[str, ast.Call]]:
    """Yield every call of `words` with its file."""
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "words":
                yield path.name, node


def text_of(node: ast.expr) -> str | None:
    """What stands in a text, its arguments as {}; None for what is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return None


ALIKE = {("GPUs", "GPU"), ("a shell", "shell"), ("to start it {}: {}", "{}：{}")}
"""What has no Chinese character of its own."""
OF_PEOPLE = {"user.py", "members.py", "invitations.py"}
ROLE, NOTHING = re.compile("[Rr]oles?|角色"), re.compile("(?!)")
OF_PEOPLE_GROUPS = (["user"], ["workspace"])
"""What the old word for a sub-task means there: the role of a person."""
COPY_ZH = re.compile(r"复制|拷贝")


def test_whatever_is_printed_is_in_both_languages_and_in_the_agreed_words() -> None:
    count = 0
    for name, call in printed():
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            continue  # words that stand in a table above
        en, zh = (text_of(argument) for argument in call.args)
        if en is None or zh is None:
            continue
        count += 1
        assert not HAN.search(en), (name, en)
        if re.search("[A-Za-z]{3}", en.replace("{}", "")) and en != zh and (en, zh) not in ALIKE:
            assert HAN.search(zh), (name, zh)
        of_people = ROLE if name in OF_PEOPLE else NOTHING
        assert not found(of_people.sub("", en), "en"), (name, en)
        assert not found(of_people.sub("", zh), "zh"), (name, zh)
        assert not COPY_ZH.search(zh), (name, zh)
    assert count > 400
