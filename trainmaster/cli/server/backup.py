"""`tm backup` and `tm restore`: the home of this machine's server as one file, and a home made of such a file.

They work on the server's own files, beside it or without it, and ask no server.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from trainmaster.cli.context import OPTIONS, AsJson, home
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.installed import demand_server
from trainmaster.cli.language import counted, words

PARTS = ("uploads", "models", "jobs", "datasets", "volumes")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        backup,
        "把平台目录备份为一个文件：数据库、设置、密钥、代码、模型和任务目录。\n\n"
        "可在服务器运行时使用，任务和服务器都不受影响。写完后会重新读取并校验，之后文件才出现；输出其内容和大小。",
        "tm backup /backup/trainmaster-2026-11-26.tar",
        "tm backup nightly.tar --without models --without jobs",
        panel=SERVER,
    )
    add(
        app,
        restore,
        "把备份恢复到空目录：先完整校验备份，再恢复；中断时不留下半个平台。\n\n"
        "目录中可先放好 config.toml：它会保留，并决定数据库是 SQLite 还是 PostgreSQL。输出恢复的内容。",
        "tm --home /srv/trainmaster restore /backup/trainmaster-2026-11-26.tar",
        panel=SERVER,
    )


def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help=words("File to write.", "要写入的文件。"))],
    without: Annotated[
        list[str],
        typer.Option(
            metavar="PART",
            help=words(
                f"Leave out a part: {', '.join(PARTS)}. May be repeated.",
                f"不备份某一部分：{'、'.join(PARTS)}。可重复。",
            ),
            show_default=False,
        ),
    ] = [],  # noqa: B006 - typer makes a new one for each run
    as_json: AsJson = False,
) -> None:
    """Back up the home folder into one file: database, settings, secrets, code, models, folders of jobs.

    Works beside the running server, which notices nothing. The file appears when it was read again and found whole;
    prints what is in it.
    """
    demand_here("tm backup")
    for part in without:
        if part not in PARTS:
            known = ", ".join(PARTS)
            raise typer.BadParameter(words(f"{part!r} is none of {known}", f"{part!r} 不是 {known} 之一"))
    from trainmaster.service.backup.making import make

    with _progress(words("backup", "备份"), not as_json) as (moved, total):
        made = make(home(), file, without, moved, total)
    if as_json:
        from trainmaster.cli.showing.console import emit_json

        emit_json(asdict(made))
        return
    jobs, versions = _jobs(made.jobs), _versions(made.versions)
    _line(words("written and checked", "已写入并校验"), f"{made.file} ({_size(made.size_bytes)})")
    _line(words("database", "数据库"), _several(made.database, jobs, versions))
    _line(words("files", "文件"), f"{made.files:,} ({_size(made.file_bytes)})")
    if made.left_out:
        _line(words("left out", "未备份"), _several(*made.left_out))
    if made.passed_over_count:
        names = _several(*made.passed_over[:3]) + (words(" ...", " 等") if made.passed_over_count > 3 else "")
        count = made.passed_over_count
        _line(words("not readable", "无法读取"), words(f"{count:,}: {names}", f"{count} 个：{names}"))


def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help=words("What tm backup wrote.", "tm backup 写出的文件。"))],
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty home folder: the whole backup, checked first, or nothing.

    A config.toml that is there already stays, and says whether the database is SQLite or PostgreSQL. Prints what was
    restored.
    """
    demand_here("tm restore")
    from trainmaster.service.backup.restoring import restore as run

    with _progress(words("restore", "恢复"), not as_json) as (moved, total):
        done = run(home(), file, moved, total)
    if as_json:
        from trainmaster.cli.showing.console import emit_json

        emit_json(asdict(done))
        return
    from trainmaster.cli.showing.waiting import clock

    _line(
        words("restored", "已恢复"),
        words(f"{done.home}, as of {clock(done.made_at)}", f"{done.home}，备份时间 {clock(done.made_at)}"),
    )
    _line(words("database", "数据库"), _several(done.database, _jobs(done.jobs), _versions(done.versions)))
    _line(words("files", "文件"), f"{done.files:,} ({_size(done.file_bytes)})")
    if done.own_settings:
        beside = words(
            "config.toml stayed; that of the backup: config.backup.toml",
            "保留了 config.toml；备份中的为 config.backup.toml",
        )
        _line(words("settings", "设置"), beside)
    if done.left_out:
        _line(words("not in it", "备份不含"), _several(*done.left_out))
    if done.migrates:
        old = words(f"schema {done.schema}: the first start upgrades it", f"表结构版本 {done.schema}：首次启动时升级")
        _line(words("upgrade", "升级"), old)
    print(words(f"Start it with: trainmaster --home {done.home} serve", f"启动：trainmaster --home {done.home} serve"))


def demand_here(command: str) -> None:
    """Return where this machine's home is meant. Raises Unavailable, InvalidSpec."""
    demand_server()
    if OPTIONS.url is not None:
        from trainmaster.core.errors import InvalidSpec
        from trainmaster.messages.server.backup import works_on_the_home

        raise InvalidSpec(works_on_the_home(command, OPTIONS.url))


@contextmanager
def _progress(text: str, show: bool) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """Give what is told of bytes, and of how many there will be."""
    from trainmaster.cli.transfer import growing_bar

    with growing_bar(text, show) as told:
        yield told


def _line(name: str, text: str) -> None:
    from trainmaster.cli.showing.console import finding

    finding("ok", name, text, width=20)


def _several(*texts: str) -> str:
    return words(", ", "、").join(texts)


def _jobs(count: int) -> str:
    return counted(count, "job", "jobs", "个任务")


def _versions(count: int) -> str:
    return counted(count, "saved version", "saved versions", "个保存的版本")


def _size(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 2**10:.1f} KiB"
