"""Sweeps: many jobs of one file that differ in their parameters: `tm sweep FILE`, and `tm sweeps` for what was made."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.jobs import Mine
from trainmaster.cli.commands.submit import Set, changes
from trainmaster.cli.context import AsJson, Limit, client
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.language import counted, words
from trainmaster.core.formats.terminal import visible

_REF = words("A name, an id, or its beginning (4 characters or more).", "参数扫描名称、ID 或其开头（至少 4 个字符）。")
Sweep = Annotated[str, typer.Argument(metavar="SWEEP", help=_REF, autocompletion=completing.sweeps)]
ORDERS: Final = ("index", "algorithm", "state", "run_s", "submitted_at", "best")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        sweep,
        "由一个任务文件提交多个只有参数不同的任务；先上传代码文件夹。\n\n"
        "文件的 sweep: 写明取值网格、随机取样或条目列表。要么全部提交，要么都不提交。输出参数扫描的 ID、名称和条目数。",
        "tm sweep sweep.yaml",
        "tm sweep sweep.yaml --dry-run",
        "tm sweep job.yaml --csv rows.csv --set sweep.most_at_once=4",
        panel=JOBS,
    )
    part = group(app, "sweeps", "Sweeps: list, show, stop, try again.", "参数扫描：列出、查看、停止、重试。", JOBS)
    add(
        part,
        list_sweeps,
        "列出参数扫描，最新的在前。\n\n每行一个：ID、名称、所有者、提交时间，以及各状态的条目数。",
        "tm sweeps list",
        "tm sweeps list digits --mine",
        name="list",
    )
    add(
        part,
        show,
        "显示参数扫描及其条目。\n\n输出进度和最优条目，然后每行一个条目：序号、任务 ID、状态、运行时长、参数、"
        "指标的最新值和最优值。",
        "tm sweeps show digits",
        "tm sweeps show digits --sort best --limit 5",
        "tm sweeps show digits --csv > digits.csv",
    )
    add(
        part,
        stop,
        "停止参数扫描中尚未结束的条目。\n\n输出名称和各状态的条目数。",
        "tm sweeps stop digits",
    )
    add(
        part,
        retry,
        "以相同的序号重新提交失败或超时的条目。\n\n原来的任务会保留。输出名称和各状态的条目数。",
        "tm sweeps retry digits",
        "tm sweeps retry digits --stopped",
    )
    add(
        part,
        delete,
        "删除参数扫描及其任务；任务必须都已结束。\n\n先请您确认。输出名称。",
        "tm sweeps delete digits --yes",
        "tm sweeps delete digits --keep-jobs",
    )


def sweep(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help=words("Job file with sweep: in it.", "含有 sweep: 的任务文件。")),
    ],
    set_: Set = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="ROWS",
            help=words(
                "A table with an entry a line; the first line names the parameters.",
                "条目表：每行一个条目，第一行是参数名。",
            ),
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help=words("Another name.", "另一个名称。"))] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            "-n",
            help=words("Only check it, and show the first entries.", "只检查，并显示前几个条目。"),
        ),
    ] = False,
    key: Annotated[
        str | None,
        typer.Option(
            help=words(
                "Idempotency key: the same key never makes a second sweep.", "幂等键：同一个键不会创建第二个参数扫描。"
            )
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Submit many jobs of one file that differ in their parameters; its code folder is uploaded first.

    The file's sweep: says which: a grid of values, a random draw, or a list. All are submitted, or none. Prints the
    sweep's id, its name and the number of entries.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.sweeps import entries_of, show_sweep_preview
    from trainmaster.cli.transfer import bar

    server, wanted = client(), changes(set_)
    if dry_run:
        show_sweep_preview(server.sweeps.preview(file, set=wanted, csv=csv, name=name), as_json)
        return
    with bar(words("uploading code", "上传代码"), not as_json) as on_upload:
        made = server.sweeps.submit(file, set=wanted, csv=csv, name=name, key=key, on_upload=on_upload)
    if as_json:
        emit_json(made)
        return
    print(f"{made.id}  {visible(made.name)}  {entries_of(made.entries)}")


def list_sweeps(
    query: Annotated[
        str, typer.Argument(metavar="[TEXT]", help=words("Words of name, owner, id.", "名称、所有者、ID 中的词。"))
    ] = "",
    mine: Mine = False,
    workspace: Annotated[
        str,
        typer.Option("--workspace", "-w", help=words("Workspace.", "工作空间。"), autocompletion=completing.workspaces),
    ] = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List sweeps, the newest first.

    Prints a line for each: id, name, owner, when it was submitted, and how many entries are in which state.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.sweeps import states_of
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().sweeps.list(query, mine=mine, workspace=workspace, limit=limit or None)
    if as_json:
        emit_json(found)
        return
    columns = (
        column("id"),
        column(words("sweep", "参数扫描"), least=12),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("submitted", "提交时间"), leaves=1),
        column(words("entries", "条目"), right=True),
        column(words("states", "状态"), least=12),
    )
    rows = [
        (one.id[:12], one.name, one.owner, clock(one.created_at), one.entries, states_of(one.counts) or "-")
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No sweeps.", "没有参数扫描。"))


def show(
    ref: Sweep,
    order: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="|".join(ORDERS),
            help=words(
                "Order; also parameter:NAME or metric:NAME, with - in front for the other way round.",
                "排序方式；也可以是 parameter:NAME 或 metric:NAME，前面加 - 表示反向。",
            ),
            show_default=words("best first", "最好的在前"),
            autocompletion=completing.one_of(*ORDERS),
        ),
    ] = None,
    limit: Limit = 50,
    csv: Annotated[
        bool, typer.Option("--csv", help=words("A line for each entry, as CSV.", "每个条目一行 CSV。"))
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a sweep and its entries.

    Prints how far it is and the best entry, then a line for each: number, job id, state, run time, parameters, and the
    last and best values of its metrics.
    """
    from trainmaster.cli.showing.console import emit_json, plain
    from trainmaster.cli.showing.sweeps import print_csv, show_sweep

    server = client().sweeps
    found = server.get(ref)
    best = "-best" if found.goal == "max" else "best"
    entries = server.entries(
        found.id, order=order or (best if found.metric else "index"), limit=None if csv else limit or None
    )
    if csv:
        print_csv(entries)
    elif as_json:
        emit_json({**plain(found), "items": plain(entries)})
    else:
        show_sweep(found, entries)


