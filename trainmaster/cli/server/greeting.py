"""What `trainmaster serve` says: at its start where it is, how to sign in, and what whoever started it should know;
at its end what becomes of the jobs.
"""

import ipaddress
import json
import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from trainmaster.cli.language import words
from trainmaster.cli.server.systemd import REMEDY, notify, unit_of
from trainmaster.core.config import Config
from trainmaster.service.folders.privacy import private

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform

EXAMPLE_NEEDS: Final = ("sklearn", "torch")
"""Modules that the job in README imports."""


def announce(platform: "Platform", url: str, folder: str) -> None:
    """Write down where the server answers, and tell people."""
    from trainmaster.sdk.find import server_file

    path = server_file(folder)
    with open(f"{path}.new", "w", encoding="utf-8", opener=private) as file:
        json.dump({"url": url, "pid": os.getpid(), "version": platform.version}, file)
    os.replace(f"{path}.new", path)
    version = platform.version
    print(words(f"Trainmaster {version} is ready at {url}", f"Trainmaster {version} 已就绪：{url}"), flush=True)
    print(words(f"Home: {folder}", f"平台目录：{folder}"), flush=True)
    if platform.people.one_time_password:
        once = words(
            "Sign in to the console once with this password; it must then be changed:",
            "请用此密码登录控制台一次，登录后必须修改：",
        )
        print(f"\n{once}", flush=True)
        print(f"    {words('user    ', '用户名')}  admin", flush=True)
        print(f"    {words('password', '密码  ')}  {platform.people.one_time_password}\n", flush=True)
    print(words("Stop with Ctrl-C; running jobs go on.", "按 Ctrl-C 停止；运行中的任务继续运行。"), flush=True)
    notify("READY=1")


def farewell(platform: "Platform") -> str:
    """Return what is said at the end: of jobs only where some run, whose server this one was."""
    from trainmaster.core.states import JobState

    if not any(job.state is JobState.ACTIVE for job in platform.context.master.live.values()):
        return words("Trainmaster has stopped.", "Trainmaster 已停止。")
    return words(
        "Trainmaster has stopped; running jobs go on and are found again by the next server.",
        "Trainmaster 已停止；运行中的任务继续运行，下一次启动的服务器会重新接管。",
    )


def stands_by(platform: "Platform", url: str, folder: str) -> None:
    """Tell people that this server answers while another one leads."""
    version = platform.version
    said = words(
        f"Trainmaster {version} stands by at {url}: another server leads this home.",
        f"Trainmaster {version} 备用中：{url}。此平台目录由另一台服务器负责。",
    )
    print(said, flush=True)
    print(words(f"Home: {folder}", f"平台目录：{folder}"), flush=True)
    print(
        words("It takes over once that one is gone. Stop with Ctrl-C.", "那台服务器停止后由它接管。按 Ctrl-C 停止。"),
        flush=True,
    )
    notify("READY=1")


def notes(config: Config, demo_cards: int) -> Iterator[str]:
    """Yield what is to be known about this start, a line each."""
    if demo_cards:
        yield from _demo(config, demo_cards)
    warning = words("Warning: ", "注意：")
    indent = words("         ", "      ")
    open_to = exposed(config.server.host)
    if open_to:
        yield f"{warning}{open_to[0]}{words('.', '。')}"
        yield f"{indent}{open_to[1]}"
    unit = unit_of(os.getpid())
    if unit is not None and unit.kills_jobs:
        yield f"{warning}{unit.warning}{words('.', '。')}"
        yield f"{indent}{REMEDY}"


def exposed(host: str) -> tuple[str, str] | None:
    """Return (what is wrong, remedy) of listening on `host` without TLS, None on an address of this machine only."""
    try:
        if host == "localhost" or ipaddress.ip_address(host or "0.0.0.0").is_loopback:
            return None
    except ValueError:
        pass  # a host name: it may be reached from elsewhere
    where = host or words("this computer", "本机")
    return (
        words(
            f"everybody who sees the traffic to {where} can read passwords and tokens: this server speaks plain HTTP",
            f"能看到发往 {where} 的流量的人可以读到密码和令牌：此服务器使用明文 HTTP",
        ),
        words(
            'Put a proxy with TLS before it, and where that is on this computer set server.host = "127.0.0.1".',
            '请在前面放置带 TLS 的反向代理；若它就在本机，请设置 server.host = "127.0.0.1"。',
        ),
    )


def _demo(config: Config, cards: int) -> Iterator[str]:
    from trainmaster.cli.server.tasks_python import how_to_install, lacking, python_of

    nodes = config.local.virtual_nodes
    each = "1 simulated GPU" if cards == 1 else f"{cards} simulated GPUs"
    yield words(
        f"Demo: this computer is shown as {nodes} {'node' if nodes == 1 else 'nodes'} with {each} each.",
        f"演示：本机显示为 {nodes} 个节点，各有 {cards} 张模拟加速卡。",
    )
    yield words(
        "      Nothing computes on these GPUs: every program runs on the CPU. Real GPUs are not given to jobs.",
        "      这些加速卡不做计算：所有程序都在 CPU 上运行。真实的加速卡不会分配给任务。",
    )
    python = python_of(config.local.environment)
    try:
        missing = lacking(python, EXAMPLE_NEEDS)
    except (OSError, subprocess.SubprocessError):
        return  # `tm doctor` says what is wrong with it
    if missing:
        yield words(
            f"      The Python of jobs, {python}, lacks what the example digits-ddp needs. Install it with:",
            f"      任务使用的 Python（{python}）缺少示例 digits-ddp 所需的包，安装命令：",
        )
        yield f"      {how_to_install(python, missing)}"
