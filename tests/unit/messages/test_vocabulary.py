"""One word for one thing in everything that people read (R29): no entry of a catalogue, no name of a state or an event,
and no text of the console has a word that another one was chosen for. docs/guide/glossary.md has the words.

What is an identifier stays as it is: what stands in backticks, a path, an option, a setting, a variable.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainmaster.core import events, framework_kinds, states, verdicts
from trainmaster.messages import render

ENGLISH = {
    r"(?<!sub-)tasks?": "replica, or job",
    r"roles?": "sub-task",
    r"cards?": "GPU",
    r"machines?": "node, server or computer",
    r"hosts?": "node",
    r"durations?": "time limit, or time",
    r"mend(?:s|ed|ing)?": "fix",
    r"anew": "again",
    r"of late": "recently",
    r"the copy|copy with|copy (?:the|this|a) job|cop(?:y|ies) of (?:the|this|a) job|duplicates?": "clone",
    r"pending": "queued",
    r"waiting jobs?|jobs? (?:that )?(?:still )?waits?|wait in the queue": "queued",
    r"lies": "is, or path",
    r"whoever": "who",
    r"schedulers?": "platform",
    r"(?<!node )agents?": "platform, or node agent where people must look for it",
    r"gangs?": "replicas",
    r"ledgers?": "database",
    r"reap(?:s|ed)?": "clean up",
    r"dialects?": "format",
    r"knobs?": "setting",
    r"usage duration": "time limit",
    r"colour\w*": "color",
    r"utilis\w+": "utilization",
    r"initialis\w+": "initializing",
    r"flavours?": "flavor",
    r"behaviours?": "behavior",
    r"licences?": "license",
    r"grey": "gray",
    r"(?-i:[RDB]\d{1,3})": "nothing: people do not know the list of requirements",
    r"[“”]": "straight quotes: English takes curly ones from the Chinese font",
}
"""What is not said, and what is said instead."""

CHINESE = {
    r"角色": "子任务",
    r"(?<!加速)(?<!选项)卡(?!死|顿|片)": "加速卡",
    r"块(?:加速)?卡": "张加速卡",
    r"使用时长|时长上限|时限上限": "运行时限",
    r"机器": "节点、服务器",
    r"主机": "节点",
    r"(?<!节点)(?<!反向)代理": "平台、节点代理",
    r"修补": "修复",
    r"账本": "数据库",
    r"次尝试|尝试过程": "第 N 次运行、运行记录",
    r"任务描述文件|任务文档": "任务文件",
    r"另建任务|复制任务|任务的副本": "克隆",
    r"(?<!现)在用(?![户量])": "可调度、使用中",
    r"封锁": "停止调度",
    r"(?-i:(?<!\w)[RDB]\d{1,3})": "无：用户不知道需求编号",
}
"""The same in Chinese."""

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

IDENTIFIER = re.compile(
    r"`[^`]*`"  # in backticks
    r"|\{\{|\}\}"  # a brace
    r"|--[\w-]+"  # an option
    r"|(?:tm|trainmaster) [a-z]+"  # a command
    r"|[\w*-]*[\w*](?:[./=_@]+[\w*-]+)+/?"  # a path, a field, a setting, a variable, an address
    r"|\b[A-Z]{2,}[A-Z0-9]*\b"  # a placeholder
)
COUNTED = re.compile(r"\{\w+:([^{}]*)\}")
PLACE = re.compile(r"\{+[^{}]*\}+")


def found(text: str, language: str) -> list[tuple[str, str]]:
    """Return the words that are not said in `text`, each with what is said instead."""
    plain = PLACE.sub(" ", COUNTED.sub(r" \1 ", text))
    plain = IDENTIFIER.sub(" ", plain.replace("{", " ").replace("}", " "))
    banned = ENGLISH if language == "en" else CHINESE
    edge = r"(?<!\w)(?:{})(?!\w)" if language == "en" else "{}"
    return [
        (match.group(), instead)
        for word, instead in banned.items()
        for match in re.finditer(edge.replace("{}", word), plain, re.IGNORECASE)
    ]


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
