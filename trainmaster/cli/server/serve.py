"""`trainmaster serve`: the server in this terminal. One per home folder; it says where it is in HOME/run/server.json.

Ending the server never ends jobs: they run on and are found again by the next one.
"""

import gc
import json
import os
import resource
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from trainmaster.cli.context import home as home_folder
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.installed import demand_server
from trainmaster.cli.language import words
from trainmaster.cli.server import first
from trainmaster.cli.server.greeting import announce, farewell, notes, stands_by

if TYPE_CHECKING:
    from trainmaster.core.config import Config, ServerConfig
    from trainmaster.core.folders.layout import Layout
    from trainmaster.service.failover import Failover
    from trainmaster.service.platform import Platform

SWITCH_S = 0.0005
"""How long the event loop may keep the interpreter while the ledger's thread waits for it: a lone commit beside a busy
loop took 12 to 19 ms at Python's 5 ms, and takes 5 to 7 with this."""
WEBSOCKETS: dict[str, Any] = {
    "ws": "trainmaster.api.socket.wire:Socket",
    "ws_max_size": 1 << 20,
    "ws_per_message_deflate": False,
    "ws_ping_timeout": None,
}
"""No answer to a ping is waited for: while a command does not read its input, nobody here reads what its client
answers.
"""
COLLECT = (20_000, 20, 50)
"""Thresholds of the cycle collector: records make no cycles, and looking through all waiting jobs for some costs a
tenth of a submit.
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        serve,
        "运行服务器，按 Ctrl-C 停止；任务在其停止后继续运行。\n\n输出地址；首次启动时还输出管理员的一次性密码。",
        "trainmaster serve --home /srv/trainmaster --port 8470",
        "trainmaster serve --demo-cards 2",
        panel=SERVER,
    )


Home = Annotated[
    str | None,
    typer.Option(
        help=words("Folder for everything the server keeps.", "服务器存放所有数据的文件夹。"),
        show_default="~/.trainmaster",
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        help=words("Address to listen on.", "监听地址。"),
        show_default=words("127.0.0.1: this computer only", "127.0.0.1：仅限本机"),
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        min=0, max=65535, help=words("Port; 0 takes a free one.", "端口；0 表示任选空闲端口。"), show_default="8470"
    ),
]
DemoCards = Annotated[
    int,
    typer.Option(
        min=0,
        max=64,
        help=words(
            "Try jobs for GPUs without any: two nodes with so many simulated GPUs each.",
            "没有加速卡也可试用：两个节点，各有这么多模拟加速卡。",
        ),
    ),
]
AcceptLoss = Annotated[
    bool,
    typer.Option(
        "--accept-loss",
        help=words(
            "Start although the database has lost something, and forget it.",
            "即使数据库有丢失也启动，并放弃丢失的内容。",
        ),
    ),
]
Standby = Annotated[
    bool,
    typer.Option(
        "--standby",
        help=words(
            "Beside another server on this home (PostgreSQL): take its place once it is gone.",
            "与此平台目录上的另一台服务器并存（PostgreSQL），在其停止后接替它。",
        ),
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        help=words(
            "Name or address, with or without a port, at which the other servers reach this one.",
            "其他服务器访问本服务器的地址：host 或 host:port。",
        ),
        show_default="--host",
    ),
]
LogLevel = Annotated[
    str,
    typer.Option(
        metavar="error|warning|info|debug",
        help=words("How much is logged to standard error.", "写到标准错误的日志级别。"),
    ),
]


def serve(
    home: Home = None,
    host: Host = None,
    port: Port = None,
    demo_cards: DemoCards = 0,
    accept_loss: AcceptLoss = False,
    standby: Standby = False,
    address: Address = None,
    log_level: LogLevel = "info",
    access_log: Annotated[bool, typer.Option(help=words("Log every request.", "记录每个请求。"))] = False,
) -> None:
    """Run the server until Ctrl-C; jobs go on without it.

    Prints its address, and at the first start a one-time password of the administrator.
    """
    from trainmaster.cli.context import OPTIONS
    from trainmaster.cli.server import logs

    demand_server()
    first.make_way()
    gc.disable()  # until `_tune`: what is imported and built at start is no garbage
    OPTIONS.home = home or OPTIONS.home
    folder = home_folder()
    logs.begin(log_level)
    lock = None if standby else _held(folder)  # standby: the database says who leads, not this lock
    from trainmaster.service import wiring

    layout, config = wiring.prepare(folder, host, port, demo_cards, address)
    if config.server.log_format != "text":
        logs.begin(log_level, config.server.log_format)
    listener, url = _listening(config.server.host, config.server.port)
    platform, failover = _serving(layout, config, announced_at(config.server, url), standby, accept_loss)
    for line in notes(config, demo_cards):
        print(line, flush=True)
    _run(platform, failover, listener, url, folder, log_level, access_log)
    if lock is not None:
        os.close(lock)


def _serving(
    layout: "Layout", config: "Config", address: str, standby: bool, accept_loss: bool
) -> "tuple[Platform, Failover | None]":
    """Return what answers at first, and what replaces it where several servers share the home."""
    from trainmaster.service import wiring

    if not standby:
        return wiring.lead(layout, config, accept_loss=accept_loss, address=address), None
    from trainmaster.service.failover import Failover

    failover = Failover(layout, config, address, accept_loss=accept_loss)
    return failover.platform, failover


def _held(folder: str) -> int:
    """Return the held lock of the home folder. Raises Unavailable, Conflict."""
    from trainmaster.core.errors import Conflict, Unavailable
    from trainmaster.messages.server import client
    from trainmaster.service.folders.held import hold

    try:
        lock = hold(folder)
    except OSError as error:
        raise Unavailable(client.home_not_usable(folder, error.strerror or str(error))) from None
    if lock is None:
        where = _known(folder)
        raise Conflict(client.server_runs_already_at(folder, where) if where else client.server_runs_already(folder))
    return lock


def _known(folder: str) -> str:
    from trainmaster.sdk.find import server_file

    try:
        with open(server_file(folder), encoding="utf-8") as file:
            return str(json.load(file)["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _listening(host: str, port: int) -> tuple[Any, str]:
    """Return the socket that listens, and its address as a URL. Raises Unavailable."""
    import socket

    from trainmaster.core.errors import Unavailable
    from trainmaster.messages.server import client

    try:
        listener = _listen(host, port)
    except OSError as error:
        raise Unavailable(client.address_not_usable(host, port, error.strerror or str(error))) from None
    port = listener.getsockname()[1]
    if listener.family == socket.AF_INET6:
        return listener, f"http://[{host}]:{port}"
    return listener, f"http://{'127.0.0.1' if host in ('0.0.0.0', '') else host}:{port}"


def announced_at(server: "ServerConfig", url: str) -> str:
    """Return where the other servers of the home reach this one, which listens at `url`; "" where only this machine
    could. Raises InvalidSpec.
    """
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.messages.server import settings as saying
    from trainmaster.service.settings import EVERY_ADDRESS, reached_at

    if not server.address:
        return "" if server.host in EVERY_ADDRESS else url
    found = reached_at(server.address)
    if found is None:
        raise InvalidSpec(saying.not_a_host(server.address))
    host, port = found
    return f"http://{f'[{host}]' if ':' in host else host}:{port or url.rpartition(':')[2]}"


def _listen(host: str, port: int) -> Any:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((host, port))
    made.listen(1024)
    return made


def _run(
    platform: "Platform",
    failover: "Failover | None",
    listener: Any,
    url: str,
    folder: str,
    log_level: str,
    access_log: bool,
) -> None:
    # FastAPI loads the old pydantic only to refuse its models, which costs each server 1.7 MiB: let it not be there.
    sys.modules["pydantic.v1"] = cast(Any, None)
    import logging

    import uvicorn

    from trainmaster.api.app import create_app
    from trainmaster.cli.server.serving import Server

    app = create_app(platform, failover=failover)
    _tune()

    def say(platform: "Platform") -> None:
        announce(platform, url, folder) if platform.context.leads else stands_by(platform, url, folder)

    if failover is not None:
        failover.on_change.append(say)

    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="trainmaster.api.socket.wire:Protocol",
        lifespan="off",
        access_log=access_log,
        log_level="warning",
        log_config=None,
        timeout_graceful_shutdown=5,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=None,
        timeout_keep_alive=30,
        backlog=1024,
        **WEBSOCKETS,
    )
    if access_log:  # which uvicorn silences with all else that is no warning
        logging.getLogger("uvicorn.access").setLevel(logging.INFO)
    server = Server(config, app, lambda: say(app.app.state.platform), lambda: _forget(folder))
    server.run(sockets=[listener])
    _forget(folder)
    if server.refused is not None:
        raise server.refused
    print(farewell(app.app.state.platform), flush=True)


def _tune() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each live view takes a file, and a shell allows 1,024
    sys.setswitchinterval(SWITCH_S)
    gc.set_threshold(*COLLECT)
    gc.freeze()  # the collector need not look at what lives until the end: of 600,000 objects, 1,300 do not
    gc.enable()


def _forget(folder: str) -> None:
    """Remove the file that says where this server is; another one that has taken its place keeps its own."""
    from trainmaster.sdk.find import server_file

    path = server_file(folder)
    with suppress(OSError, ValueError, KeyError, TypeError):
        with open(path, encoding="utf-8") as file:
            mine = json.load(file)["pid"] == os.getpid()
        if mine:
            os.unlink(path)
