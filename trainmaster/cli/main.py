"""The command line `trainmaster`, short `tm`: joins the commands, and turns every error into words and an exit code.

Exit codes: 0 done, 1 it did not go well (a failed job, no server), 2 the input was refused, 130 interrupted. Nothing
heavy is imported before a command runs, and nothing of the other commands by the server, which stays. Where the client
alone is installed, all of this works but what needs a server's packages, which then says so (installed).
"""

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Final

import typer

from trainmaster.cli.context import OPTIONS
from trainmaster.cli.installed import told_plainly
from trainmaster.core.errors import TrainmasterError

SERVE: Final = "server.serve"
PARTS: Final = (
    SERVE,
    *(
        f"commands.{name}"
        for name in (
            "submit",
            "jobs",
            "watch",
            "download",
            "entering",
            "queue",
            "cluster",
            "engine",
            "node",
            "pool",
            "workspace",
            "simulate",
            "access",
            "upkeep",
        )
    ),
    "server.doctor",
    "server.unit",
)
"""Modules of this package that bring commands, in the order of the help."""


def _version(wanted: bool) -> None:
    if wanted:
        from trainmaster import __version__

        print(f"trainmaster {__version__}")
        raise typer.Exit


def commands(parts: Iterable[str] = PARTS) -> typer.Typer:
    """Return the command line with the commands of `parts`."""
    app = typer.Typer(
        name="tm",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
        help="Trainmaster: from one job file to a trained, versioned model.",
        epilog=(
            "Start here: [bold]trainmaster serve[/], then in another terminal "
            "[bold]tm submit examples/hello/job.yaml --wait[/]"
        ),
        callback=options,
    )
    for part in parts:
        import_module(f"trainmaster.cli.{part}").add_to(app)
    return app


def options(
    home: Annotated[
        str | None,
        typer.Option(
            envvar="TRAINMASTER_HOME", help="Folder of the server on this machine.", show_default="~/.trainmaster"
        ),
    ] = None,
    url: Annotated[str | None, typer.Option(envvar="TRAINMASTER_URL", help="Address of a server elsewhere.")] = None,
    token: Annotated[str | None, typer.Option(envvar="TRAINMASTER_TOKEN", help="API token for it.")] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take what says where the server is."""
    OPTIONS.home, OPTIONS.url, OPTIONS.token = home, url, token


def run() -> None:
    """Run the command line and exit."""
    try:
        with told_plainly():
            commands((SERVE,) if sys.argv[1:2] == ["serve"] else PARTS)()
    except TrainmasterError as error:
        from trainmaster.cli.render import show_error

        show_error(error)
        sys.exit(2 if error.status in (409, 413, 422) else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `tm list | head` is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
