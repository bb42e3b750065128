"""The Python that tasks find first on their PATH: where it is, and which modules it lacks."""

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Final

from trainmaster.cli.language import words
from trainmaster.core.framework_kinds import KINDS

PACKAGES: Final = {"sklearn": "scikit-learn"}
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
    """Return (state, detail, remedy) of the Python of tasks: whether it runs, and has what frameworks need."""
    python = python_of(environment)
    try:
        missing = lacking(python, (kind.module for kind in KINDS.values() if kind.module))
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
    if missing:
        names, frameworks = ", ".join(missing), ", ".join(kind for kind, one in KINDS.items() if one.module in missing)
        detail = words(
            f"{python} has no {names}, which jobs of the framework {frameworks} import",
            f"{python} 没有 {names}，使用启动方式 {frameworks} 的任务需要它",
        )
        how = how_to_install(python, missing)
        remedy = words(
            f"{how}. Or name another one as local.environment.", f"{how}。或把 local.environment 设为其他环境。"
        )
        return "warning", detail, remedy
    return "ok", words(f"jobs use {python}", f"任务使用 {python}"), ""


def how_to_install(python: str, modules: Iterable[str]) -> str:
    """Return the command that brings `modules` to all jobs."""
    names = [PACKAGES.get(name, name) for name in modules]
    small = words(
        " (without GPUs run scripts/torch of the source folder: PyTorch's CPU build is enough and much smaller)",
        "（没有加速卡时请运行源码文件夹中的 scripts/torch：CPU 版 PyTorch 即可，体积小得多）",
    )
    hint = small if "torch" in names else ""
    return f"{python} -m pip install {' '.join(names)}{hint}"
