"""The guide in two languages: every English page has a Chinese one that cannot fall behind it unseen.

Both have the same headings in the same order of levels, the same code blocks but for comments (what to type and what
is printed), and the same names in backticks.
"""

import pkgutil
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from trainmaster import sdk
from trainmaster.core.config import Config

ROOT = Path(__file__).parents[2]
ENGLISH = ROOT / "docs/guide"
CHINESE = ROOT / "docs/zh/guide"
REFERENCE, REFERENCE_ZH = ROOT / "docs/reference", ROOT / "docs/zh/reference"
PAGES = sorted(page.name for page in ENGLISH.glob("*.md"))
INTRODUCED = {"http.md", "http-shapes.md", "sdk.md", "settings.md"}
"""Pages of the reference that are made of docstrings: the Chinese page says what is there, and leads to it."""
WHOLE = sorted(page.name for page in REFERENCE.glob("*.md") if page.name not in INTRODUCED)
PAIRS = [
    (ROOT / "README.md", ROOT / "README.zh.md"),
    *[(ENGLISH / page, CHINESE / page) for page in PAGES],
    *[(REFERENCE / page, REFERENCE_ZH / page) for page in WHOLE],
]

HAN = re.compile(r"[\u4e00-\u9fff]")
BLOCK = re.compile(r"^( *)```(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)
INCLUDE = re.compile(r"^```\{include\} (\S+)\n(?:.*\n)*?```$", re.MULTILINE)
NAME = re.compile(r"`([^`\n]+)`")
COMMENT = re.compile(r"(?:^|\s+)# .*$", re.MULTILINE)
LANGUAGE = re.compile(r"^:language: zh\n", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def whole(page: Path) -> str:
    """Return the text of a page with the pages that it includes, one level deeper."""
    return INCLUDE.sub(lambda match: "#" + (page.parent / match[1]).read_text(), page.read_text())


def levels(text: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", BLOCK.sub("", text), re.MULTILINE)]


def code(text: str) -> list[tuple[str, str]]:
    """Return (language, text without comments) of each block."""
    return [(match[2], LANGUAGE.sub("", COMMENT.sub("", match[3]))) for match in BLOCK.finditer(text)]


def test_every_page_is_there_in_both_languages() -> None:
    assert sorted(page.name for page in CHINESE.glob("*.md")) == PAGES
    assert {page.name for page in REFERENCE_ZH.glob("*.md")} == {*WHOLE, *INTRODUCED}


def test_each_page_of_the_guide_is_in_one_language() -> None:
    """Chinese in an English page is what a program prints or what somebody types, and the name of the language."""
    wrong = [
        (page.name, line)
        for page in [*ENGLISH.glob("*.md"), *REFERENCE.glob("*.md")]
        for line in NAME.sub("", BLOCK.sub("", page.read_text())).splitlines()
        if HAN.search(line)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(INTRODUCED))
def test_the_introduction_of_a_generated_page_leads_to_it(name: str) -> None:
    assert f"](../../reference/{name})" in (REFERENCE_ZH / name).read_text()


def test_the_reference_of_the_sdk_leaves_out_no_group_of_calls() -> None:
    calls = {
        f"{module.__name__}.{name}"
        for found in pkgutil.walk_packages(sdk.__path__, "trainmaster.sdk.")
        for module in [import_module(found.name)]
        for name, value in vars(module).items()
        if name.endswith("Calls") and isinstance(value, type) and value.__module__ == module.__name__
    }
    assert len(calls) > 10
    page = (REFERENCE / "sdk.md").read_text()
    assert {one for one in calls if f"autoclass:: {one}\n" not in page} == set()
    chinese = (REFERENCE_ZH / "sdk.md").read_text()
    assert {one for one in calls if f"`{one.rpartition('.')[2]}`" not in chinese} == set()


def test_the_chinese_page_of_the_settings_has_each_section() -> None:
    page = (REFERENCE_ZH / "settings.md").read_text()
    assert [one.name for one in fields(Config) if f"[{one.name}]" not in page] == []


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


@pytest.mark.parametrize("name", ["../index.md", *PAGES, *[f"../reference/{page}" for page in WHOLE]])
def test_a_chinese_page_leads_to_chinese_pages_and_pictures(name: str) -> None:
    page, wrong = CHINESE / name, []
    for target in LINK.findall(page.read_text()):
        to = (page.parent / target).resolve()
        english_page = to.parent == ENGLISH
        english_picture = to.name.startswith("en-") and to.with_name("zh-" + to.name.removeprefix("en-")).exists()
        english_reference = to.parent == REFERENCE and to.name not in INTRODUCED
        if english_page or english_picture or english_reference:
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


def test_a_comment_behind_a_command_stays_in_its_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    page = tmp_path / "page.md"
    page.write_text("停止：\n\n```console\n$ tm stop a    # 第一个\n$ tm stop b\n```\n")
    old = "```console\n$ tm stop a    # the first\n$ tm stop b\n```\n"
    new = "```console\n$ tm stop a    # the first\na  stopped\n$ tm stop b\nb  stopped # 2\n```\n"
    import_module("said").take_along(old, new, [page])
    shown = "```console\n$ tm stop a    # 第一个\na  stopped\n$ tm stop b\nb  stopped # 2\n```\n"
    assert page.read_text() == "停止：\n\n" + shown
