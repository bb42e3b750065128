"""What the platform says, in the language of its reader. Pure.

Two ways, one rule. An answer to one reader (problem documents, previews) is made in their language, by `problem_in` and
`document_in`; what many see or what is kept (verdicts, notes, events) carries both, by `both`. English is what is recorded.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from trainmaster.core.chinese import chinese
from trainmaster.core.errors import Problem
from trainmaster.queue import reasons
from trainmaster.queue.snapshot import Reason
from trainmaster.spec import problems as spec_problems

Language = Literal["zh", "en"]


def wanted(accept: str) -> Language:
    """Return the language that an Accept-Language header likes best (RFC 9110, 12.5.4); English when it names neither."""
    best: dict[str, float] = {"en": 0.0, "zh": 0.0}
    for item in accept.split(","):
        tag, _, weight = item.partition(";")
        name = tag.strip().lower().partition("-")[0]
        if name in best:
            best[name] = max(best[name], _quality(weight))
    return "zh" if best["zh"] > best["en"] else "en"


def _quality(text: str) -> float:
    try:
        return float(text.partition("=")[2]) if text.strip() else 1.0
    except ValueError:
        return 0.0


def both(sentence: str) -> dict[str, str]:
    """Return a recorded English sentence as the API shows texts."""
    return {"zh": chinese(sentence), "en": sentence}


def problem_in(language: Language, item: Problem) -> Problem:
    """Return `item` with rule and remedy in `language`: by its code and arguments, else by its sentences."""
    if language == "en":
        return item
    if item.code in reasons.REASONS and item.args is not None:
        reason = Reason(item.code, item.args)
        return replace(item, rule=reasons.render(reason).zh, remedy=reasons.remedy(reason).zh)
    rule, remedy = spec_problems.in_chinese(item)
    return replace(item, rule=rule, remedy=remedy)


def problems_in(language: Language, items: tuple[Problem, ...]) -> list[dict[str, Any]]:
    """Return problems as JSON in `language`."""
    return [problem_in(language, item).to_json() for item in items]


def document_in(language: Language, document: Mapping[str, Any], items: tuple[Problem, ...] = ()) -> dict[str, Any]:
    """Return a problem document in `language`; `items` are the problems it lists, whose words its own may repeat."""
    made = dict(document)
    if language == "zh":
        for name in ("title", "remedy"):
            for item in items:
                shown = problem_in(language, item)
                made[name] = made[name].replace(item.rule, shown.rule) if item.rule else made[name]
                made[name] = shown.remedy if made[name] == item.remedy else made[name]
            made[name] = chinese(made[name])
        made["problems"] = problems_in(language, items)
    return made
