"""How commands are added, and how their helps are shown: each says what it does and what it prints, with examples, in
the language of the terminal. English is the docstring of the command's function; Chinese stands where it is added.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from trainmaster.cli.language import language, words

JOBS: Final = words("Jobs", "任务")
RESULTS: Final = words("What jobs make", "任务的产出")
CLUSTER: Final = words("Queue and cluster", "队列与集群")
SERVER: Final = words("Server and access", "服务器与访问")
SHOWN_AS: Final = "$ "
"""What stands before an example."""
NO_SUCH_COMMAND: Final = re.compile(r"No such command '(.+?)'(?:\. Did you mean (.+)\?)?")

CALLED_ELSEWHERE: Final = {
    **dict.fromkeys(("jobs", "job", "ls", "ps", "squeue"), ("list", "show")),
    **dict.fromkeys(("status", "state", "info", "get", "describe", "inspect"), ("show", "list", "explain")),
    **dict.fromkeys(("run", "train", "create", "new", "launch", "sbatch", "srun"), ("submit", "preview")),
    **dict.fromkeys(("cancel", "kill", "abort", "scancel"), ("stop",)),
    **dict.fromkeys(("rm", "remove"), ("delete", "bin list")),
    **dict.fromkeys(("attach", "ssh", "bash", "sh"), ("exec",)),
    **dict.fromkeys(("tail", "output", "stdout"), ("logs",)),
    **dict.fromkeys(("update", "edit", "set"), ("change",)),
    **dict.fromkeys(("retry", "restart", "rerun", "resubmit"), ("clone",)),
    **dict.fromkeys(("nodes", "gpus", "sinfo", "nvidia-smi"), ("node list", "top")),
    **dict.fromkeys(("login", "whoami", "auth"), ("doctor", "token create")),
    "why": ("explain",),
}
"""What people type who come from elsewhere, and the commands that do it here."""


class HelpCommand(TyperCommand):
    """A command whose help is whole in both languages."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _translate(self, ctx)
        super().format_help(ctx, formatter)


class HelpGroup(TyperGroup):
    """A group of commands whose help is whole in both languages."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _translate(self, ctx)
        super().format_help(ctx, formatter)


def add(
    app: typer.Typer,
    act: Callable[..., Any],
    zh: str,
    *examples: str,
    name: str | None = None,
    panel: str | None = None,
    settings: dict[str, Any] | None = None,
) -> None:
    """Add the command that `act` carries out. `zh`: its help in Chinese; English is its docstring; `examples`: what one
    types.
    """
    app.command(
        name,
        cls=HelpCommand,
        help=words(flowing(act), zh),
        epilog=as_examples(*examples),
        rich_help_panel=panel,
        context_settings=settings,
    )(act)


def group(app: typer.Typer, name: str, en: str, zh: str, panel: str | None = None, **more: Any) -> typer.Typer:
    """Add a group of commands; return it. Without a command it prints its help."""
    made = typer.Typer(cls=HelpGroup, help=words(en, zh), **{"no_args_is_help": True, **more})
    app.add_typer(made, name=name, rich_help_panel=panel)
    return made


def flowing(act: Callable[..., Any]) -> str:
    """Return a docstring with a line for each paragraph."""
    parts = (inspect.getdoc(act) or "").split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def as_examples(*examples: str) -> str | None:
    """Return examples as the end of a help; None where there are none."""
    lines = ["[bold]" + SHOWN_AS + one.replace("[", r"\[") + "[/]" for one in examples]
    return "\n".join([words("Examples:", "示例："), *lines]) if lines else None


def refusal(error: Any) -> str:
    """Return what is wrong with a command line; `error`: click's, whose own words are English."""
    known = _called_elsewhere(error)
    if known:
        name, commands = known
        one_of = words(", ", "、").join(commands)
        return words(f"No such command '{name}'. Did you mean {one_of}?", f"没有命令 {name}，是否想用：{one_of}")
    if language() == "en":
        return str(error.format_message())
    kind, said = type(error).__name__, str(getattr(error, "message", ""))
    param: Any = getattr(error, "param", None)
    named = "、".join([*getattr(param, "opts", ()), *getattr(param, "secondary_opts", ())])
    if getattr(param, "param_type_name", "") == "argument":
        named = str(getattr(param, "metavar", "") or getattr(param, "name", "")).upper()
    if kind == "NoSuchOption":
        near = "、".join(error.possibilities or ())
        return f"没有选项 {error.option_name}" + (f"，是否想用：{near}" if near else "")
    if kind == "MissingParameter":
        return f"缺少 {named}"
    if kind == "BadParameter":
        said = next((zh for part, zh in _NOT_READ.items() if part in said), said)
        return f"{named} 的值无效：{said}" if named else said
    unknown = NO_SUCH_COMMAND.search(said)
    if unknown is None:
        return said
    near = "、".join(re.findall("'(.+?)'", unknown[2] or ""))
    return f"没有命令 {unknown[1]}" + (f"，是否想用：{near}" if near else "")


def _called_elsewhere(error: Any) -> tuple[str, list[str]] | None:
    """Return what was typed in place of a command, and the commands that do it; None for all other errors."""
    unknown, context = NO_SUCH_COMMAND.search(str(getattr(error, "message", ""))), getattr(error, "ctx", None)
    if unknown is None or context is None or context.parent is not None or unknown[1] not in CALLED_ELSEWHERE:
        return None
    return unknown[1], [f"tm {one}" for one in CALLED_ELSEWHERE[unknown[1]]]


def _translate(shown: Any, ctx: Any) -> None:
    """Put what typer says by itself into the language of the terminal."""
    for param in shown.get_params(ctx):
        if param.name == "help":
            param.help = words("Show this help.", "显示此帮助。")
        elif param.name == "install_completion":
            param.help = words("Install completion for the shell that you use.", "为当前 shell 安装命令补全。")
        elif param.name == "show_completion":
            param.help = words("Print the completion script of this shell.", "输出当前 shell 的补全脚本。")
    if language() == "en":
        return
    from typer import rich_utils

    make = rich_utils._make_rich_text

    def folding(**given: Any) -> Any:
        """Return typer's text, which is broken where it has no spaces, as Chinese has none, instead of being cut."""
        made: Any = make(**given)
        made.overflow = "fold"
        return made

    rich_utils._make_rich_text = folding
    for name, text in TITLES.items():
        setattr(rich_utils, name, text)


_NOT_READ: Final = {"valid integer": "应为整数", "valid number": "应为数字", "valid boolean": "应为是或否"}
"""What typer says of a value that it cannot read."""
TITLES: Final = {
    "ARGUMENTS_PANEL_TITLE": "参数",
    "OPTIONS_PANEL_TITLE": "选项",
    "COMMANDS_PANEL_TITLE": "命令",
    "DEFAULT_STRING": "[默认：{}]",
    "ENVVAR_STRING": "[环境变量：{}]",
    "REQUIRED_LONG_STRING": "[必填]",
}
"""Titles in typer's helps."""
