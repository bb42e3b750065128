"""Rules of a job's `secrets`: where their values go, and that none can get into a command line by us. Pure."""

import re
from collections.abc import Container, Iterator
from typing import Final

from trainmaster.core.errors import Problem
from trainmaster.core.framework_kinds import is_reserved
from trainmaster.messages.jobs import form, rules
from trainmaster.spec.job import JobSpec
from trainmaster.spec.problems import problem

_NAMED: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_ASKS_SHELL: Final = re.compile(r"(?:^|\s)-[a-z]*c(?:\s|$)")
"""Of a command as typed: a shell inside the task reads what follows, and finds the variable itself."""


def secret_problems(spec: JobSpec) -> Iterator[Problem]:
    """Yield everything that is wrong with the secrets of a job, apart from whether they exist."""
    taken = {*spec.env, *(name for role in spec.roles for name in role.env)}
    variables: set[str] = set()
    files: set[str] = set()
    for index, one in enumerate(spec.secrets):
        path, variable = f"secrets.{index}", one.variable
        at = f"{path}.env" if one.env else f"{path}.name"
        if variable and is_reserved(variable, spec.framework.kind):
            yield problem(at, rules.reserved_env(variable), variable)
        elif variable and (variable in taken or variable in variables):
            yield problem(at, rules.variable_twice(variable), variable)
        variables.add(variable)
        if one.file is not None and one.file in files:
            yield problem(f"{path}.file", form.duplicate_name(one.file), one.file)
        files.add(one.file or "")
    for index, role in enumerate(spec.roles):
        yield from _in_words(role.command, f"roles.{index}.command", variables)
        if role.hooks is not None:
            yield from _in_words(role.hooks.before, f"roles.{index}.hooks.before", variables)
            yield from _in_words(role.hooks.after, f"roles.{index}.hooks.after", variables)
        for key, value in role.parameters.items():
            yield from _in_words(value, f"roles.{index}.parameters.{key}", variables)


def _in_words(text: object, path: str, variables: Container[str]) -> Iterator[Problem]:
    """Yield the problem of each of these variables that a text of a command line names."""
    if isinstance(text, str) and "$" in text and not _ASKS_SHELL.search(text):
        for name in dict.fromkeys(match[1] or match[2] for match in _NAMED.finditer(text)):
            if name in variables:
                yield problem(path, rules.secret_in_command(name))
