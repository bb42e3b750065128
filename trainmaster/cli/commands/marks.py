"""What is said of jobs: tag, note, star; and bulk: the same deed to all jobs that match filters."""

from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.actions import PRIORITIES, SHARES
from trainmaster.cli.commands.jobs import (
    Algorithm,
    Favorite,
    FavoriteAlgorithm,
    FlavorName,
    Framework,
    InSweep,
    Label,
    Mine,
    Node,
    Output,
    Owner,
    Pool,
    Since,
    States,
    Until,
    Workspace,
    moment,
)  # fmt: skip
from trainmaster.cli.context import AsJson, Jobs, OneJob, client, each, seconds
from trainmaster.cli.helping import JOBS, add
from trainmaster.cli.language import counted, words

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.finding.filters import JobFilters

ACTIONS: Final = ("stop", "delete", "change", "tag", "share")
_SIGNED: Final = {"ignore_unknown_options": True, "help_option_names": ["--help"]}
"""-b is a tag to take away, not an option."""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        tag,
        "给任务加上或去掉标记，结束后的任务也可以。\n\n+名称 或 名称：加上；-名称：去掉。标记不分大小写。"
        "输出任务 ID 和它的全部标记。",
        "tm tag t826 +baseline +paper",
        "tm tag t826 +best -baseline",
        panel=JOBS,
        settings=_SIGNED,
    )
    add(
        app,
        note,
        "写下任务的备注，结束后的任务也可以。\n\n不给文字则显示备注；给空文字则删除备注。",
        'tm note t826 "diverged after step 300; lr too high"',
        "tm note t826",
        panel=JOBS,
    )
    add(
        app,
        star,
        "收藏任务；收藏只有自己可见。\n\n每行输出一个任务的 ID。",
        "tm star t826",
        "tm star t826 --remove",
        panel=JOBS,
    )
    add(
        app,
        bulk,
        "对所有符合条件的任务执行同一操作。\n\n操作：stop、delete、change、tag、share。先显示任务数并请您确认。输出完成的数量，"
        "以及每个被拒绝的任务及原因。",
        "tm bulk stop --mine --state queued",
        "tm bulk tag --add paper --label round=2 --yes",
        "tm bulk change --pool a100 --state running --duration 4h",
        panel=JOBS,
    )


Signed = Annotated[
    list[str],
    typer.Argument(metavar="[+]TAG|-TAG...", help=words("Tags to put on and to take away.", "要加上和去掉的标记。")),
]


def tag(job: OneJob, tags: Signed, as_json: AsJson = False) -> None:
    """Put tags on a job and take others away; also after its end.

    +name or name puts it on, -name takes it away; upper and lower case are the same. Prints the id and all its tags.
    """
    from trainmaster.cli.showing.console import emit_json

    put, gone = _signs(tags)
    tagged = client().get(job).tag(*put, remove=gone).seen
    emit_json(tagged) if as_json else _tell_tags(tagged)


def note(
    job: OneJob,
    text: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help=words('What to remember; "" removes it.', "备注内容；空文字表示删除。")),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a note on a job; also after its end.

    Without TEXT it prints the note; an empty TEXT removes it.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.core.formats.terminal import visible

    found = client().get(job)
    noted = (found if text is None else found.note(text)).seen
    if as_json:
        emit_json(noted)
    elif noted.note:
        print("\n".join(map(visible, noted.note.split("\n"))))
    else:
        print(words("No note.", "没有备注。"))


def star(
    jobs: Jobs,
    remove: Annotated[bool, typer.Option("--remove", help=words("Make them none any more.", "取消收藏。"))] = False,
    as_json: AsJson = False,
) -> None:
    """Make jobs favorites, which nobody else sees.

    Prints the id of each job. List them: tm list --favorite
    """
    from trainmaster.cli.commands.jobs import leave, print_each

    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).favor(not remove).seen)
    done = words("no favorite", "未收藏") if remove else words("favorite", "已收藏")
    print_each(found, as_json, lambda one: print(f"{one.id}  {done}"))
    leave(good)


Action = Annotated[
    str,
    typer.Argument(
        metavar="|".join(ACTIONS),
        help=words("What is done to each job.", "对每个任务执行的操作。"),
        autocompletion=completing.one_of(*ACTIONS),
    ),
]
Sought = Annotated[
    str, typer.Option("--search", metavar="TEXT", help=words("Only jobs found by this.", "只包括能搜到的任务。"))
]
Tagged = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help=words("Only jobs with this tag.", "只包括带该标记的任务。")),
]
NewLimit = Annotated[
    str | None,
    typer.Option(metavar="TIME", help=words("Of change: 2h30m, or none.", "change 操作的运行时限，或 none。")),
]
NewPriority = Annotated[
    str | None,
    typer.Option(metavar="|".join(PRIORITIES), help=words("Of change.", "change 操作的优先级。")),
]
Put = Annotated[
    list[str] | None,
    typer.Option("--add", metavar="TAG", help=words("Of tag: put on; repeatable.", "tag 要加上的标记；可重复。")),
]
Gone = Annotated[
    list[str] | None,
    typer.Option("--remove", metavar="TAG", help=words("Of tag: take away.", "tag 要去掉的标记；可重复。")),
]
Level = Annotated[
    str | None,
    typer.Option("--level", metavar="|".join(SHARES), help=words("Of share.", "share 操作的方式。")),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help=words("Do not ask.", "不再确认。"))]