def stop(
    ref: Sweep,
    reason: Annotated[str, typer.Option(help=words("Why, shown with the jobs.", "原因，会显示在任务中。"))] = "",
    as_json: AsJson = False,
) -> None:
    """Stop the entries of a sweep that have not ended.

    Prints its name and how many entries are in which state.
    """
    from trainmaster.cli.showing.sweeps import tell

    tell(client().sweeps.stop(ref, reason), as_json)


def retry(
    ref: Sweep,
    stopped: Annotated[
        bool, typer.Option("--stopped", help=words("Also those that were stopped.", "也重试被停止的条目。"))
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Submit the entries again that failed or ran out of time, under their numbers.

    The jobs of before stay. Prints its name and how many entries are in which state.
    """
    from trainmaster.cli.showing.sweeps import tell

    tell(client().sweeps.retry(ref, stopped=stopped), as_json)


def delete(
    ref: Sweep,
    keep_jobs: Annotated[
        bool, typer.Option("--keep-jobs", help=words("Let its jobs stay, as any others.", "保留其任务。"))
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help=words("Do not ask.", "不询问。"))] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a sweep with its jobs, which must have ended.

    Asks first. Prints its name.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client().sweeps
    found = server.get(ref)
    jobs = counted(found.tries, "job", "jobs", "个任务")
    asked = words(
        f"Delete sweep {visible(found.name)} with {jobs}?", f"删除参数扫描 {visible(found.name)} 及其 {jobs}？"
    )
    if not (yes or keep_jobs or as_json or typer.confirm(asked)):
        sys.exit(1)
    server.delete(found.id, keep_jobs=keep_jobs)
    if as_json:
        emit_json({"kind": "sweep", "name": found.name, "deleted": True})
    else:
        print(f"{visible(found.name)}  {words('deleted', '已删除')}")
