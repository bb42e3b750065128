"""An import-linter contract that says what a floor may import, and refuses everything else.

import-linter's own contracts forbid what they name; "no third-party package at all" and "no clock" need the opposite.
A rule reads `package: word word`. A word is a package of ours, or one of

* `stdlib`: any module of the standard library,
* `pure`: the standard library without clocks, chance, processes, threads, files made on the way and networks,
* `packages`: any third-party package.

A package that does not exist yet breaks nothing.
"""

import sys
from collections.abc import Iterator

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

IMPURE = frozenset(
    {
        *(
            "asyncio",
            "concurrent",
            "multiprocessing",
            "queue",
            "sched",
            "select",
            "selectors",
            "subprocess",
            "threading",
        ),
        *("random", "secrets", "time"),
        *("ftplib", "http", "smtplib", "socket", "socketserver", "ssl"),
        *("shutil", "sqlite3", "tempfile"),
    }
)


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def allowed(imported: str, words: frozenset[str], root: str) -> bool:
    """Whether a module under a rule with these words may import `imported`."""
    if _within(imported, root):
        return any(_within(imported, word) for word in words)
    if imported.partition(".")[0] in sys.stdlib_module_names:
        impure = any(_within(imported, name) for name in IMPURE)
        return "stdlib" in words or ("pure" in words and not impure)
    return "packages" in words


class AllowedImportsContract(Contract):
    """Checks direct imports only: what an allowed module imports is that module's own rule."""

    rules = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        broken = sorted(self._broken(graph))
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, line, imported, words in check.metadata["broken"]:
            output.print_error(f"{importer}:{line} imports {imported}; allowed here: {words}", bold=False)
        output.new_line()

    def _broken(self, graph: ImportGraph) -> Iterator[tuple[str, int, str, str]]:
        rules: list[str] = list(self.rules)  # type: ignore[call-overload]
        for rule in rules:
            package, _, text = rule.partition(":")
            words = frozenset(text.split()) | {package}
            for importer in graph.modules:
                if not _within(importer, package):
                    continue
                for imported in graph.find_modules_directly_imported_by(importer):
                    if not allowed(imported, words, package.partition(".")[0]):
                        details = graph.get_import_details(importer=importer, imported=imported)
                        yield importer, details[0]["line_number"], imported, " ".join(sorted(words))
