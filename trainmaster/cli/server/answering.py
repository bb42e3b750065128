"""What `tm doctor` finds of the server and its agent: whether they answer, and whether they know us."""

import shlex
import socket
from dataclasses import dataclass

from trainmaster.cli.context import OPTIONS
from trainmaster.cli.language import language, words
from trainmaster.cli.showing.console import in_words
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server.client import certificate_not_trusted

GOOD, POOR, BAD = "ok", "warning", "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `state`: ok, warning (works, with less) or bad (does not work)."""

    name: str
    state: str
    detail: str
    remedy: str = ""


def server(start: str = "") -> tuple[bool, Finding]:
    """Return (whether anything answers, what was found). `start`: the remedy where nothing does."""
    from trainmaster.core.errors import TrainmasterError, Unauthenticated, Unavailable
    from trainmaster.sdk.client import Client

    place = f"--home {shlex.quote(OPTIONS.home)} " if OPTIONS.home else ""
    start = start or words(f"Start it with: trainmaster {place}serve", f"启动：trainmaster {place}serve")
    folder = None if OPTIONS.url else OPTIONS.home
    try:
        with Client(OPTIONS.url, OPTIONS.token, folder, ca=OPTIONS.ca, language=language()) as there:
            session = there.session()
            version, name = session.server.version, session.user.name
            said = words(
                f"{there.url}, version {version}, signed in as {name}", f"{there.url}，版本 {version}，登录为 {name}"
            )
            return True, Finding("server", GOOD, said)
    except Unauthenticated as error:
        title, remedy = in_words(error)
        return True, Finding(
            "server", BAD, words(f"runs, but refuses this sign-in: {title}", f"在运行，但拒绝了登录：{title}"), remedy
        )
    except Unavailable as error:
        title, remedy = in_words(error)
        untrusted = error.said.code == certificate_not_trusted("", "").code
        if OPTIONS.url:
            start = words(
                "Check the address, and whether a firewall or a VPN is in between; then ask who runs that server.",
                "请检查地址、防火墙和 VPN；仍无法连接时，请联系该服务器的管理员。",
            )
        return untrusted, Finding("server", BAD if untrusted else POOR, title, remedy if untrusted else start)
    except TrainmasterError as error:
        title, remedy = in_words(error)
        return True, Finding(
            "server", BAD, words(f"runs, but something is wrong: {title}", f"在运行，但有问题：{title}"), remedy
        )


def port() -> Finding:
    from trainmaster.core.config import ServerConfig

    default = ServerConfig()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((default.host, default.port))
        except OSError as error:
            used = words(f"{default.port} is in use ({error.strerror})", f"{default.port} 已被占用（{error.strerror}）")
            other = words("Start with --port 0, or another number.", "请用 --port 0 或其他端口启动。")
            return Finding("port", POOR, used, other)
    return Finding("port", GOOD, words(f"{default.port} is free", f"{default.port} 空闲"))


def agent(folder: str, server_answers: bool) -> Finding:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(Layout(folder).agent_socket)
        except OSError:
            if server_answers and OPTIONS.url is None:
                log = Layout(folder).path("run", "agent.log")
                remedy = words(f"Look at {log}; the server starts it again.", f"请查看 {log}；服务器会重新启动它。")
                return Finding("node agent", BAD, words("does not answer", "没有响应"), remedy)
            return Finding("node agent", GOOD, words("not running; the server starts it", "未运行；由服务器启动"))
    return Finding("node agent", GOOD, words("answers", "响应正常"))
