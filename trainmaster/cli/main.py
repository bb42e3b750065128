"""The command line `trainmaster`, short `tm`: joins the commands, and turns every error into words and an exit code.

Exit codes: 0 done, 1 it did not go well (a failed job, no server), 2 the input was refused, 130 interrupted. Nothing
heavy is imported before a command runs, and nothing of the other commands: to make them all takes a tenth of a second.
Where the client alone is installed, all of this works but what needs a server's packages, which then says so
(installed).
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Annotated, Final

import typer

from trainmaster.cli.context import OPTIONS
from trainmaster.cli.helping import HelpGroup, as_examples, refusal
from trainmaster.cli.installed import told_plainly
from trainmaster.cli.language import VALUED, words
from trainmaster.core.errors import TrainmasterError

PARTS: Final[Mapping[str, Sequence[str]]] = {
    "commands.submit": ("submit", "preview", "clone"),
    "commands.jobs": ("list", "show", "explain"),
    "commands.templates": ("template",),
    "images.images": ("image",),
    "sweeping.sweeps": ("sweep", "sweeps"),
    "commands.views": ("view",),
    "commands.actions": ("change", "share", "stop", "release", "upload", "delete"),
    "commands.marks": ("tag", "note", "star", "bulk"),
    "commands.entering": ("exec",),
    "commands.logs": ("logs",),
    "commands.metrics": ("metrics", "compare"),
    "commands.download": ("files", "download"),
    "assets.copying": ("cp",),
    "assets.datasets": ("dataset",),
    "assets.volumes": ("volume",),
    "assets.algorithms": ("algorithm",),
    "commands.models": ("models",),
    "assets.lineage": ("lineage",),
    "assets.bin": ("bin",),
    "cluster.queue": ("queue",),
    "cluster.top": ("top", "open"),
    "cluster.node": ("node",),
    "cluster.pool": ("pool",),
    "cluster.workspace": ("workspace",),
    "cluster.flavor": ("flavor",),
    "cluster.balance": ("balance",),
    "cluster.engine": ("engine",),
    "cluster.simulate": ("simulate",),
    "cluster.privacy": ("privacy",),
    "server.serve": ("serve",),
    "server.unit": ("unit",),
    "server.doctor": ("doctor",),
    "server.backup": ("backup", "restore"),
    "server.upgrade": ("upgrade",),
    "people.user": ("user",),
    "people.access": ("password", "token", "session"),
    "commands.notify": ("notify",),
    "people.keys": ("ssh-key",),
    "people.secrets": ("secret",),
    "people.storage": ("storage",),
    "commands.upkeep": ("audit", "retention"),
    "commands.report": ("report",),
    "commands.home": ("home",),
}
"""Modules of this package with the commands that each brings, in the order of the help."""
AS_THEY_ARE: Final = frozenset({"exec", "serve"})
"""What follows one of these may be another program's, or is its own."""
_NOT_UNDERSTOOD: Final[type[BaseException]] = typer.BadParameter.__mro__[2]
"""What click raises for a command line that it cannot read; typer's name for the class differs between its versions."""


def _version(wanted: bool) -> None:
    if wanted:
        from trainmaster import __version__

        print(f"trainmaster {__version__}")
        raise typer.Exit


def _lang(given: str | None) -> str | None:
    if given not in (None, "en", "zh"):
        raise typer.BadParameter(words(f"{given!r} is not en or zh", f"{given!r} 不是 en 或 zh"))
    return given


def commands(parts: Iterable[str] = PARTS) -> typer.Typer:
    """Return the command line with the commands of `parts`."""
    app = typer.Typer(
        name="tm",
        cls=HelpGroup,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
        help=words(
            "Trainmaster: from one job file to a trained, versioned model.",
            "Trainmaster：从一个任务文件到训练好的、带版本的模型。",
        ),
        epilog=as_examples("trainmaster serve", "tm submit examples/hello/job.yaml --wait"),
        callback=options,
    )
    for part in parts:
        import_module(f"trainmaster.cli.{part}").add_to(app)
    return app


def options(
    home: Annotated[
        str | None,
        typer.Option(
            envvar="TRAINMASTER_HOME",
            help=words("Home folder of a server on this computer.", "本机服务器的平台目录。"),
            show_default="~/.trainmaster",
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="TRAINMASTER_URL", help=words("Address of a server elsewhere.", "其他计算机上服务器的地址。")
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(envvar="TRAINMASTER_TOKEN", help=words("API token for that server.", "访问该服务器的 API 令牌。")),
    ] = None,
    ca: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            envvar="TRAINMASTER_CA",
            help=words(
                "Certificates to trust (PEM), for a server behind a private CA.",
                "要信任的证书（PEM），用于由私有 CA 签发证书的服务器。",
            ),
        ),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            callback=_lang,
            metavar="en|zh",
            envvar="TRAINMASTER_LANG",
            help=words("Language of everything printed.", "输出所用的语言。"),
            show_default=words("as the locale", "按系统区域设置"),
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help=words("Print the version.", "显示版本。")),
    ] = False,
) -> None:
    """Take what says where the server is. The language was taken before the commands were made (language)."""
    OPTIONS.home, OPTIONS.url, OPTIONS.token, OPTIONS.ca = home, url, token, ca


def global_first(arguments: Sequence[str]) -> list[str]:
    """Return `arguments` with the global options before the command, wherever they were written. What stands behind
    ``--``, or behind a command of AS_THEY_ARE, stays.
    """
    before: list[str] = []
    after: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--" or (word in AS_THEY_ARE and not after):
            after += [word, *rest]
        elif word.partition("=")[0] not in VALUED:
            after.append(word)
        else:
            before += [word] if "=" in word else [word, *([value] if (value := next(rest, None)) is not None else [])]
    return [*before, *after]


def needed(arguments: Sequence[str]) -> Iterable[str]:
    """Return the parts that these arguments, global options first, ask for: the one with the command, or all of them
    where a help, a completion or an unknown command needs them.
    """
    rest = iter(arguments)
    word = next(rest, "")
    while word.partition("=")[0] in VALUED:
        word = next(rest, "") if "=" in word else next(islice(rest, 1, None), "")
    return [part for part, names in PARTS.items() if word in names] or PARTS


def run() -> None:
    """Run the command line and exit."""
    sys.argv[1:] = global_first(sys.argv[1:])
    try:
        with told_plainly():
            code = commands(needed(sys.argv[1:]))(standalone_mode=False)
    except TrainmasterError as error:
        from trainmaster.cli.showing.console import show_error

        show_error(error)
        sys.exit(2 if error.status in (409, 413, 422) else 1)
    except _NOT_UNDERSTOOD as error:
        _refuse(error)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:  # `tm list | head` is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(error: BaseException) -> None:
    from trainmaster.cli.showing.console import show_refused

    if type(error).__name__ != "NoArgsIsHelpError":  # its help was printed when it was raised
        context = getattr(error, "ctx", None)
        show_refused(refusal(error), context.command_path if context is not None else "tm")
    sys.exit(2)
