"""Submitting and trying out: submit, preview, clone."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, OneJob, client
from trainmaster.cli.helping import JOBS, add
from trainmaster.cli.language import words
from trainmaster.core.formats.terminal import RESET, harmless, visible

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.jobs import Job

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        help=words(
            "Change a field, such as roles.0.parameters.lr=0.01; repeatable.",
            "修改一个字段，例如 roles.0.parameters.lr=0.01；可重复。",
        ),
    ),
]
LEFT_OUT_SHOWN = 5
File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=words("Job file: YAML or JSON, native or OpenPAI.", "任务文件：YAML 或 JSON，原生格式或 OpenPAI 格式。"),
    ),
]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait",
        "-w",
        help=words(
            "Stay until the job has ended or is held for debugging; exit code 0 only if it succeeded.",
            "等到任务结束或进入调试保留；仅在成功时退出码为 0。",
        ),
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        submit,
        "提交任务；先上传其代码文件夹。\n\n"
        "输出任务 ID。加上 --wait 则显示进度，结束后输出各副本的情况；失败时还输出日志末尾。",
        "tm submit job.yaml",
        "tm submit job.yaml --set roles.0.parameters.epochs=5 --wait",
        panel=JOBS,
    )
    add(
        app,
        preview,
        "检查任务文件，不提交也不改动任何内容。\n\n输出所有问题及其修正方法、每个副本的确切命令、能否立即开始；若需排队，则给出原因、"
        "预计开始时间和可使其更早开始的命令。没有服务器时在本机做同样的检查，只是无法判断资源是否足够。",
        "tm preview job.yaml",
        "tm preview job.yaml --offline",
        panel=JOBS,
    )
    add(
        app,
        clone,
        "以相同的设置再次提交任务，可加修改。\n\n输出新任务的 ID。",
        "tm clone t826 --set roles.0.parameters.lr=0.01",
        panel=JOBS,
    )


def changes(pairs: list[str] | None, option: str = "--set") -> dict[str, str]:
    """Return KEY=VALUE pairs of `option` as a mapping. Raises InvalidSpec naming every pair that is none."""
    from trainmaster.core.errors import ProblemList
    from trainmaster.messages.jobs import submitting

    problems, found = ProblemList(), {}
    for pair in pairs or []:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            problems.add(option, submitting.not_a_change(repr(pair)), value=pair)
        found[key.strip()] = value
    problems.raise_if_any(submitting.command_line_not_valid)
    return found


def submit(
    file: File,
    set_: Set = None,
    name: Annotated[str | None, typer.Option(help=words("Another name for the job.", "任务使用的另一个名称。"))] = None,
    wait: Wait = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", "-n", help=words("Only check it, as tm preview does.", "只检查，与 tm preview 相同。")
        ),
    ] = False,
    key: Annotated[
        str | None,
        typer.Option(
            help=words(
                "Idempotency key: the same key never makes a second job.", "幂等键：同一个键不会创建第二个任务。"
            )
        ),
    ] = None,
    instead_of: Annotated[
        str | None,
        typer.Option(
            metavar="JOB",
            help=words(
                "A queued job of yours that this one replaces: it is stopped.",
                "此任务要替换的排队任务；该任务会被停止。",
            ),
        ),
    ] = None,
    version_of: Annotated[
        str | None,
        typer.Option(
            metavar="JOB",
            help=words("A job of yours of which this is the next version.", "此任务是该任务的下一版。"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Submit a job; its code folder is uploaded first.

    Prints the job's id. With --wait it shows the progress and, at the end, every replica; of a failed job also the last
    lines of its log.
    """
    if dry_run:
        preview(file, set_, offline=False, instead_of=instead_of, as_json=as_json)
        return
    from trainmaster.cli.transfer import bar

    server = client()
    if not as_json:
        _say_left_out(file, changes(set_))
    with bar(words("uploading code", "上传代码"), not as_json) as on_upload:
        first, before = (server.get(ref).id if ref is not None else None for ref in (instead_of, version_of))
        told = partial(server.submit, file, set=changes(set_), name=name, key=key, on_upload=on_upload)
        job = told(instead_of=first, version_of=before)
    finish(job, wait, as_json)


