"""The pages of docs/design name files and folders of the repository: each of them is there, or the page is stale."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs/design").glob("*.md")), ROOT / "CONTRIBUTING.md"]
BELOW = (ROOT, ROOT / "trainmaster", ROOT / "console", ROOT / "console/src", ROOT / "tests")
"""A page names a path from one of these."""
BLOCK = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.{},-]+(?:/[\w.{},-]+)+/?|[\w-]+\.(?:py|tsx?|sh)")
CHOICE = re.compile(r"\{([^{}]+)\}")


def spread(path: str) -> Iterator[str]:
    """Yield every path that braces stand for."""
    choice = CHOICE.search(path)
    if choice is None:
        yield path
        return
    for one in choice[1].split(","):
        yield from spread(path[: choice.start()] + one + path[choice.end() :])


def is_ours(path: str) -> bool:
    """Say whether a name is meant as a path of the repository: one that begins as a folder does that there is. What
    lies in a home folder, such as `run/live`, is not.
    """
    first, slash, _ = path.partition("/")
    return not slash or any((base / first).is_dir() for base in BELOW)


def is_there(path: str, files: frozenset[str]) -> bool:
    """Say whether there is such a file, module or folder; a name alone is looked for anywhere."""
    if "/" not in path:
        return path in files
    return any((base / path).exists() or (base / f"{path}.py").exists() for base in BELOW)


def named(text: str) -> set[str]:
    found = (match.partition("::")[0] for match in NAMED.findall(BLOCK.sub("", text)))
    return {one for path in found if PATH.fullmatch(path) and is_ours(path) for one in spread(path)}


def test_paths_are_found_in_a_page() -> None:
    text = "`core/config.py`, `sdk/{client,pack}.py`, `HOME/run/x`, `text/plain`, `loop.py`\n```\n`bench/x`\n```"
    assert named(text) == {"core/config.py", "sdk/client.py", "sdk/pack.py", "loop.py"}
    assert not is_there("core/no_such_file.py", frozenset())


def test_every_path_that_a_page_names_is_there() -> None:
    folders = ("trainmaster", "tests", "scripts", "bench", "docs", "console/src", "examples")
    files = frozenset(path.name for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    texts = {page: named(page.read_text()) for page in PAGES}
    assert sum(map(len, texts.values())) > 200
    wrong = {(page.name, path) for page, paths in texts.items() for path in paths if not is_there(path, files)}
    assert wrong == set()
