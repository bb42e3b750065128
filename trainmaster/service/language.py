"""What the platform says, in the language of its reader. Pure.

Two ways, one rule. An answer to one reader (problem documents, previews) is made in their language, by `problem_in` and
`document_of`; what many see or what is kept (verdicts, notes, events) carries both, by `both`. English is what is recorded.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from trainmaster.answers import ProblemItem, ProblemView, Text, problem_item
from trainmaster.core.chinese import chinese
from trainmaster.core.errors import Problem, TrainmasterError
from trainmaster.messages import render
from trainmaster.messages.said import WORDS, Said, said_from_json

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


def two(pair: tuple[str, str]) -> Text:
    """Return a (zh, en) pair as the API shows texts."""
    return Text(zh=pair[0], en=pair[1])


def both(said: Said | str) -> Text:
    """Return what was said, or a recorded English sentence, as the API shows texts."""
    return Text(zh=chinese(said), en=said) if isinstance(said, str) else both_of(said)


def both_of(said: Said) -> Text:
    """Return what was said as the API shows texts."""
    return Text(zh=render.text(said, "zh"), en=render.text(said, "en"))


def problem_in(language: Language, item: Problem) -> Problem:
    """Return `item` with rule and remedy in `language`: by its code and arguments, else by its sentences."""
    if language == "en":
        return item
    if item.args is not None and render.known(item.code):
        said = said_from_json({"code": item.code, "args": item.args})
        return replace(item, rule=render.text(said, language), remedy=render.remedy(said, language))
    return replace(item, rule=chinese(item.rule), remedy=chinese(item.remedy))


def problems_in(language: Language, items: tuple[Problem, ...]) -> list[ProblemItem]:
    """Return problems as the API shows them, in `language`."""
    return [problem_item(problem_in(language, item)) for item in items]


def document_of(language: Language, error: TrainmasterError) -> ProblemView:
    """Return the problem document of a refusal in `language`."""
    return ProblemView(
        type=f"urn:trainmaster:{error.code}",
        title=_in(language, error.said, error.message, error.problems),
        status=error.status,
        kind=error.kind,
        code=error.code,
        args=error.said.to_json()["args"] if error.said.code != WORDS else {},
        remedy=_in(language, error.said, error.remedy, error.problems, render.remedy),
        problems=problems_in(language, error.problems),
    )


def _in(
    language: Language,
    said: Said,
    english: str,
    items: tuple[Problem, ...],
    words: Callable[[Said, str], str] = render.text,
) -> str:
    """Return `words` of what was said in `language`; what was said without a code may repeat those of the problems, `items`."""
    if said.code != WORDS:
        return words(said, language)
    if language == "en":
        return english
    for item in items:
        shown = problem_in(language, item)
        english = english.replace(item.rule, shown.rule) if item.rule else english
        english = shown.remedy if english == item.remedy else english
    return chinese(english)
