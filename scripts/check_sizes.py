"""House rule: a file of the product stays within 400 lines, a function within 60. Prints each breach; then exits 1."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
GENERATED = ("generated", "migrations/versions")


def sources(root: Path) -> Iterator[Path]:
    """Python and TypeScript files of the product that people write."""
    found = [*root.glob("trainmaster/**/*.py"), *root.glob("console/src/**/*.ts"), *root.glob("console/src/**/*.tsx")]
    for path in sorted(found):
        if not any(part in path.as_posix() for part in GENERATED) and not path.name.endswith(".d.ts"):
            yield path


def breaches(path: Path) -> Iterator[str]:
    """One line per breach in this file."""
    text = path.read_text(encoding="utf-8")
    if (lines := text.count("\n")) > FILE_LINES:
        yield f"{path}: {lines} lines"
    if path.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text, str(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{path}:{node.lineno} {node.name}() has {length} lines"


if __name__ == "__main__":
    all_breaches = [line for path in sources(Path()) for line in breaches(path)]
    for line in all_breaches:
        print(line)
    sys.exit(bool(all_breaches))
