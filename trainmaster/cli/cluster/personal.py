"""What each person in a workspace may hold at most: how it is typed and shown, and `tm workspace limits`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.cluster.storage import split, storage_lines
from trainmaster.cli.context import AsJson, client, demand_known
from trainmaster.cli.helping import add
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster import answers

NONE = "none"
"""Instead of limits: none any more. Instead of a number: not limited."""
PerPerson = Annotated[
    str | None,
    typer.Option(
        metavar="RESOURCE=MOST,...",
        help=words(
            "What each person may hold at most in the pool: gpu, gpu:MODEL, cpu, memory_mib, jobs; none: no limit."
            " And may keep: storage, files.",
            "每人在该资源池中的上限：gpu、gpu:型号、cpu、memory_mib、jobs；none 表示不限。存储配额：storage、files。",
        ),
        show_default=words("unchanged", "不变"),
    ),
]
Person = Annotated[
    list[str] | None,
    typer.Option(
        metavar="USER:RESOURCE=MOST,...",
        help=words(
            "What one person may hold instead, ann:gpu=16; ann:none: as everybody. Repeatable.",
            "为某人单独设置上限，如 ann:gpu=16；ann:none 表示与其他人相同。可重复。",
        ),
        show_default=words("unchanged", "不变"),
    ),
]


WorkspaceName = Annotated[
    str, typer.Argument(metavar="NAME", help=words("Its name.", "名称。"), autocompletion=completing.workspaces)
]
Pool = Annotated[str, typer.Option(help=words("In which pool.", "所在资源池。"), autocompletion=completing.pools)]


def add_limits(part: typer.Typer) -> None:
    """Add the command to those of workspaces."""
    add(
        part,
        limits,
        "查看或设置工作空间中每人的资源上限；工作空间的所有者和管理员也可设置。\n\n每行一个：资源池、用户或“每人”、上限。",
        "tm workspace limits vision",
        "tm workspace limits vision --per-person gpu=2,jobs=4 --person ann:gpu=8",
    )


def limits(
    name: WorkspaceName,
    pool: Pool = "default",
    per_person: PerPerson = None,
    person: Person = None,
    as_json: AsJson = False,
) -> None:
    """Show or set what each person in a workspace may hold at most; for its owners and admins, too.

    Prints a line for each: pool, person or each person, limits.
    """
    from trainmaster.cli.showing.console import emit_json

    admin = client().admin
    there = admin.workspaces()
    demand_known("workspace", name, there)
    one = next(workspace for workspace in there if workspace.name == name)
    if per_person is not None or person:
        one = admin.put_limits(name, **people_of(one, pool, per_person, person or []))
    if as_json:
        kept = {"storage_per_person": one.storage.per_person, "storage_people": one.storage.people}
        emit_json({"per_person": one.per_person, "people": one.people, **kept})
        return
    for line in [*personal_lines(one), *storage_lines(one)] or [words("no limits per person", "没有个人上限")]:
        print(line)


def people_of(
    known: "answers.WorkspaceView | None", pool: str, per_person: str | None, people: list[str]
) -> dict[str, Any]:
    """Return the limits of persons as they are to be: what is said of `pool`, or of storage, replaces what held."""
    each = dict(known.per_person) if known is not None else {}
    some = {name: dict(pools) for name, pools in (known.people if known is not None else {}).items()}
    kept = dict(known.storage.per_person) if known is not None else {}
    kept_by = {name: dict(most) for name, most in (known.storage.people if known is not None else {}).items()}
    if per_person is not None:
        kept.update(_put(each, pool, per_person))
    for text in people:
        name, _, limits = text.partition(":")
        kept_by.setdefault(name, {}).update(_put(some.setdefault(name, {}), pool, limits))
        if limits == NONE:
            del kept_by[name]
    return {
        "per_person": each,
        "people": {name: pools for name, pools in some.items() if pools},
        "storage_per_person": {name: most for name, most in kept.items() if most is not None},
        "storage_people": {name: most for name, most in kept_by.items() if most},
    }


def _put(into: dict[str, dict[str, float | None]], pool: str, text: str) -> dict[str, float | None]:
    """Put what `text` says of a pool into `into`; return what it says of storage."""
    if text == NONE:
        into.pop(pool, None)
        return {"mib": None, "files": None}
    of_pool, kept = split(text)
    if of_pool:
        into[pool] = _read_most(of_pool)
    return kept


def _read_most(text: str) -> dict[str, float | None]:
    """Return what is written as RESOURCE=MOST,... Exits with a message for anything else."""
    made: dict[str, float | None] = {}
    for pair in text.split(","):
        name, equals, amount = pair.strip().rpartition("=")
        try:
            made[name] = None if amount == NONE else float(amount)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise typer.BadParameter(
                words(
                    f"{pair!r} is no limit of a person; write for example gpu=8 or jobs=4",
                    f"{pair!r} 不是个人上限；请写成 gpu=8 或 jobs=4 的形式",
                )
            )
    return made


def personal_lines(one: "answers.WorkspaceView") -> Iterator[str]:
    """Yield a line for each pool in which persons are limited."""
    for pool, most in one.per_person.items():
        yield f"{pool}  {words('each person', '每人')}  {_most(most)}"
    for name, pools in one.people.items():
        for pool, most in pools.items():
            yield f"{pool}  {name}  {_most(most)}"


def _most(most: dict[str, float | None]) -> str:
    any_number = words("any", "不限")
    return words(", ", "，").join(
        f"{name} {any_number if amount is None else f'{amount:g}'}" for name, amount in most.items()
    )
