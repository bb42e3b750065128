"""Bringing here what jobs made: outputs, models and logs."""

from pathlib import Path
from typing import Annotated

import typer

from trainmaster.cli.context import AsJson, client
from trainmaster.core.formats.terminal import visible


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Examples: [bold]tm download t826[/], [bold]tm download t826 outputs/plots --to plots[/], "
        "[bold]tm download t826 --logs[/], [bold]tm download --model digits@3 --to digits[/]"
    )(download)


def download(
    job: Annotated[
        str | None, typer.Argument(metavar="JOB", help="An id, a unique beginning of one, or a slug.")
    ] = None,
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="outputs (if none is named), model, or a file or folder beneath one."),
    ] = None,
    to: Annotated[Path, typer.Option(help="Folder of this machine; made where it is missing.")] = Path(),
    logs: Annotated[bool, typer.Option("--logs", help="The logs of all tasks instead.")] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[@VERSION]", help="A saved model instead of a job; the newest version if none is named."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download what a job wrote, its logs, or a saved model. Nothing that is there already is overwritten."""
    from trainmaster.cli.render import emit_json
    from trainmaster.cli.transfer import bar

    wrong = []
    if (job is None) == (model is None):
        wrong.append("name a job, or a model with --model")
    if logs and model is not None:
        wrong.append("--logs are of a job, not of a model")
    if path is not None and (logs or model is not None):
        wrong.append("PATH is of what a job wrote; leave it out with --logs and --model")
    if wrong:
        raise typer.BadParameter("; ".join(wrong))
    server = client()
    with bar("downloading", not as_json) as on_bytes:
        if model is not None:
            name, version = _version(model)
            files = server.download_model(name, version, to, on_bytes=on_bytes)
        elif logs:
            files = server.get(str(job)).download_logs(to, on_bytes=on_bytes)
        else:
            files = server.get(str(job)).download(path or "outputs", to, on_bytes=on_bytes)
    if as_json:
        emit_json({"files": [str(file) for file in files]})
        return
    for file in files:
        print(visible(file))
    if not files:
        print("There is nothing to download.")


def _version(text: str) -> tuple[str, int | None]:
    name, at, number = text.rpartition("@")
    if not at:
        return text, None
    if not number.isdigit():
        raise typer.BadParameter(f"{number!r} is not the number of a version; write for example {name}@3")
    return name, int(number)
