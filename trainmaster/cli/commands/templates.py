"""Templates: job documents under a name, from which jobs are submitted: `tm template`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.assets.subscriptions import TEMPLATE, add_subscriptions, beyond, lacking
from trainmaster.cli.commands.actions import SHARES
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.commands.submit import Set, Wait, changes, finish
from trainmaster.cli.context import AsJson, Limit, Workspace, client, each
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.language import words
from trainmaster.cli.listing import Favorite, Own, Query, Shared, add_star
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

_REF = words("A name, an id, or its beginning (4 characters or more).", "模板名称、ID 或其开头（至少 4 个字符）。")
Template = Annotated[str, typer.Argument(metavar="TEMPLATE", help=_REF, autocompletion=completing.templates)]
Several = Annotated[
    list[str],
    typer.Argument(metavar="TEMPLATE...", help=_REF, show_default=False, autocompletion=completing.templates),
]
Description = Annotated[
    str | None,
    typer.Option(help=words("What it is for.", "用途说明。"), show_default=words("none", "无")),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "template", "Templates to submit jobs from.", "任务模板：保存设置，用于再次提交。", JOBS)
    add(
        part,
        list_templates,
        "列出模板，最近修改的在前：自己的和共享给您的。\n\n每行一个：名称、所有者、工作空间、共享方式、修改时间、使用次数、描述。",
        "tm template list resnet --mine",
        name="list",
    )
    add_star(part, "template", ("templates", "模板"), completing.templates, lambda: client().templates.favor)
    add(
        part,
        create,
        "由任务文件或已有任务创建模板。\n\n"
        "模板位于其任务所用的工作空间，默认不共享。会先上传代码文件夹。输出 ID 和名称。",
        "tm template create resnet job.yaml",
        "tm template create resnet --from-job t826 --share read",
    )
    add(
        part,
        show,
        "显示模板及其任务文件。\n\n输出描述、共享方式、订阅它的工作空间缺少的内容、历史版本，然后是 YAML 格式的文档。",
        "tm template show resnet",
        "tm template show resnet --version 2 --json",
    )
    add(
        part,
        edit,
        "修改模板：任务文件、名称或描述。\n\n修改前的内容保留为历史版本。输出名称和新版本号。",
        "tm template edit resnet job.yaml",
        "tm template edit resnet --name resnet-50",
    )
    add(
        part,
        submit,
        "由模板提交任务，可加修改。\n\n参数会在所有含该参数的子任务中设置；都没有时加到第一个子任务。输出任务 ID。",
        "tm template submit resnet",
        "tm template submit resnet -p lr=0.1 --name resnet-lr01 --wait",
    )
    add(
        part,
        share,
        "设置工作空间的其他成员能对模板做什么。\n\nread：查看、复制、提交；read-write：还可以修改和删除；none：什么都看不到。"
        "输出名称和共享方式。",
        "tm template share resnet read",
    )
    add_subscriptions(part, TEMPLATE)
    add(part, copy, "复制模板，副本归您所有且不共享。\n\n输出 ID 和名称。", "tm template copy resnet resnet-mine")
    add(
        part,
        delete,
        "删除模板及其历史版本；由其提交的任务会保留。\n\n可用 tm bin 恢复。每行输出一个已删除的名称。",
        "tm template delete resnet",
        "tm template delete resnet vgg",
    )


def list_templates(
    query: Query = "",
    mine: Own = False,
    shared: Shared = False,
    favorite: Favorite = False,
    workspace: Workspace = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List templates, what was changed last first: yours, and what is shared with you.

    Prints a line for each: name, owner, workspace, how it is shared, when it was changed, how often it was used, and
    its description.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().templates.list(
        query, mine=mine, shared=shared, favorite=favorite, workspace=workspace, limit=limit or None
    )
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("template", "模板"), least=12),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("workspace", "工作空间"), least=6, leaves=3),
        column(words("shared", "共享")),
        column(words("changed", "修改时间"), leaves=1),
        column(words("used", "使用次数"), right=True),
        column(words("description", "描述"), least=12),
    )
    rows = [
        (one.name, one.owner, one.workspace, one.share, clock(one.changed_at), one.used, one.description or "-")
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No templates.", "没有模板。"))


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help=words("What it is called.", "模板名称。"))],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help=words("Job file: YAML or JSON, native or OpenPAI.", "任务文件：YAML 或 JSON。")
        ),
    ] = None,
    from_job: Annotated[
        str | None,
        typer.Option(
            metavar="JOB",
            help=words("Take the settings of this job instead.", "改用此任务的设置。"),
            autocompletion=completing.jobs,
        ),
    ] = None,
    set_: Set = None,
    description: Description = None,
    level: Annotated[
        str,
        typer.Option(
            "--share",
            metavar="|".join(SHARES),
            help=words("With the other members of its workspace.", "共享给工作空间的其他成员。"),
            autocompletion=completing.one_of(*SHARES),
        ),
    ] = "none",
    as_json: AsJson = False,
) -> None:
    """Make a template of a job file, or of a job.

    It is in the workspace in which its jobs run, and is not shared unless you say so. A code folder is uploaded
    first. Prints its id and name.
    """
    if (file is None) == (from_job is None):
        raise typer.BadParameter(
            words("give either a job file or --from-job JOB", "请给出任务文件或 --from-job JOB 之一")
        )
    from trainmaster.cli.transfer import bar

    server, wanted = client(), changes(set_)
    with bar(words("uploading code", "上传代码"), not as_json) as on_upload:
        made = server.templates.create(
            name,
            file,
            job=from_job,
            set=wanted,
            description=description or "",
            share=level,
            on_upload=on_upload,
        )
    _tell_made(made, as_json)


def show(
    template: Template,
    version: Annotated[
        int | None,
        typer.Option(
            min=1, help=words("An older version.", "历史版本。"), show_default=words("the last one", "最新版本")
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a template and its job document.

    Prints what it is for, how it is shared, what the workspace lacks that subscribes to it, and its versions, then the
    document as YAML.
    """
    import yaml

    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.waiting import clock

    server = client()
    found = server.templates.get(template, version)
    if as_json:
        emit_json(found)
        return
    print(visible(f"{found.name}  {found.id}"))
    about = (
        (words("description", "描述"), found.description or "-"),
        (words("owner", "所有者"), found.owner),
        (words("workspace", "工作空间"), found.workspace),
        (words("shared", "共享"), found.share),
        *beyond(found),
        (words("used", "使用次数"), f"{found.used}  {clock(found.used_at)}" if found.used else "0"),
    )
    for key, value in about:
        print(f"  {key}: {visible(value)}")
    for place in found.taken if not found.may else ():
        for line in lacking(server, found.id, place.workspace):
            print(visible(f"  {words('not in', '未满足')} {place.workspace}: {line}"))
    for one in found.versions:
        mark = " *" if one.version == found.shown else ""
        print(f"  {words('version', '版本')} {one.version}{mark}: {clock(one.at)}  {visible(one.by)}")
    print()
    text = yaml.safe_dump(found.spec, allow_unicode=True, sort_keys=False)
    print("\n".join(map(visible, text.rstrip("\n").split("\n"))))