def bulk(  # noqa: PLR0913, PLR0917 - every option is a parameter
    action: Action,
    query: Sought = "",
    mine: Mine = False,
    state: States = None,
    owner: Owner = "",
    workspace: Workspace = "",
    pool: Pool = "",
    framework: Framework = "",
    node: Node = "",
    label: Label = None,
    tagged: Tagged = None,
    favorite: Favorite = False,
    sweep: InSweep = "",
    algorithm: Algorithm = "",
    favorite_algorithm: FavoriteAlgorithm = False,
    flavor: FlavorName = "",
    output: Output = "",
    since: Since = "",
    until: Until = "",
    duration: NewLimit = None,
    priority: NewPriority = None,
    put: Put = None,
    gone: Gone = None,
    level: Level = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Do the same to all jobs that match filters.

    Actions: stop, delete, change, tag, share. Says how many jobs match and asks. Prints how many were done, and each
    that was refused, with the reason.
    """
    from trainmaster.cli.commands.jobs import leave
    from trainmaster.cli.showing.console import emit_json

    given = {
        "q": query, "mine": mine, "state": [one.lower() for one in state or ()], "owner": owner,
        "workspace": workspace, "pool": pool, "framework": framework, "node": node, "label": label, "tag": tagged,
        "favorite": favorite, "sweep": client().sweeps.get(sweep).id if sweep else "",
        "algorithm": algorithm, "favorite_algorithm": favorite_algorithm, "flavor": flavor, "output": output,
        "since": moment(since), "until": moment(until),
    }  # fmt: skip
    filters = cast("JobFilters", {name: value for name, value in given.items() if value not in (None, "", [], False)})
    more = _asked(action, (put or [], gone or []), duration, priority, level)
    if not filters:
        raise typer.BadParameter(words("give at least one filter", "请至少给出一个筛选条件"))
    server = client()
    number = server.count(**filters)
    match = counted(number, "job matches", "jobs match", "个任务符合条件")
    question = words(f"{action}: {match}. Go on?", f"{action}：共有 {match}，继续吗？")
    if not yes and not typer.confirm(question):
        raise typer.Exit(1)
    outcome: answers.OutcomeView = getattr(server, action)(expected=number, **more, **filters)
    emit_json(outcome) if as_json else _tell(outcome)
    leave(not outcome.refused)


def _tell(outcome: "answers.OutcomeView") -> None:
    from trainmaster.cli.language import told

    print(words(f"done: {len(outcome.done)}", f"完成：{len(outcome.done)}"))
    for one in outcome.refused:
        print(f"{one.id}  {told(one.title)}")


def _asked(
    action: str,
    tags: tuple[list[str], list[str]],
    duration: str | None,
    priority: str | None,
    level: str | None,
) -> dict[str, Any]:
    """Return what an action takes besides the jobs. Exits with a message for what is missing or does not belong."""
    if action not in ACTIONS:
        raise typer.BadParameter(words(f"no action {action!r}", f"没有操作 {action!r}") + ": " + ", ".join(ACTIONS))
    put, gone = tags
    change: dict[str, Any] = {} if priority is None else {"priority": priority}
    if duration is not None:
        change["duration_s"] = None if duration == "none" else seconds(duration)
    needs = {"tag": bool(put or gone), "change": bool(change), "share": level in SHARES}
    if not needs.get(action, True):
        given = {"tag": "--add --remove", "change": "--duration --priority", "share": "--level"}[action]
        raise typer.BadParameter(words(f"{action} needs {given}", f"{action} 需要 {given}"))
    foreign = [
        name for name, there in (("tag", put or gone), ("change", change), ("share", level)) if there and name != action
    ]
    if foreign:
        raise typer.BadParameter(
            words(f"{action} does not take what belongs to {foreign[0]}", f"{action} 不接受 {foreign[0]} 的参数")
        )
    more: dict[str, dict[str, Any]] = {
        "tag": {"add": put, "remove": gone},
        "change": {"change": change},
        "share": {"share": level},
    }
    return more.get(action, {})


def _signs(tags: list[str]) -> tuple[list[str], list[str]]:
    """Return what is to be put on, and what is to be taken away."""
    gone = [one[1:] for one in tags if one.startswith("-")]
    return [one.removeprefix("+") for one in tags if not one.startswith("-")], gone


def _tell_tags(job: "answers.JobView") -> None:
    from trainmaster.core.formats.terminal import visible

    print(f"{job.id}  {', '.join(map(visible, job.tags)) or words('no tags', '没有标记')}")
