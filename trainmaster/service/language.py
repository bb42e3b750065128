"""What the platform says, in the language of its reader. Pure.

Two ways, one rule. An answer to one reader (problem documents, previews) is made in their language, by `problem_in` and
`document_of`; what many see or what is kept (verdicts, notes, events) carries both, by `both`. English is what is recorded.
"""

from dataclasses import replace
from typing import Literal

from trainmaster.answers import ProblemItem, ProblemView, Text, problem_item
from trainmaster.core.chinese import chinese
from trainmaster.core.errors import Problem, TrainmasterError
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


def two(pair: tuple[str, str]) -> Text:
    """Return a (zh, en) pair as the API shows texts."""
    return Text(zh=pair[0], en=pair[1])


def both(sentence: str) -> Text:
    """Return a recorded English sentence as the API shows texts."""
    return Text(zh=chinese(sentence), en=sentence)


def problem_in(language: Language, item: Problem) -> Problem:
    """Return `item` with rule and remedy in `language`: by its code and arguments, else by its sentences."""
    if language == "en":
        return item
    if item.code in reasons.REASONS and item.args is not None:
        reason = Reason(item.code, item.args)
        return replace(item, rule=reasons.render(reason).zh, remedy=reasons.remedy(reason).zh)
    rule, remedy = spec_problems.in_chinese(item)
    return replace(item, rule=rule, remedy=remedy)


def problems_in(language: Language, items: tuple[Problem, ...]) -> list[ProblemItem]:
    """Return problems as the API shows them, in `language`."""
    return [problem_item(problem_in(language, item)) for item in items]


def document_of(language: Language, error: TrainmasterError) -> ProblemView:
    """Return the problem document of a refusal in `language`."""
    return document(language, error.status, error.code, error.message, error.remedy, error.problems)


def document(
    language: Language, status: int, code: str, title: str, remedy: str, items: tuple[Problem, ...] = ()
) -> ProblemView:
    """Return a problem document that lists `items`, in `language`."""
    return ProblemView(
        type=f"urn:trainmaster:{code}",
        title=_in(language, title, items),
        status=status,
        code=code,
        remedy=_in(language, remedy, items),
        problems=problems_in(language, items),
    )


def _in(language: Language, sentence: str, items: tuple[Problem, ...]) -> str:
    """Return a sentence in `language`; it may repeat the words of the problems, `items`, that it stands above."""
    if language == "en":
        return sentence
    for item in items:
        shown = problem_in(language, item)
        sentence = sentence.replace(item.rule, shown.rule) if item.rule else sentence
        sentence = shown.remedy if sentence == item.remedy else sentence
    return chinese(sentence)
