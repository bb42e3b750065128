"""Every entry of every catalogue is whole: words in both languages, made of the same arguments, with a remedy in both
or in none.
"""

import re
from itertools import product
from pathlib import Path
from string import Formatter

import trainmaster
from trainmaster.messages import render
from trainmaster.messages.catalogue import Message
from trainmaster.messages.said import Said

ENTRIES = render.everything()
HAN = re.compile(r"[\u4e00-\u9fff]")
UNKNOWN = Said("unheard_of"), Said("words", {"text": "y"})
ODD = (None, 0, 1, 2.5, float("nan"), 1e300, "x", "", ("a", "b"), (), {}, *UNKNOWN)


def fields(template: str) -> dict[str, str]:
    return {name: how or "" for _, name, how, _ in Formatter().parse(template) if name is not None}


def templates(entry: Message) -> dict[str, tuple[str, str]]:
    return {language: (entry.texts[language], entry.remedies[language]) for language in ("en", "zh")}


def test_it_is_said_in_both_languages_of_the_same_arguments() -> None:
    for code, entry in ENTRIES.items():
        said = {language: fields("".join(both)) for language, both in templates(entry).items()}
        assert said["en"].keys() == said["zh"].keys(), code
        assert entry.texts["en"], code
        written = re.search("[A-Za-z]{3}", re.sub(r"\{.*?\}", "", entry.texts["en"]))
        assert HAN.search(entry.texts["zh"]) or not written, code
        assert not HAN.search(entry.texts["en"] + entry.remedies["en"]), code


def test_its_remedy_is_a_sentence_in_both_languages_or_in_none() -> None:
    for code, entry in ENTRIES.items():
        assert bool(entry.remedies["en"]) == bool(entry.remedies["zh"]), code
        assert not entry.texts["en"].endswith((".", " ")), code
        assert not entry.texts["zh"].endswith(("。", " ")), code


def test_a_noun_stands_with_a_count_and_has_two_forms_in_english() -> None:
    for code, entry in ENTRIES.items():
        for language, both in templates(entry).items():
            for name, how in fields("".join(both)).items():
                if how:
                    assert entry.kinds.get(name) == "count", (code, name)
                    assert how.count("|") == (1 if language == "en" else 0), (code, how)


def test_it_can_be_said_whatever_its_arguments_are() -> None:
    """What is kept may be older, or damaged: words are made of it all the same."""
    for code, entry in ENTRIES.items():
        names = fields("".join(entry.texts.values()) + "".join(entry.remedies.values()))
        for value, language in product(ODD, ("en", "zh", "xx")):
            said = Said(entry.code, dict.fromkeys(names, value))
            text = render.text(said, language).replace("{...}", "").replace("{}", "")
            assert "{" not in text or "{{" in entry.texts["en"], code
            assert isinstance(render.remedy(said, language), str), code
        assert render.text(Said(entry.code)), f"nothing was kept of the arguments of {code}"


def test_nobody_but_an_engine_names_its_kind() -> None:
    """What is said for all engines suits all; what only one says lies with it. The console knows labels and
    abilities.
    """
    root = Path(trainmaster.__file__).parent
    said = [*(root / "messages").rglob("*.py"), *(root.parent / "console" / "src").rglob("*.ts*")]
    named = {
        path.relative_to(root.parent).as_posix()
        for path in said
        if re.search("slurm|local engine|本地引擎", path.read_text(encoding="utf-8"), re.IGNORECASE)
    }
    assert named == {"trainmaster/messages/render.py"}, "which says where catalogues lie"
