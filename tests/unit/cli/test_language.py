"""Which language the terminal gets, and how amounts are written in it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from trainmaster.cli import main
from trainmaster.cli.helping import CALLED_ELSEWHERE
from trainmaster.cli.language import language, memory, money, used_memory
from trainmaster.cli.main import commands, global_first


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        ("list", {}, "en"),
        ("list", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("list", {"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ("list", {"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW.UTF-8"}, "zh"),
        ("list", {"LC_ALL": "zh_CN.UTF-8", "TRAINMASTER_LANG": "en"}, "en"),
        ("--lang zh list", {"TRAINMASTER_LANG": "en"}, "zh"),
        ("--home zh --lang=zh list", {}, "zh"),
        ("exec job -- tool --lang zh", {}, "en"),
        ("--home --lang list", {}, "en"),
    ],
)
def test_the_first_that_is_set_decides(arguments: str, environ: dict[str, str], expected: str) -> None:
    assert language(arguments.split(), environ) == expected


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("list --home /x", "--home /x list"),
        ("list --url=http://a --json", "--url=http://a list --json"),
        ("show j --lang zh --token t", "--lang zh --token t show j"),
        ("exec j -- sh --home x", "exec j -- sh --home x"),
        ("serve --home /x", "serve --home /x"),
        ("logs j -- --home", "logs j -- --home"),
        ("list --home", "--home list"),
    ],
)
def test_global_options_may_stand_behind_the_command(typed: str, taken: str) -> None:
    assert global_first(typed.split()) == taken.split()


def test_a_column_of_gpus_has_one_name_in_chinese() -> None:
    texts = [part.read_text() for part in Path(main.__file__).parent.rglob("*.py")]
    assert {zh for text in texts for zh in re.findall(r'column\(words\("GPUs?", "(.+?)"\)', text)} == {"加速卡"}


def test_money_is_told_to_the_cent() -> None:
    told = [money(amount) for amount in ("-0.000417", "0.00", "-7.895", "1234567.10", "9" * 29 + ".00")]
    assert told[:4] == ["-0.000417", "0.00", "-7.90", "1,234,567.10"]
    assert told[4].startswith("99,999,")


def test_memory_is_told_in_the_unit_that_suits_it() -> None:
    assert [memory(mib) for mib in (0, 64, 1536, 1572864.0)] == ["0 MiB", "64 MiB", "1.5 GiB", "1.5 TiB"]
    assert used_memory(524288, 1572864) == "0.5/1.5 TiB"
    assert used_memory(0, 0) == "0/0 MiB"


@pytest.mark.parametrize(("lang", "said"), [("en", ["5s", "45s", "12h 5m"]), ("zh", ["5 秒", "45 秒", "12 小时 5 分"])])
def test_durations_have_units_of_the_language(lang: str, said: list[str]) -> None:
    code = "from trainmaster.cli.language import duration; print(*map(duration, (5, 45, 43500)), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TRAINMASTER_LANG": lang},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == said


def test_what_is_wrong_with_a_command_line_is_said_in_both_languages() -> None:
    def tm(*words: str) -> str:
        command = [sys.executable, "-m", "trainmaster", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2, done
        return done.stderr

    for words, en, zh in (
        (("list", "--stat"), "--state", "没有选项 --stat"),
        (("show",), "Missing argument", "缺少 JOB"),
        (("lits",), "No such command 'lits'", "没有命令 lits，是否想用：list"),
        (
            ("jobs",),
            "No such command 'jobs'. Did you mean tm list, tm show?",
            "没有命令 jobs，是否想用：tm list、tm show",
        ),
        (("status", "t826"), "Did you mean tm show, tm list, tm explain?", "是否想用：tm show、tm list、tm explain"),
        (("node", "jobs"), "No such command 'jobs'", "没有命令 jobs"),
        (("list", "--limit", "x"), "--limit", "应为整数"),
        (("list", "--since", "soon"), "is not a time such as 30m", "不是时长"),
    ):
        assert en in tm(*words)
        said = tm("--lang", "zh", *words)
        assert zh in said
        assert said.startswith("错误 ")
        assert "--help" in said
    assert "is not en or zh" in tm("--lang", "fr", "list")


def test_what_people_type_who_come_from_elsewhere_leads_to_commands_that_there_are() -> None:
    def command(path: str) -> bool:
        found: Any = get_command(commands())
        for word in path.split():
            found = getattr(found, "commands", {}).get(word)
        return found is not None

    assert command("list")
    assert not command("jobs")
    assert [one for one in CALLED_ELSEWHERE if command(one)] == []
    assert {one for near in CALLED_ELSEWHERE.values() for one in near if not command(one)} == set()
