"""Whatever the platform says is said by a code: the code itself is looked through; and the ways a text takes to its
reader.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

import trainmaster
from trainmaster.answers import Text
from trainmaster.core.errors import Problem, Unsatisfiable
from trainmaster.core.formats.units import NotRead, parse_duration_s, parse_memory_mib
from trainmaster.messages import render
from trainmaster.messages.jobs import form, starting, submitting, tasks
from trainmaster.messages.said import verbatim
from trainmaster.queue.explaining import reasons
from trainmaster.queue.snapshot import Reason
from trainmaster.sdk.offline import preview
from trainmaster.service.language import both, document_of, preferred_language, problem_in
from trainmaster.spec.problems import problem

SAY = {
    "NotFound", "Conflict", "Unauthenticated", "Forbidden", "TooLarge", "RateLimited", "StorageFailed", "Unavailable",
    "InvalidSpec", "Unsatisfiable", "InvalidRequest", "Misdirected", "Problem", "Verdict", "Decision", "Refused",
    "refusal", "doom", "raise_if_any", "add", "_bad", "_fail", "ClusterDown", "ClusterRefused", "Check", "Trespass",
    "NotEntered",
}  # fmt: skip
"""What is called with a sentence for people. Other calls of these names (a set's `add`) have no sentence."""

OUTSIDE = (
    "cli/",
    "sdk/",
    "simulate/",
    "service/settings.py",
    "service/settings_file.py",
    "store/database.py",
    "store/migrate.py",
)
"""Said in a terminal only: before the server answers, or by commands."""


ROLE = {"name": "main", "command": "true"}
WRONG: tuple[dict[str, Any], ...] = (
    {},
    {"name": "j"},
    {"name": "", "roles": []},
    {"name": "j", "roles": [{**ROLE, "replicas": 0}]},
    {"name": "j", "roles": [ROLE, ROLE]},
    {"name": "j", "roles": [ROLE], "duration": "soon"},
    {"name": "j", "roles": [{**ROLE, "resources": {"memory": "much", "gpu": -1}}]},
    {"name": "j", "roles": [ROLE], "nmae": 1},
    {"name": "j", "roles": [{**ROLE, "ports": [{"label": "1"}, {"label": "1"}]}]},
    {"name": "j", "roles": "main"},
    {"name": "j", "roles": [ROLE], "inputs": [{"path": "data", "mount": "x"}]},
    {"name": "j", "roles": [ROLE], "env": {"A B": "1"}},
)
"""Documents with something wrong in each."""


def sentence(node: ast.expr) -> str | None:
    """Return a text as written, "7" for each value in it (the first of a choice of texts); None for what is no text."""
    if isinstance(node, ast.FormattedValue):
        return (sentence(node.value.body) if isinstance(node.value, ast.IfExp) else None) or "7"
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(sentence(part) or "" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and (left := sentence(node.left)) is not None:
        return left + (sentence(node.right) or "7")
    return None


NO_SENTENCE = {
    "7 MIG 7g.7gb",
    "7 at column 7",
    "7: others than this user can write there",
    "7: others than this user and root can replace what lies there",
}
"""The name of a card; where in a document; what a program on a node says on its error stream, whose words are shown as
they are.
"""

NAMES = {"text", "rule", "remedy", "message", "why", "reason", "trouble", "detail"}
"""What a sentence is called that is said a line later."""


def said() -> Iterator[tuple[str, str]]:
    """Yield (where, sentence) for every sentence for people in the code."""
    root = Path(trainmaster.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(OUTSIDE):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            for text in filter(None, map(sentence, given(node))):
                if re.search("[A-Za-z]{2,} ", text):
                    yield f"{name}:{node.lineno}", text  # type: ignore[attr-defined]


def given(node: ast.AST) -> list[ast.expr]:
    """Return what may be a sentence in a call that says something, in what is kept to be said, or returned to whoever
    says it.
    """
    if isinstance(node, ast.Assign) and {getattr(target, "id", "") for target in node.targets} & NAMES:
        return [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
    if isinstance(node, ast.Return) and isinstance(node.value, ast.IfExp | ast.Constant | ast.JoinedStr):
        return [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return [*node.args, *(word.value for word in node.keywords if word.arg != "code")] if called in SAY else []
    return []


def test_nothing_is_said_in_words_where_it_happens() -> None:
    """What has no code can be compared by no program, and read in one language alone."""
    assert [f"{where}: {text}" for where, text in said() if text not in NO_SENTENCE] == []


def test_a_third_language_is_one_more_file() -> None:
    """In a language that puts everything in brackets nothing stands outside of them, whoever says it."""
    english = {code: entry.texts["en"] for code, entry in render.everything().items()}
    render.add("qps", {code: f"⟦{text}⟧" for code, text in english.items()}, {})
    try:
        found = [one for spec in WRONG for one in preview(spec, {}).problems]
        assert len(found) >= len(WRONG)
        for one in found:
            text = render.text(Problem(**asdict(one)).said, "qps")
            assert (text[0], text[-1]) == ("⟦", "⟧"), text
        nested = starting.inputs_not_usable([starting.input_wrong("/data", starting.code_gone())])
        assert render.text(nested, "qps") == "⟦inputs cannot be used: ⟦/data: ⟦the uploaded code no longer exists⟧⟧⟧"
    finally:
        render.LANGUAGES.remove("qps")


def test_a_verdict_is_read_in_both_languages() -> None:
    english, chinese = "worker-3 was ended by signal 9 (SIGKILL)", "worker-3 被信号 9 (SIGKILL) 终止"
    assert both(tasks.task_ended_by_signal("worker-3", "9 (SIGKILL)")) == Text(zh=chinese, en=english)
    said = starting.home_disk_full(starting.task_not_started("task0-0"))
    assert both(said).zh == "task0-0 无法启动：平台目录所在的磁盘已满"


@pytest.mark.parametrize("text", ["", "not needed any more", "x" * 100_000, "{braces} 50 %", "a\nb"])
def test_the_words_of_people_are_left_as_they_are(text: str) -> None:
    assert both(verbatim(text)) == Text(zh=text, en=text)


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB, zh;q=0.3", "en"),
        ("de", "en"),
        ("*", "en"),
        ("de, zh;q=0.5", "zh"),
        ("en;q=0, ZH-Hant;q=0.1", "zh"),
        ("zh;q=much, en;q=0.1", "en"),
        (",;=,", "en"),
    ],
)
def test_the_language_a_reader_likes_best(header: str, language: str) -> None:
    assert preferred_language(header) == language


def test_a_problem_is_told_by_its_code_even_where_its_arguments_are_sentences() -> None:
    for said, parse in ((form.bad_duration, parse_duration_s), (form.bad_memory, parse_memory_mib)):
        with pytest.raises(NotRead, match="is not a") as refused:
            parse("soon")
        shown = problem_in("zh", problem("duration", said(refused.value.said)))
        assert "soon" in shown.rule
        assert " is " not in shown.rule


def test_what_is_no_duration_is_said_once_in_either_language() -> None:
    role = {"name": "main", "command": "true"}
    for value in ("soon", "", ["1h"]):
        (wrong,) = preview({"name": "j", "roles": [role], "duration": value}, {}).problems
        assert wrong.rule.count("duration") == 1
        assert ";" not in wrong.rule
        shown = problem_in("zh", Problem(**asdict(wrong)))
        assert "不是时长" in shown.rule


def test_a_problem_of_others_keeps_its_own_words() -> None:
    told = Problem("upload", "at most 5 MiB here", "Send less.", "too_large")
    assert problem_in("zh", told) == told


def test_a_document_repeats_its_problems_in_their_language() -> None:
    reason = Reason(
        "no_such_card", {"path": "roles.0.resources.gpu_type", "role": "main", "type": "H9", "types": ["A100"]}
    )
    never = submitting.can_never_run_here(reasons.say_reason(reason), reasons.instead(reason.evidence))
    refused = Unsatisfiable(never, problems=(reasons.problem(reason),))
    shown = document_of("zh", refused)
    assert shown.title == "任务在这里永远无法运行：角色 main 要求加速卡型号 H9，资源池中只有：A100"
    assert shown.remedy == shown.problems[0].remedy == "将 roles.0.resources.gpu_type 改为以下之一：A100。"
    english = document_of("en", refused)
    assert (english.title, english.remedy) == (refused.message, refused.remedy)
    assert english.problems[0].rule in english.title
