"""What the platform says, in the language of its reader. Pure.

Two ways, one rule. An answer to one reader (problem documents, previews) is made in their language, by `problem_in` and
`document_of`; what many see (verdicts, notes, events) carries both, by `both`. What is recorded is data
(messages.said).
"""

from dataclasses import replace
from typing import Literal

from trainmaster.answers import ProblemItem, ProblemView, Text, problem_item
from trainmaster.core.errors import Problem, TrainmasterError
from trainmaster.messages import render
from trainmaster.messages.said import WORDS, Said

Language = Literal["zh", "en"]


def preferred_language(accept: str) -> Language:
    """Return the language that an Accept-Language header likes best (RFC 9110, 12.5.4); English when it names
    neither.
    """
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


def two(pair: tuple[str, str]) -> Text:
    """Return a (zh, en) pair as the API shows texts."""
    return Text(zh=pair[0], en=pair[1])


def both(said: Said | None) -> Text:
    """Return what was said as the API shows texts; empty ones for nothing."""
    return Text(zh="", en="") if said is None else Text(zh=render.text(said, "zh"), en=render.text(said, "en"))


def problem_in(language: Language, item: Problem) -> Problem:
    """Return `item` with rule and remedy in `language`; words of others are left as they are."""
    if language == "en" or item.args is None or not render.has_words(item.code):
        return item
    return replace(item, rule=render.text(item.said, language), remedy=render.remedy(item.said, language))


def problems_in(language: Language, items: tuple[Problem, ...]) -> list[ProblemItem]:
    """Return problems as the API shows them, in `language`."""
    return [problem_item(problem_in(language, item)) for item in items]


def document_of(language: Language, error: TrainmasterError) -> ProblemView:
    """Return the problem document of a refusal in `language`."""
    return ProblemView(
        type=f"urn:trainmaster:{error.code}",
        title=render.text(error.said, language),
        status=error.status,
        kind=error.kind,
        code=error.code,
        args=error.said.to_json()["args"] if error.said.code != WORDS else {},
        remedy=render.remedy(error.said, language),
        problems=problems_in(language, error.problems),
    )
