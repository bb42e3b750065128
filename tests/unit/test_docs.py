"""The guide in two languages: every English page has a Chinese one that cannot fall behind it unseen.

Both have the same headings in the same order of levels, the same code blocks but for comments (what to type and what
is printed), and the same names in backticks.
"""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGLISH = ROOT / "docs/guide"
CHINESE = ROOT / "docs/zh/guide"
PAGES = sorted(page.name for page in ENGLISH.glob("*.md"))
PAIRS = [(ROOT / "README.md", ROOT / "README.zh.md"), *[(ENGLISH / page, CHINESE / page) for page in PAGES]]

BLOCK = re.compile(r"^( *)```(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)
INCLUDE = re.compile(r"^```\{include\} (\S+)\n(?:.*\n)*?```$", re.MULTILINE)
NAME = re.compile(r"`([^`\n]+)`")
COMMENT = re.compile(r"(?:^|\s+)# .*$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def whole(page: Path) -> str:
    """Return the text of a page with the pages that it includes, one level deeper."""
    return INCLUDE.sub(lambda match: "#" + (page.parent / match[1]).read_text(), page.read_text())


def levels(text: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", BLOCK.sub("", text), re.MULTILINE)]


def code(text: str) -> list[tuple[str, str]]:
    """Return (language, text without comments) of each block."""
    return [(match[2], COMMENT.sub("", match[3])) for match in BLOCK.finditer(text)]


def test_every_page_is_there_in_both_languages() -> None:
    assert sorted(page.name for page in CHINESE.glob("*.md")) == PAGES


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda page: page.name)
def test_both_languages_have_the_same_headings(english: Path, chinese: Path) -> None:
    assert levels(whole(chinese)) == levels(whole(english))


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda page: page.name)
def test_both_languages_have_the_same_code(english: Path, chinese: Path) -> None:
    assert code(whole(chinese)) == code(whole(english))


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda page: page.name)
def test_the_chinese_page_leaves_out_nothing_that_stands_in_backticks(english: Path, chinese: Path) -> None:
    named, said = (set(NAME.findall(BLOCK.sub("", whole(page)))) for page in (english, chinese))
    assert named - said == set()


@pytest.mark.parametrize("name", ["../index.md", *PAGES])
def test_a_chinese_page_leads_to_chinese_pages_and_pictures(name: str) -> None:
    page, wrong = CHINESE / name, []
    for target in LINK.findall(page.read_text()):
        to = (page.parent / target).resolve()
        english_page = to.parent == ENGLISH
        english_picture = to.name.startswith("en-") and to.with_name("zh-" + to.name.removeprefix("en-")).exists()
        if english_page or english_picture:
            wrong.append(target)
    assert wrong == []


def test_a_page_finds_its_other_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs/ext"))
    languages = import_module("languages")
    counterpart = languages.counterpart
    pages = {"index", "zh/index", "guide/cli", "zh/guide/cli", "reference/cli"}
    assert counterpart("guide/cli", pages) == "zh/guide/cli"
    assert counterpart("zh/guide/cli", pages) == "guide/cli"
    assert counterpart("index", pages) == "zh/index"
    assert counterpart("reference/cli", pages) is None
    assert [languages.console_of(page) for page in ("index", "zh/guide/cli")] == ["../", "../../../"]


def test_no_script_stands_inside_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's content security policy would let none of them run."""
    monkeypatch.syspath_prepend(str(ROOT / "docs/ext"))
    page = '<script src="a.js"></script><script>\n  one()\n</script><b/><script>two()</script><script>one()</script>'
    changed, files = import_module("inline_scripts").moved(page, "../")
    assert sorted(files.values()) == ["one()", "two()"]
    assert changed.count('<script src="../_static/inline-') == 3
    assert "()" not in changed


def test_what_is_printed_anew_goes_into_the_chinese_page_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    session = "```console\n$ tm list\n{}\n```\n"
    page = tmp_path / "page.md"
    page.write_text("列出：\n\n" + session.format("initialising"))
    old, new = ("Look:\n\n" + session.format(printed) for printed in ("initialising", "Initializing"))
    import_module("said").take_along(old, new, [page])
    assert page.read_text() == "列出：\n\n" + session.format("Initializing")