def edit(
    template: Template,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help=words("Job file that takes the place of what is there.", "替换现有内容的任务文件。"),
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help=words("Another name.", "新的名称。"), show_default=words("unchanged", "不变")),
    ] = None,
    description: Annotated[
        str | None,
        typer.Option(help=words("What it is for.", "用途说明。"), show_default=words("unchanged", "不变")),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=words(
                "The version that you edited: refused if it is not the last any more.",
                "所编辑的版本：若已不是最新版本则拒绝。",
            ),
            show_default=words("whatever is there", "不检查"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a template: its job file, name or description.

    What it was before stays as an older version. Prints its name and the number of the new version.
    """
    if file is None and name is None and description is None:
        raise typer.BadParameter(
            words(
                "nothing to change; give a job file, --name or --description",
                "没有要修改的内容；请给出任务文件、--name 或 --description",
            )
        )
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.transfer import bar

    server = client()
    with bar(words("uploading code", "上传代码"), not as_json) as on_upload:
        found = server.templates.edit(
            template, file, name=name, description=description, version=version, on_upload=on_upload
        )
    emit_json(found) if as_json else print(f"{visible(found.name)}  {words('version', '版本')} {found.version}")


def submit(
    template: Template,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            "-p",
            metavar="NAME=VALUE",
            help=words(
                "Give a parameter another value, such as lr=0.1; repeatable.", "修改参数，例如 lr=0.1；可重复。"
            ),
        ),
    ] = None,
    set_: Set = None,
    name: Annotated[str | None, typer.Option(help=words("Another name for the job.", "任务使用的另一个名称。"))] = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Submit a job of a template, with changes.

    A parameter is set in every sub-task that has it, in the first where none has. Prints the job's id. With --wait it
    shows the progress and, at the end, every replica.
    """
    given = client().templates
    finish(
        given.submit(template, name=name, parameters=changes(parameter, "--parameter"), set=changes(set_)),
        wait,
        as_json,
    )


def share(
    template: Template,
    level: Annotated[
        str,
        typer.Argument(
            metavar="|".join(SHARES),
            help=words("What others may do.", "其他成员能做什么。"),
            autocompletion=completing.one_of(*SHARES),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Say what other members of the workspace may do with a template.

    read: look at it, copy it, submit jobs of it; read-write: also change and delete it; none: they see nothing of it.
    Prints its name and how it is shared.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().templates.share(template, level)
    emit_json(found) if as_json else print(f"{visible(found.name)}  {words('shared', '共享')} {found.share}")


def copy(
    template: Template,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=words("What the new one is called.", "新模板的名称。"),
            show_default=words("a name that is free", "自动取名"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Copy a template; the new one is yours, and not shared.

    Prints its id and name.
    """
    _tell_made(client().templates.copy(template, name), as_json)


def delete(templates: Several, as_json: AsJson = False) -> None:
    """Delete templates with their versions; jobs that were made of them stay.

    They stay in the bin for a while (tm bin). Prints the name of each that is gone.
    """
    server = client().templates

    def one(ref: str) -> str:
        server.delete(ref)
        return ref

    found, good = each(templates, one)
    print_each(
        found,
        as_json,
        lambda ref: print(f"{visible(ref)}  {words('deleted', '已删除')}"),
        lambda ref: {"kind": "template", "name": ref, "deleted": True},
    )
    leave(good)


def _tell_made(made: "answers.TemplateDetail", as_json: bool) -> None:
    from trainmaster.cli.showing.console import emit_json

    emit_json(made) if as_json else print(f"{made.id}  {visible(made.name)}")
