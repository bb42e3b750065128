"""`tm engine add KIND NAME`: a command for each kind of engine that there is, with the options that it declares.

A kind is loaded when its command is asked for. Done on the server's machine, as its user.
"""

import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin, get_type_hints

import typer
from typer.main import get_command

from trainmaster.cli.context import AsJson, client, home
from trainmaster.cli.helping import HelpCommand, HelpGroup, as_examples
from trainmaster.cli.installed import demand_server
from trainmaster.cli.language import words
from trainmaster.cli.server.looking import Screen, in_terminal_language, remedy

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.core.config import EngineConfig
    from trainmaster.engines.adding import Examination, Option
    from trainmaster.engines.kinds import EngineKind
    from trainmaster.messages.said import Said

Wait = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help=words("How long a probe job may be queued: 90s, 10m, 2h.", "探测任务最多排队多久：90s、10m、2h。"),
    ),
]


class KindCommands(HelpGroup):
    """A command for each kind of engine."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all kinds."""
        from trainmaster.engines.kinds import names

        return names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command for one kind. Raises InvalidSpec where there is none, or it cannot be loaded."""
        from trainmaster.core.errors import InvalidSpec
        from trainmaster.engines.kinds import find, names
        from trainmaster.messages.cluster.checks import no_such_engine_kind

        if cmd_name not in names():
            raise InvalidSpec(no_such_engine_kind(cmd_name, names()))
        kind = find(cmd_name)
        app = typer.Typer(add_completion=False)
        examples = as_examples(*filter(None, [kind.adding.example]))
        app.command(kind.name, cls=HelpCommand, help=_help(kind), epilog=examples)(_command(kind))
        return get_command(app)


def _help(kind: "EngineKind") -> str:
    label = in_terminal_language(kind.label)
    return words(
        f"Check an engine ({label}) step by step, and add it when nothing is missing.\n\n"
        "Prints a line for each check with its remedy, then what was written to config.toml, or would be.",
        f"逐项检查引擎（{label}），没有缺失时将其加入。\n\n"
        "每行输出一项检查及其修正方法，然后输出写入（或将写入）config.toml 的内容。",
    )


def _command(kind: "EngineKind") -> Callable[..., None]:
    """Return what adds an engine of `kind`, with the options of all kinds and its own as parameters."""

    def add(**given: Any) -> None:
        _add(kind, {option.setting: given.pop(option.setting) or [] for option in kind.adding.options}, **given)

    all_of_them = list(inspect.signature(_add).parameters.values())[2:]
    if not kind.adding.examine:
        all_of_them = [one for one in all_of_them if one.name != "wait"]
    place = kind.adding.place
    if place:
        metavar = f"POOL[={place.upper()}]"
        told = words(
            f"Pool to map to a {place}; repeatable. Default: every {place}.",
            f"要对应到 {place} 的资源池；可重复。默认为每个 {place}。",
        )
    else:
        metavar, told = "POOL", words("Pool to run there; repeatable.", "要在其上运行的资源池；可重复。")
    pool = Annotated[list[str] | None, typer.Option(metavar=metavar, help=told)]
    hints, plain = get_type_hints(kind.settings), kind.settings()
    own = [_parameter(option, hints[option.setting], getattr(plain, option.setting)) for option in kind.adding.options]
    shown = [one.replace(annotation=pool) if one.name == "pool" else one for one in all_of_them]
    add.__signature__ = inspect.Signature([*shown[:3], *own, *shown[3:]])  # type: ignore[attr-defined]
    add.__annotations__ = {one.name: one.annotation for one in [*shown, *own]}
    return add


def _parameter(option: "Option", hint: Any, plain: Any) -> inspect.Parameter:
    several = get_origin(hint) is tuple
    taken: Any = list[str] | None if several else str if get_origin(hint) is Literal else hint
    told = Annotated[taken, typer.Option(option.flag, metavar=option.metavar, help=option.help)]
    return inspect.Parameter(
        option.setting, inspect.Parameter.KEYWORD_ONLY, default=None if several else plain, annotation=told
    )


Data = Annotated[
    str,
    typer.Option(
        metavar="DIR",
        help=words("Folder that server and nodes share (server.data).", "服务器与节点共享的文件夹（server.data）。"),
    ),
]
MostPending = Annotated[
    int,
    typer.Option(
        min=1,
        help=words(
            "Most jobs of each pool in the engine's own queue, if it has one.",
            "引擎有自己的队列时，每个资源池在其中的最多任务数。",
        ),
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help=words("Check all, and only print what would be written.", "只检查并输出将写入的内容。")
    ),
]


def _add(
    kind: "EngineKind",
    settings: dict[str, Any],
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help=words("Name for the new engine.", "新引擎的名称。"))],
    pool: list[str] | None = None,
    data: Data = "",
    most_pending: MostPending = 1000,
    wait: Wait = "10m",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    demand_server()
    from trainmaster.core.folders.layout import Layout
    from trainmaster.messages.cluster import checks
    from trainmaster.service import adding, settings_file
    from trainmaster.service.folders.homes import prepare_home
    from trainmaster.service.settings import load

    screen = Screen(as_json)
    config = load(Layout(home()).config)
    layout, containers = Layout(home(), config.server.data), config.local.containers
    chosen = adding.pools_of(kind, pool or [])
    section = adding.section_of(kind, name, chosen, settings, most_pending)
    proposed = settings_file.with_engine(settings_file.read(layout.config), section, data)
    screen.show([adding.moving(layout, data)], adding.LABELS)
    examination = examination_of(
        kind, settings_file.engine_in(proposed, name), data or layout.bulk, wait, screen, containers
    )
    if examination is not None:
        screen.examine(examination)
        chosen = chosen or adding.pools_of(kind, examination.pools)
    screen.show([adding.jobs_there(name, chosen, _pools_known())])
    section = adding.section_of(kind, name, chosen, settings, most_pending)
    made = settings_file.with_engine(settings_file.read(layout.config), section, data)  # read again: the look took long
    written = not screen.bad and not dry_run
    if written:
        prepare_home(layout.home)
        settings_file.write(layout.config, made)
    done = checks.engine_written_data_moved if data and data != layout.bulk else checks.engine_written
    text = settings_file.section(section, data)
    _conclude(screen, layout.config, text, done(layout.config) if written else None)


def examination_of(
    kind: "EngineKind", engine: "EngineConfig", data: str, wait: str, screen: Screen, containers: str
) -> "Examination | None":
    """Return the look that is taken at `engine`, None where its kind has none. Raises InvalidSpec for a `wait` that is
    no duration. `containers`: the socket of the server's container runtime.
    """
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.core.formats.units import NotRead, parse_duration_s
    from trainmaster.engines.adding import EngineToAdd
    from trainmaster.messages.cluster.checks import wait_not_read

    if kind.adding.examine is None:
        return None
    try:
        patience = parse_duration_s(wait)
    except NotRead as error:
        raise InvalidSpec(wait_not_read(error.said)) from error
    return kind.adding.examine(EngineToAdd(engine, home(), data, patience, screen.wait, containers))


def _pools_known() -> "list[answers.ResourcePool] | None":
    """Return all pools as the server tells of them, None while it does not run."""
    from trainmaster.core.errors import TrainmasterError

    try:
        return client().admin.pools()
    except TrainmasterError:
        return None


def _conclude(screen: Screen, path: str, text: str, done: "Said | None") -> None:
    """Say what was written, or would be. `done`: that it was, and what to do now; None: nothing was."""
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.messages.cluster.checks import engine_not_written, engine_would_be_written

    if screen.as_json:
        emit_json(screen.result(written=done is not None, config=path, section=text))
    elif done is not None:
        print("\n" + in_terminal_language(done), text + "\n" + remedy(done), sep="\n\n")
    elif screen.bad:
        print("\n" + in_terminal_language(engine_not_written()))
    else:
        print("\n" + in_terminal_language(engine_would_be_written(path)), text, sep="\n\n", end="")
    sys.exit(1 if screen.bad else 0)
