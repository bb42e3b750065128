"""The house as a stranger finds it: rooms of a size that can be looked over, names that stand once, and a map that is
true.
"""

import ast
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import trainmaster

ROOT = Path(trainmaster.__file__).parent
DESIGN = ROOT.parent / "docs" / "design"
MOST_FILES = 16
STEPS = ROOT / "store" / "migrations" / "versions"
"""One step for each schema there was, in order: a list that only grows, not a room."""
TWICE = {"Framework", "Resources", "Job", "Change"}
"""What a job document says and what becomes of it have one name; the SDK calls a job a job; a change is asked for and
stored.
"""

UPPER = ("service", "api", "sdk")
UNTYPED = re.compile(r"(?:dict|Mapping)\[str, Any\]")
MOST_UNTYPED = 30


def test_no_room_is_larger_than_one_can_look_over() -> None:
    sizes = Counter(path.parent for path in ROOT.rglob("*.py"))
    del sizes[STEPS]
    assert {str(room): size for room, size in sizes.items() if size > MOST_FILES} == {}


def test_every_room_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("__init__.py")
        if "migrations" not in path.parts and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_a_class_has_a_name_of_its_own() -> None:
    names = Counter(
        item.name
        for path in ROOT.rglob("*.py")
        for item in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(item, ast.ClassDef) and not item.name.startswith("_")
    )
    assert {name for name, count in names.items() if count > 1} == TWICE
    assert max(names.values()) == 2


def test_what_goes_through_the_upper_floors_has_types() -> None:
    """A dict of anything is checked by nobody: a wrong name of a field is found by who runs into it."""
    found = Counter(
        str(path.relative_to(ROOT))
        for room in UPPER
        for path in (ROOT / room).rglob("*.py")
        for _ in UNTYPED.findall(path.read_text(encoding="utf-8"))
    )
    assert found.total() < MOST_UNTYPED, (
        f"{found.total()} times a dict of anything, most of them in {found.most_common(5)}. Give what you add a type: "
        "an Answer for what is answered, a dataclass for what goes from room to room, a msgspec.Struct for what was "
        "written and is read again, Mapping[str, object] for what strangers tell, so that every use looks first; a "
        "job's document is a Document (spec/document.py)"
    )


def test_the_map_names_files_that_are_there() -> None:
    named = re.findall(r"`([a-z_/]+\.py)`", (DESIGN / "rooms.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    "line",
    [
        line
        for line in (DESIGN / "glossary.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "`" in line
    ],
)
def test_the_words_are_carried_by_types_that_exist(line: str) -> None:
    *_, carrier = [cell.strip() for cell in line.strip("|").split("|")]
    found = re.search(r"`([a-z_.]+)(?:\.([A-Z_]\w*))?`", carrier)
    if found is None:
        assert carrier == "`Phase.RETAINED`"
        return
    module = import_module(f"trainmaster.{found[1]}")
    assert found[2] is None or hasattr(module, found[2])
