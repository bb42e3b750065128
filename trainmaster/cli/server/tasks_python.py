"""The Python that tasks find first on their PATH: where it is, and which modules it lacks."""

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Final

from trainmaster.cli.language import words
from trainmaster.core.framework_kinds import KINDS

PACKAGES: Final = {"sklearn": "scikit-learn", "paddle": "paddlepaddle"}
"""What to install for a module, where that has another name."""
_ASK: Final = "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] if u.find_spec(n)))"
_LONG_S: Final = 20.0


def python_of(environment: str) -> str:
    """Return the interpreter of `[local] environment` ("": the one this program runs in)."""
    return os.path.join(os.path.abspath(environment or sys.prefix), "bin", "python")


def lacking(python: str, modules: Iterable[str]) -> list[str]:
    """Return those of `modules` that this interpreter would not find. Starts it once, 30 ms.

    Raises OSError or subprocess.SubprocessError when it cannot be run.
    """
    asked = sorted(modules)
    command = [python, "-I", "-c", _ASK, *asked]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LONG_S, check=True
    )
    there = done.stdout.split()
    return [name for name in asked if name not in there]


def environment_finding(environment: str) -> tuple[str, str, str]:
    """Return (state, detail, remedy) of the Python of tasks: whether it runs, and has what one of the frameworks needs.

    A site trains with the frameworks that it knows: those that are missing are named, and no fault.
    """
    python = python_of(environment)
    needed = {kind: one.module for kind, one in KINDS.items() if one.module}
    try:
        missing = lacking(python, set(needed.values()))
    except (OSError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else words("it does not work", "无法运行")
        return (
            "bad",
            words(f"jobs would find no Python at {python}: {reason}", f"任务在 {python} 找不到 Python：{reason}"),
            words(
                "Name a folder with bin/python as local.environment.",
                "请把含有 bin/python 的文件夹设为 local.environment。",
            ),
        )
    there = [kind for kind, module in needed.items() if module not in missing]
    if there:
        detail = words(
            f"jobs use {python}, which has what {', '.join(there)} needs",
            f"任务使用 {python}，可用于 {'、'.join(there)}",
        )
        return "ok", detail, ""
    known, first = next(iter(needed.items()))
    detail = words(
        f"{python} has no {first}, which jobs of the framework {known} import, nor what others need",
        f"{python} 没有 {first}（使用启动方式 {known} 的任务需要它），也没有其他启动方式所需的包",
    )
    how = how_to_install(python, [first])
    remedy = words(f"{how}. Or name another one as local.environment.", f"{how}。或把 local.environment 设为其他环境。")
    return "warning", detail, remedy


def how_to_install(python: str, modules: Iterable[str]) -> str:
    """Return the command that brings `modules` to all jobs."""
    names = [PACKAGES.get(name, name) for name in modules]
    small = words(
        " (without GPUs run scripts/torch of the source folder: PyTorch's CPU build is enough and much smaller)",
        "（没有加速卡时请运行源码文件夹中的 scripts/torch：CPU 版 PyTorch 即可，体积小得多）",
    )
    hint = small if "torch" in names else ""
    return f"{python} -m pip install {' '.join(names)}{hint}"
