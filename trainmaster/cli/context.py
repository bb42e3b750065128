"""What every command needs: the global options, the client they lead to, and the arguments that many commands have."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

import typer

from trainmaster.cli import completing
from trainmaster.cli.language import language, words

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client

T = TypeVar("T")
_REF = words("An id, its beginning (4 characters or more), or a slug.", "任务 ID、其开头（至少 4 个字符）或短名。")
Jobs = Annotated[
    list[str], typer.Argument(metavar="JOB...", help=_REF, show_default=False, autocompletion=completing.jobs)
]
OneJob = Annotated[str, typer.Argument(metavar="JOB", help=_REF, autocompletion=completing.jobs)]
AsJson = Annotated[bool, typer.Option("--json", help=words("Print JSON for programs.", "输出 JSON，供程序使用。"))]
Limit = Annotated[
    int, typer.Option("--limit", "-n", min=0, help=words("At most so many; 0: all.", "最多显示多少条；0 表示全部。"))
]
Workspace = Annotated[
    str,
    typer.Option("--workspace", "-w", help=words("Workspace.", "工作空间。"), autocompletion=completing.workspaces),
]
OwnWorkspace = Annotated[
    str,
    typer.Option(
        "--workspace",
        "-w",
        help=words("Workspace.", "工作空间。"),
        show_default=words("default, or the only one you are in", "default，或您所在的唯一工作空间"),
        autocompletion=completing.workspaces,
    ),
]
"""What `workspace_of` makes a name of."""


@dataclass(slots=True)
class Options:
    """The global options of this run."""

    home: str | None = None
    url: str | None = None
    token: str | None = None
    ca: str | None = None


OPTIONS = Options()


def client() -> "Client":
    """Return the client of the server that the options name. Raises Unavailable."""
    from trainmaster.sdk.client import Client

    # A URL, also that of TRAINMASTER_URL, wins: the home is only a place to look for one.
    folder = None if OPTIONS.url else OPTIONS.home
    return Client(url=OPTIONS.url, token=OPTIONS.token, home=folder, ca=OPTIONS.ca, language=language())


def home() -> str:
    """Return the home folder of this machine's server."""
    from trainmaster.sdk.find import home_folder

    return home_folder(OPTIONS.home)


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name."""


def demand_known(kind: Literal["engine", "pool", "workspace"], name: str, there: Iterable[Named]) -> None:
    """Let pass the name of one that is `there`. Raises NotFound saying which there are."""
    from trainmaster.core.errors import NotFound
    from trainmaster.messages.cluster.cluster import pool_not_found, workspace_not_found
    from trainmaster.messages.server.client import engine_not_found

    not_found = {"engine": engine_not_found, "pool": pool_not_found, "workspace": workspace_not_found}
    names = [one.name for one in there]
    if name not in names:
        raise NotFound(not_found[kind](name, names))


def workspace_of(server: "Client", named: str) -> str:
    """Return the workspace that a command means: the one it names; without one `default`, but for who is in exactly one
    other, as for a job that names none; or whose token may not say who they are. Raises Unavailable.
    """
    from trainmaster.core.errors import Forbidden

    if named:
        return named
    try:
        return completing.own_workspace(server.session().user)
    except Forbidden:
        return "default"


def each(refs: Iterable[str], act: Callable[[str], T]) -> tuple[list[T], bool]:
    """Run `act` on every ref; return (results, all went well). What is refused is said and does not stop the others."""
    from trainmaster.cli.showing.console import show_error
    from trainmaster.core.errors import TrainmasterError

    results, good = [], True
    for ref in refs:
        try:
            results.append(act(ref))
        except TrainmasterError as error:
            show_error(error, prefix=f"{ref}: ")
            good = False
    return results, good


def seconds(text: str) -> float:
    """Return the seconds of a duration that was typed. Exits with a message for what is none."""
    from trainmaster.core.formats.units import NotRead, parse_duration_s
    from trainmaster.messages import render

    try:
        return parse_duration_s(text)
    except NotRead as error:
        raise typer.BadParameter(render.text(error.said, language())) from None


def removed(kind: str, name: str, as_json: bool) -> None:
    """Say that something is gone."""
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.core.formats.terminal import visible

    done: dict[str, Any] = {"kind": kind, "name": name, "deleted": True}
    emit_json(done) if as_json else print(f"{visible(name)}  {words('deleted', '已删除')}")
