"""A table of entries as text: the first line names the parameters, each further line is an entry. Pure."""

import csv
from typing import Any, Final

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.messages.jobs import sweeps
from trainmaster.messages.said import Said, verbatim
from trainmaster.spec.parse import scalar
from trainmaster.spec.problems import problem

_MOST_LISTED: Final = 50


def rows_of_csv(text: str, name: str = "csv") -> list[dict[str, Any]]:
    """Return the parameters of each entry. Values are read as those of YAML: ``0.1`` is a number; an empty one is left
    out, so that the entry has what its file says. `name`: what the table is called.

    Raises InvalidSpec with every line that does not fit.
    """
    try:
        lines = [
            line for line in csv.reader(text.lstrip("\ufeff").splitlines(), strict=True) if any(map(str.strip, line))
        ]
    except csv.Error as error:
        raise _refusal([_wrong(name, verbatim(str(error)))]) from None
    if len(lines) < 2:
        raise _refusal([_wrong(name, sweeps.csv_without_rows())])
    names = [one.strip() for one in lines[0]]
    found = [_wrong(name, sweeps.csv_bad_name(one)) for one in names if not one or names.count(one) > 1]
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(names) and len(found) < _MOST_LISTED:
            found.append(_wrong(name, sweeps.csv_row_of_other_length(number, len(line), len(names))))
    if found:
        raise _refusal(found)
    return [
        {one: scalar(value.strip()) for one, value in zip(names, line, strict=True) if value.strip()}
        for line in lines[1:]
    ]


def _wrong(name: str, detail: Said) -> Problem:
    return problem(name, sweeps.bad_csv(detail))


def _refusal(found: list[Problem]) -> InvalidSpec:
    return InvalidSpec(sweeps.sweep_not_valid(len(found)), problems=tuple(found))
