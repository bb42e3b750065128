"""One word for one thing in the guide, the reference and what else is written for people who use the platform (R29)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.vocabulary import found

ROOT = Path(__file__).parents[3]
PAGES = {
    "en": ("README.md", "docs/index.md", "docs/guide/*.md", "docs/reference/*.md", "examples/**/*.md"),
    "zh": ("README.zh.md", "docs/zh/**/*.md"),
}
FENCE = re.compile(r"^( *)(:?```).*?^\1\2$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"\]\([^)]*\)")

PERSON = "the role of a person"
OPENPAI = "OpenPAI's own word for a sub-task"
THEIRS = "what another system calls it"
HTTP = "the header of HTTP"
MINDSPORE = "MindSpore's word for a process of its clusters"
EXCEPTIONS = {
    **{(f"docs/guide/{page}.md", "role"): PERSON for page in ("people", "sign-in")},
    **{(f"docs/guide/{page}.md", "roles"): PERSON for page in ("administration", "people", "queue-policies")},
    ("docs/guide/people.md", "Roles"): PERSON,
    **{
        (f"docs/zh/guide/{page}.md", "角色"): PERSON
        for page in ("administration", "people", "queue-policies", "sign-in")
    },
    **{("docs/guide/openpai.md", word): OPENPAI for word in ("task", "role")},
    **{("docs/guide/coming-from.md", word): THEIRS for word in ("task", "role", "agent")},
    ("docs/guide/frameworks.md", "scheduler"): MINDSPORE,
    ("docs/reference/api.md", "Host"): HTTP,
}
"""(page, word) that is meant as it stands, and why."""


def said(text: str) -> Iterator[str]:
    """Yield the lines of a page without its blocks of code and without the targets of its links."""
    yield from TARGET.sub("]", FENCE.sub("", text)).splitlines()


def words() -> Iterator[tuple[str, str, str, str]]:
    """(page, word, what is said instead, line) of every word for which another one was chosen."""
    for language, places in PAGES.items():
        for place in places:
            pages = sorted(ROOT.glob(place))
            assert pages, place
            for page in pages:
                name = page.relative_to(ROOT).as_posix()
                for line in said(page.read_text(encoding="utf-8")):
                    for word, instead in found(line, language):
                        yield name, word, instead, line


@pytest.fixture(scope="module")
def every() -> list[tuple[str, str, str, str]]:
    return [*words()]


def test_code_and_addresses_are_left() -> None:
    text = "A [node](machine.md) with `cards`\n\n```bash\ntm card\n```\n\n:::note\nA role\n:::\n"
    assert [word for line in said(text) for word, _ in found(line, "en")] == ["role"]


def test_the_pages_have_one_word_for_one_thing(every: list[tuple[str, str, str, str]]) -> None:
    wrong = [
        f"{page}: {word!r}, say {instead}: {line}"
        for page, word, instead, line in every
        if (page, word) not in EXCEPTIONS
    ]
    assert wrong == [], "\n".join(wrong)


def test_every_exception_of_a_page_is_still_one(every: list[tuple[str, str, str, str]]) -> None:
    assert EXCEPTIONS.keys() <= {(page, word) for page, word, _, _ in every}