def _say_left_out(file: Path, wanted: dict[str, str]) -> None:
    """Say what of the code folder stays here, and why."""
    from trainmaster.sdk.documents import read_document
    from trainmaster.sdk.pack import IGNORE_FILE, survey

    folder = read_document(file, wanted).folder
    left_out = survey(folder).left_out if folder is not None else ()
    if left_out:
        names, more = visible(", ".join(left_out[:LEFT_OUT_SHOWN])), len(left_out) - LEFT_OUT_SHOWN
        others = words(f" and {more} more", f" 等，另有 {more} 项") if more > 0 else ""
        said = words(
            f"Not uploaded: {names}{others} (to include one, add the line !NAME to {IGNORE_FILE})",
            f"未上传：{names}{others}（要包含某一项，请在 {IGNORE_FILE} 中加一行 !NAME）",
        )
        print(said, file=sys.stderr)


def finish(job: "Job", wait: bool, as_json: bool) -> None:
    """Say what was made; with `wait` follow it to its end and exit by its outcome."""
    from trainmaster.cli.showing.console import emit_json

    if not wait:
        emit_json(job.refresh().detail) if as_json else print(job.id)
        return
    if not as_json:
        print(f"{job.id}  {visible(job.name)}", flush=True)
    try:
        job.wait(progress=not as_json, held=True)
    except KeyboardInterrupt:
        ref = job.id[:9]
        said = words(
            f"The job goes on. Look: tm show {ref}   Logs: tm logs -f {ref}   Stop: tm stop {ref}",
            f"任务继续运行。查看：tm show {ref}   日志：tm logs -f {ref}   停止：tm stop {ref}",
        )
        print(f"\n{said}", file=sys.stderr)
        sys.exit(130)
    if as_json:
        emit_json(job.refresh().detail)
    else:
        _say_end(job)
    if not job.succeeded:
        sys.exit(1)


def _say_end(job: "Job") -> None:
    from trainmaster.cli.showing.jobs import model_name, replica_name, show_job
    from trainmaster.cli.showing.waiting import remedy_lines

    detail = job.refresh().detail
    show_job(detail, job._client.url, model_name(job._client, detail.model))
    if detail.state in ("failed", "retained"):
        failed = next((task for task in detail.task_list if task.state in ("failed", "lost")), None)
        name = replica_name(failed) if failed is not None else None
        if tail := harmless(job.logs(name, tail=15)):
            of = words(f" of {name}", f"{name} 的") if name else ""
            title = words(f"The last lines{of}:", f"{of}最后几行：")
            print(f"\n{title}\n{tail}{RESET if sys.stderr.isatty() else ''}", file=sys.stderr)
        for line in remedy_lines(job.explain(), job.id):
            print(visible(line), file=sys.stderr)


def preview(
    file: File,
    set_: Set = None,
    offline: Annotated[
        bool,
        typer.Option(
            help=words("Check without a server: all but whether it fits.", "不连接服务器检查；不判断资源是否足够。")
        ),
    ] = False,
    instead_of: Annotated[
        str | None,
        typer.Option(
            metavar="JOB",
            help=words(
                "A queued job of yours that this one would replace: it is then not counted.",
                "将被替代的、自己正在排队的任务；预计时不计入。",
            ),
            autocompletion=completing.jobs,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a job file. Submits and changes nothing.

    Prints every problem with its remedy, the exact command of each replica, and whether the job would start now; if it
    would be queued, why, until about when, and what to type that it starts sooner. Without a server the same is checked
    here, but not whether it fits.
    """
    from trainmaster.cli.showing.console import emit_json, plain
    from trainmaster.cli.showing.waiting import show_preview

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
    from trainmaster.cli.showing.console import in_words
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
        why = in_words(error)[0]
        said = words(
            f"{why}; checked without it, so whether it fits is not known.",
            f"{why}；已在本机检查，无法判断资源是否足够。",
        )
        print(said, file=sys.stderr)
        return _rehearse(file, set_), {}


def _rehearse(file: Path, set_: list[str] | None) -> "answers.PreviewView":
    from trainmaster.sdk.offline import rehearse

    return rehearse(file, changes(set_))


def clone(job: OneJob, set_: Set = None, wait: Wait = False, as_json: AsJson = False) -> None:
    """Submit a job again with all its settings, and changes: its next version.

    Prints the id of the new job.
    """
    finish(client().get(job).clone(changes(set_)), wait, as_json)
