"""Submitting and trying out: submit, preview, clone."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, OneJob, client
from trainmaster.core.formats.terminal import RESET, harmless, visible

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.jobs import Job

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", "-s", metavar="KEY=VALUE", help="Change a field, such as roles.0.parameters.lr=0.01; repeatable."
    ),
]
LEFT_OUT_SHOWN = 5
File = Annotated[Path, typer.Argument(help="Job file: YAML or JSON, native or OpenPAI.")]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait",
        "-w",
        help="Stay until the job has ended or is held for debugging; exit code 0 only when it succeeded.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        epilog="Example: [bold]tm submit examples/digits-ddp/job.yaml --set roles.0.parameters.epochs=5 --wait[/]"
    )(submit)
    app.command(
        epilog="Example: [bold]tm preview job.yaml[/], or without a server [bold]tm preview job.yaml --offline[/]"
    )(preview)
    app.command(epilog="Example: [bold]tm clone t826 --set roles.0.parameters.lr=0.01[/]")(clone)


def changes(pairs: list[str] | None) -> dict[str, str]:
    """Return KEY=VALUE pairs as a mapping. Raises InvalidSpec naming every pair that is none."""
    from trainmaster.core.errors import ProblemList
    from trainmaster.messages.jobs import submitting

    problems, found = ProblemList(), {}
    for pair in pairs or []:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            problems.add("--set", submitting.not_a_change(repr(pair)), value=pair)
        found[key.strip()] = value
    problems.raise_if_any(submitting.command_line_not_valid)
    return found


def submit(
    file: File,
    set_: Set = None,
    name: Annotated[str | None, typer.Option(help="Another name for the job.")] = None,
    wait: Wait = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Only say what would happen, as preview does.")
    ] = False,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key never makes a second job.")] = None,
    instead_of: Annotated[
        str | None, typer.Option(metavar="JOB", help="A queued job of yours that this one replaces: it is stopped.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Submit a job; its code folder is uploaded first."""
    if dry_run:
        preview(file, set_, offline=False, instead_of=instead_of, as_json=as_json)
        return
    from trainmaster.cli.transfer import bar

    server = client()
    if not as_json:
        _say_left_out(file, changes(set_))
    with bar("uploading code", not as_json) as on_upload:
        first = server.get(instead_of).id if instead_of is not None else None
        job = server.submit(file, set=changes(set_), name=name, key=key, instead_of=first, on_upload=on_upload)
    finish(job, wait, as_json)


def _say_left_out(file: Path, wanted: dict[str, str]) -> None:
    """Say what of the code folder stays here, and why."""
    from trainmaster.sdk.documents import read_document
    from trainmaster.sdk.pack import IGNORE_FILE, survey

    folder = read_document(file, wanted).folder
    left_out = survey(folder).left_out if folder is not None else ()
    if left_out:
        more = f" and {len(left_out) - LEFT_OUT_SHOWN} more" if len(left_out) > LEFT_OUT_SHOWN else ""
        names = visible(", ".join(left_out[:LEFT_OUT_SHOWN]))
        print(f"Not uploaded: {names}{more} (a line !NAME in {IGNORE_FILE} takes one along)", file=sys.stderr)


def finish(job: "Job", wait: bool, as_json: bool) -> None:
    """Say what was made; with `wait` follow it to its end and exit by its outcome."""
    from trainmaster.cli.render import emit_json

    if not wait:
        emit_json(job.refresh().detail) if as_json else print(job.id)
        return
    if not as_json:
        print(f"{job.id}  {visible(job.name)}", flush=True)
    try:
        job.wait(progress=not as_json, held=True)
    except KeyboardInterrupt:
        print(
            (
                f"\nThe job goes on. Look: tm show {job.id[:9]}   Logs: tm logs -f {job.id[:9]}   "
                f"Stop: tm stop {job.id[:9]}"
            ),
            file=sys.stderr,
        )
        sys.exit(130)
    if as_json:
        emit_json(job.refresh().detail)
    else:
        _say_end(job)
    if not job.succeeded:
        sys.exit(1)


def _say_end(job: "Job") -> None:
    from trainmaster.cli.render import show_job

    detail = job.refresh().detail
    show_job(detail, job._client.url)
    if detail.state in ("failed", "retained"):
        failed = next((task.name for task in detail.task_list if task.state in ("failed", "lost")), "task0-0")
        tail = harmless(job.logs(failed, tail=15))
        print(f"\nThe last lines of {failed}:\n{tail}{RESET if sys.stderr.isatty() else ''}", file=sys.stderr)


def preview(
    file: File,
    set_: Set = None,
    offline: Annotated[bool, typer.Option(help="Check without a server: commands, but not whether it fits.")] = False,
    instead_of: Annotated[
        str | None,
        typer.Option(
            metavar="JOB", help="A waiting job of yours whose place it would take, which is then not counted."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say everything that is wrong with a job, what would run, whether it would start now and what would help. Changes
    nothing.

    Where no server answers, the same checks are made here; only whether it fits stays open.
    """
    from trainmaster.cli.render import emit_json, plain, show_preview

    found, more = (_rehearse(file, set_), {}) if offline else _preview(file, set_, instead_of)
    if as_json:
        emit_json({**plain(found), **more})
    else:
        show_preview(found, more.get("would_start"), shlex.join(["submit", str(file), *_repeated(set_)]))
    if not found.ok:
        sys.exit(2)


def _repeated(pairs: list[str] | None) -> list[str]:
    return [word for pair in pairs or [] for word in ("--set", pair)]


def _preview(
    file: Path, set_: list[str] | None, instead_of: str | None
) -> "tuple[answers.PreviewView, dict[str, answers.WouldStart | None]]":
    """Return the preview, and under `would_start` whether it would now: null for a job that is not valid, left out
    without a server.
    """
    from trainmaster.core.errors import Unavailable

    wanted = changes(set_)
    try:
        server = client()
        found = server.preview(file, set=wanted)
        if not found.ok:
            return found, {"would_start": None}
        first = server.get(instead_of).id if instead_of is not None else None
        return found, {"would_start": server.would_start(file, set=wanted, instead_of=first, suggest=True)}
    except Unavailable as error:
        print(f"{error.message}; checked without it, so whether it fits is not known.", file=sys.stderr)
        return _rehearse(file, set_), {}


def _rehearse(file: Path, set_: list[str] | None) -> "answers.PreviewView":
    from trainmaster.sdk.offline import rehearse

    return rehearse(file, changes(set_))


def clone(job: OneJob, set_: Set = None, wait: Wait = False, as_json: AsJson = False) -> None:
    """Submit a job again with all its settings, and changes."""
    finish(client().get(job).clone(changes(set_)), wait, as_json)
