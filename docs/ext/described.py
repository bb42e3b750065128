"""Writes every command of `tm` with its arguments, options and examples as JSON, in the language of this process."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from trainmaster.cli.helping import SHOWN_AS
from trainmaster.cli.main import commands


def described(command: Any, path: str) -> Iterator[dict[str, Any]]:
    yield {
        "path": path,
        "help": (command.help or "").split("\n\n"),
        "params": [_param(one) for one in command.params if not getattr(one, "hidden", False)],
        "examples": [_plain(line) for line in (command.epilog or "").split("\n") if SHOWN_AS in line],
    }
    for name, one in getattr(command, "commands", {}).items():
        yield from described(one, f"{path} {name}")


def _plain(example: str) -> str:
    return example.replace("[bold]", "").replace("[/]", "").replace("\\[", "[").removeprefix(SHOWN_AS)


def _param(param: Any) -> dict[str, str]:
    name = str(param.metavar or param.name)
    if param.param_type_name == "argument":
        shown = name.upper()
    else:
        takes = "" if getattr(param, "is_flag", False) else f" {name if param.metavar else name.upper()}"
        shown = ", ".join([*param.opts, *param.secondary_opts]) + takes
    default = param.show_default if isinstance(param.show_default, str) else param.default
    known = isinstance(default, str | int | float) and not isinstance(default, bool)
    return {
        "name": shown,
        "help": str(param.help or ""),
        "default": str(default) if known else "",
        "variable": str(getattr(param, "envvar", None) or ""),
    }


if __name__ == "__main__":
    json.dump([*described(get_command(commands()), "tm")], sys.stdout)
