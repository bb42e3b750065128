"""What goes to compute nodes is plain Python 3.9 and needs nothing installed: a node may have no more. Every file of
it, also the next.
"""

import ast
import dataclasses
import enum
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.pythons import OLD, python
from trainmaster import _compat
from trainmaster.agent.place import PACKAGE
from trainmaster.engines.slurm.attempts.delivery import ALONE, WHOLE, deliver, files

OLDER = python("3.10")
PYTHONS = [
    sys.executable,
    pytest.param(OLD, marks=pytest.mark.skipif(OLD is None, reason="no Python 3.9 here")),
    pytest.param(OLDER, marks=pytest.mark.skipif(OLDER is None, reason="no Python 3.10 here")),
]

LOAD = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
from trainmaster import log, progress
for name in sys.argv[2:]:
    importlib.import_module(name)
"""

NOT_IN_39 = {
    "match", "pairwise", "TaskGroup", "timeout", "ExceptionGroup", "tomllib", "UTC", "aiter", "anext", "batched",
    "Self", "override", "assert_never", "LiteralString", "TypeAlias", "ParamSpec", "file_digest", "chdir", "bit_count",
    "process_cpu_count", "EventFD", "StrEnum", "KW_ONLY", "NoneType", "TypeGuard", "Concatenate", "Never",
    "NotRequired", "Unpack", "dataclass_transform",
}  # fmt: skip
"""Names that the standard library got later and that somebody may reach for."""

NEW_WORDS = {
    ("zip", "strict"),
    ("dataclass", "kw_only"),
    ("rmtree", "onexc"),
    ("glob", "root_dir"),
    ("Popen", "process_group"),
}
"""What a function can be told only since then."""


def parsed() -> Iterator[tuple[str, ast.Module]]:
    """Return every file that goes to nodes; that it is of the language of 3.9 is seen by this already."""
    for path in files():
        name = str(path.relative_to(PACKAGE))
        yield name, ast.parse(path.read_text(encoding="utf-8"), name, feature_version=(3, 9))


def executed(tree: ast.Module) -> list[ast.AST]:
    """Return all of it that a Python runs: neither annotations nor what only a checker of types reads."""
    unread: set[int] = set()
    for item in ast.walk(tree):
        parts: list[ast.AST | None] = [getattr(item, "annotation", None), getattr(item, "returns", None)]
        if isinstance(item, ast.If) and getattr(item.test, "id", "") == "TYPE_CHECKING" and not item.orelse:
            parts.append(item)
        unread |= {id(inner) for part in parts if part is not None for inner in ast.walk(part)}
    return [item for item in ast.walk(tree) if id(item) not in unread]


def too_new(item: ast.AST) -> str | None:
    """Return what of `item` Python 3.9 does not have; it knows the likely names, not every function."""
    if isinstance(item, ast.ImportFrom) and item.module != "trainmaster._compat":
        return next((alias.name for alias in item.names if alias.name in NOT_IN_39), None)
    if isinstance(item, ast.BinOp) and isinstance(item.op, ast.BitOr):
        union = any(_type(side) for side in (item.left, item.right))
        return f"{ast.unparse(item)}, outside of an annotation" if union else None
    if not isinstance(item, ast.Call):
        return None
    called = getattr(item.func, "attr", "") or getattr(item.func, "id", "")
    if called in ("isinstance", "issubclass") and isinstance(item.args[1], ast.BinOp):
        return f"{called}(x, A | B)"
    if isinstance(item.func, ast.Attribute) and called in NOT_IN_39 - {"match", "chdir"}:
        return called
    return next((f"{called}({word.arg}=)" for word in item.keywords if (called, word.arg) in NEW_WORDS), None)


def _type(side: ast.expr) -> bool:
    """Return whether this can only be a type."""
    if isinstance(side, ast.Subscript):
        side = side.value
    return (isinstance(side, ast.Constant) and side.value is None) or getattr(side, "id", "") in {
        "int",
        "float",
        "str",
        "bytes",
        "bool",
        "dict",
        "list",
        "tuple",
        "set",
        "frozenset",
        "Callable",
        "Sequence",
        "Mapping",
    }


def test_what_goes_to_nodes_is_python_3_9() -> None:
    """Where no 3.9 is at hand this is what watches over it."""
    found = {
        name: new
        for name, tree in parsed()
        if name != "_compat.py"
        for item in executed(tree)
        if (new := too_new(item))
    }
    assert found == {}


def test_no_file_of_it_has_its_annotations_read() -> None:
    """What else looks like 3.9 fails there at its first `int | None`."""
    loud = [
        name
        for name, tree in parsed()
        if any(not isinstance(item, ast.Expr) for item in tree.body)
        and not any(isinstance(item, ast.ImportFrom) and item.module == "__future__" for item in tree.body)
    ]
    assert loud == []


def test_what_3_9_lacks_comes_from_one_place() -> None:
    """`dataclass(slots=True)` of the standard library is an error there."""
    for name, tree in parsed():
        calls = [
            item
            for item in ast.walk(tree)
            if isinstance(item, ast.Call) and getattr(item.func, "id", "") == "dataclass"
        ]
        if any(word.arg == "slots" for call in calls for word in call.keywords):
            assert "trainmaster._compat" in {item.module for item in tree.body if isinstance(item, ast.ImportFrom)}, (
                name
            )
            assert not any(
                alias.name == "dataclass"
                for item in tree.body
                if isinstance(item, ast.ImportFrom) and item.module == "dataclasses"
                for alias in item.names
            ), name


def test_on_a_newer_python_it_is_the_standard_librarys() -> None:
    assert (_compat.dataclass, _compat.StrEnum) == (dataclasses.dataclass, enum.StrEnum)


def test_ruff_reads_the_same_files_as_3_9() -> None:
    ruff: dict[str, Any] = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "ruff"
    ]
    whole, alone = ",".join(WHOLE), ",".join(ALONE)
    assert ruff["per-file-target-version"] == {f"trainmaster/{{{whole}}}/*": "py39", f"trainmaster/{{{alone}}}": "py39"}
    others = f"!trainmaster/{{{','.join(f'{part}/*' for part in WHOLE)},{alone}}}"
    assert [glob for glob, rules in ruff["lint"]["per-file-ignores"].items() if "I002" in rules] == [others]


@pytest.mark.parametrize("given", PYTHONS)
def test_all_of_it_loads_with_nothing_else(given: str, tmp_path: Path) -> None:
    place = Path(deliver(str(tmp_path)))
    names = [
        ".".join(path.relative_to(place).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(place.rglob("*.py"))
        if path.name not in ("__main__.py", "keeper.py")  # these two run at once
    ]
    assert len(names) > 100
    done = subprocess.run(
        [given, "-I", "-S", "-B", "-c", LOAD, str(place), *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
