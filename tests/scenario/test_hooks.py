"""Lifecycle scripts (R53): what runs before and after a command, in its sandbox, and what of that people are told."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.stage import ADMIN, COUNTS, Stage, spec
from tests.scenario.test_recovery import _kill
from trainmaster import answers
from trainmaster.core.errors import InvalidSpec

LEAVES = ["sh", "-c", "echo cleaned; echo after $TRAINMASTER_ATTEMPT >> $TRAINMASTER_OUTPUT_DIR/after"]


def _notes(view: answers.JobDetail) -> list[str]:
    """Return what a job's page says beside why it ended."""
    return [str(note.message) for note in view.warnings if note.code == "after_hook"]


async def test_before_prepares_what_the_command_reads(stage: Stage) -> None:
    """R53: in the same sandbox: its folders, its variables, its services; what each prints is told apart in logs."""
    hooks = {
        "before": 'sh -c "echo prepared for $GREETING by $TRAINMASTER_JOB > /tmp/notes; sleep 60 & echo $! > /tmp/pid"',
        "after": "cat /tmp/notes",
    }
    text = 'cat /tmp/notes > /workspace/outputs/seen; kill -0 "$(cat /tmp/pid)" && echo service runs'
    job = await stage.submit(spec("prepared", text, hooks=hooks, env={"GREETING": "you"}, model={"save": False}))
    view = await stage.ended(job)
    assert view.state == "succeeded", (view.verdict, stage.log(job))
    said = f"prepared for you by {job}"
    assert stage.output(job, "seen").read_text() == f"{said}\n"
    lines = stage.log(job).splitlines()
    assert lines[0].startswith("[hooks.before] sh -c 'echo prepared for you")
    assert lines[1:] == [
        "[hooks.before] exit 0",
        "service runs",
        "[hooks.after] cat /tmp/notes",
        said,
        "[hooks.after] exit 0",
    ]
    assert _notes(view) == []


async def test_a_command_does_not_start_where_before_fails(stage: Stage) -> None:
    """R53: a reason of its own with the hook's exit code; neither the command nor `after` runs."""
    text = "touch /workspace/outputs/ran"
    hooks = {"before": ["sh", "-c", "echo no such bucket >&2; exit 3"], "after": ["touch", "/workspace/outputs/after"]}
    job = await stage.submit(spec("unprepared", text, hooks=hooks))
    view = await stage.ended(job)
    assert (view.state, view.verdict and view.verdict.code) == ("failed", "before_failed")
    assert view.verdict is not None
    assert view.verdict.exit_code == 3
    assert "exit code 3" in str(view.verdict.message)
    assert "no such bucket" in str(view.verdict.evidence)
    assert not stage.output(job, "ran").exists()
    assert not stage.output(job, "after").exists()

    job = await stage.submit(spec("unknown", text, hooks={"before": "no-such-program"}))
    verdict = (await stage.ended(job)).verdict
    assert verdict is not None
    assert (verdict.code, verdict.exit_code) == ("before_failed", 127)


async def test_after_runs_whatever_the_end(stage: Stage) -> None:
    """R53: on success, on failure and at a stop, in every attempt; the end is the command's."""
    job = await stage.submit(spec("good", "echo work", hooks={"after": LEAVES}, model={"save": False}))
    assert (await stage.ended(job)).state == "succeeded"
    assert stage.output(job, "after").read_text() == "after 1\n"

    text = "echo ValueError: bad batch; exit 42"
    job = await stage.submit(spec("bad", text, hooks={"after": LEAVES}, retries=1, model={"save": False}))
    view = await stage.ended(job)
    assert view.verdict is not None
    assert (view.state, view.verdict.code, view.verdict.exit_code) == ("failed", "exit_code", 42)
    assert str(view.verdict.evidence).endswith("ValueError: bad batch"), "what the hook printed is not why"
    assert stage.output(job, "after").read_text() == "after 1\nafter 2\n"

    chatty = "i=0; while [ $i -lt 4000 ]; do echo copied file $i; i=$((i+1)); done; echo tar: No space left on device"
    text = "echo ValueError: bad batch; printf 'epoch 3 of 9'; exit 42"  # a bar, which ends no line
    job = await stage.submit(spec("chatty", text, hooks={"after": ["sh", "-c", chatty]}, model={"save": False}))
    verdict = (await stage.ended(job)).verdict
    assert verdict is not None
    assert (verdict.code, verdict.exit_code) == ("exit_code", 42)
    assert str(verdict.evidence).endswith("ValueError: bad batch\nepoch 3 of 9")

    eats = ["sh", "-c", "head -c 300000000 /dev/zero | tail > /dev/null"]
    text, less = "echo ValueError: bad batch; exit 42", {"memory": 64}
    job = await stage.submit(spec("eats", text, hooks={"after": eats}, resources=less, model={"save": False}))
    view = await stage.ended(job)
    assert view.verdict is not None
    assert (view.verdict.code, view.verdict.exit_code) == ("exit_code", 42)
    assert ["exit code 137" in note for note in _notes(view)] == [True]
    text = "head -c 300000000 /dev/zero | tail > /dev/null"
    job = await stage.submit(spec("hungry", text, hooks={"after": eats}, resources=less, model={"save": False}))
    verdict = (await stage.ended(job)).verdict
    assert verdict is not None
    assert verdict.code == "out_of_memory"

    job = await stage.submit(spec("shot", "kill -SEGV $$", hooks={"after": LEAVES}, model={"save": False}))
    verdict = (await stage.ended(job)).verdict
    assert verdict is not None
    assert (verdict.code, verdict.signal) == ("signal", 11)

    job = await stage.submit(spec("endless", COUNTS, hooks={"after": LEAVES}, grace=60, model={"save": False}))
    await stage.running(job, "line 1")
    await stage.platform.stop(job, ADMIN)
    view = await stage.ended(job)
    assert view.state == "stopped"
    assert stage.output(job, "after").read_text() == "after 1\n"
    assert _notes(view) == []


async def test_what_after_does_wrong_is_told_and_changes_no_end(stage: Stage) -> None:
    """R53: a failing hook, one that hangs (cut at the grace period), one for which a command leaves no time."""
    job = await stage.submit(spec("careless", "true", hooks={"after": "ls /no-such-folder"}, model={"save": False}))
    view = await stage.ended(job)
    assert view.state == "succeeded"
    assert ["main-0" in note and "exit code 2" in note for note in _notes(view)] == [True]

    hangs = {"after": ["sh", "-c", "trap '' TERM; echo begins; while :; do sleep 1; done"]}
    job = await stage.submit(spec("hangs", "true", hooks=hangs, grace=2, model={"save": False}))
    view = await stage.ended(job)
    assert view.state == "succeeded"
    assert "begins" in stage.log(job)
    assert ["grace period of 2" in note for note in _notes(view)] == [True]

    job = await stage.submit(spec("hangs-stopped", COUNTS, hooks=hangs, grace=2, model={"save": False}))
    await stage.running(job, "line 1")
    await stage.platform.stop(job, ADMIN)
    view = await stage.ended(job)
    assert view.state == "stopped"
    assert ["grace period of 2" in note for note in _notes(view)] == [True]

    deaf = f"trap '' TERM; {COUNTS}"
    job = await stage.submit(spec("deaf", deaf, hooks={"after": LEAVES}, grace=1, model={"save": False}))
    await stage.running(job, "line 1")
    await stage.platform.stop(job, ADMIN)
    view = await stage.ended(job)
    assert view.state == "stopped"
    assert ["did not run" in note for note in _notes(view)] == [True]
    assert not stage.output(job, "after").exists()


async def test_a_stop_while_before_runs_starts_nothing_more(stage: Stage) -> None:
    """R53: not even where the hook takes the signal and ends well."""
    slow = "trap 'touch /workspace/outputs/heard; exit 0' TERM; echo slow; while :; do sleep 0.1; done"
    job = await stage.submit(
        spec("slow", "touch /workspace/outputs/ran", hooks={"before": ["sh", "-c", slow]}, grace=60)
    )
    await stage.until(job, lambda _: "slow\n" in stage.log(job), "the hook")
    await stage.platform.stop(job, ADMIN)
    assert (await stage.ended(job)).state == "stopped"
    assert stage.output(job, "heard").exists()
    assert not stage.output(job, "ran").exists()


async def test_a_hook_that_failed_is_not_told_again_to_the_next_server(stage: Stage) -> None:
    """R53: one replica has ended and its hook was told of, while another goes on and the server is started anew."""
    text = f"[ $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX -eq 0 ] || {{ {COUNTS}; }}"
    fails = {"after": "false"}
    job = await stage.submit(spec("two", text, hooks=fails, replicas=2, grace=60, model={"save": False}))
    await stage.until(job, lambda view: len(_notes(view)) == 1, "the note of the first")
    await stage.until(job, lambda _: "line 1" in stage.log(job, index=1), "the second")
    await stage.restart()
    stage.output(job, "go").touch()
    view = await stage.ended(job)
    assert view.state == "succeeded", stage.log(job)
    assert sorted("main-0" in note for note in _notes(view)) == [False, True], _notes(view)


@pytest.mark.parametrize("who", ["agent", "server"])
async def test_hooks_survive_agent_and_server(stage: Stage, who: str) -> None:
    """R53: whoever comes after learns what became of the hook, and tells it once."""
    fails = {"before": ["echo", "first"], "after": ["sh", "-c", "echo last; exit 5"]}
    job = await stage.submit(spec("goes-on", COUNTS, hooks=fails, model={"save": False}))
    await stage.running(job, "line 2")
    await (stage.restart() if who == "server" else _kill(stage, who))
    stage.output(job, "go").touch()
    view = await stage.ended(job)
    assert (view.state, view.attempts) == ("succeeded", 1), view.verdict
    assert ["exit code 5" in note for note in _notes(view)] == [True]
    assert stage.log(job).startswith("[hooks.before] echo first\nfirst\n[hooks.before] exit 0\nline 1\n")
    assert stage.log(job).endswith("end\n[hooks.after] sh -c 'echo last; exit 5'\nlast\n[hooks.after] exit 5\n")


async def test_a_hook_that_failed_is_told_when_the_server_was_away(stage: Stage) -> None:
    """R53: the task ends while nobody listens; what is to be said waits with its end."""
    job = await stage.submit(spec("alone", COUNTS, hooks={"after": "false"}, model={"save": False}))
    await stage.running(job, "line 2")
    await stage.platform.close()
    stage.output(job, "go").touch()
    log = Path(stage.platform.layout.task(job, 1, 0, 0).log)
    while "[hooks.after] exit 1" not in log.read_text():
        await asyncio.sleep(0.05)
    stage.platform = stage._build()
    await stage.platform.start()
    assert ["exit code 1" in note for note in _notes(await stage.ended(job))] == [True]


async def test_every_replica_has_its_hooks_and_odd_names_reach_the_command(stage: Stage) -> None:
    """R53, D4: `$NAME` is each replica's own; variables that a shell cannot name are there, too."""
    document: dict[str, Any] = {
        "name": "gang",
        "model": {"save": False},
        "roles": [
            {
                "name": "my-worker",
                "replicas": 2,
                "command": "printenv PAI_HOST_IP_my-worker_0",
                "hooks": {
                    "before": "echo $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX of $PAI_HOST_IP_my_worker_0",
                    "after": "printenv PAI_HOST_IP_my-worker_1",
                },
                "resources": {"cpu": 0.5, "memory": 256},
            }
        ],
    }
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert view.state == "succeeded", stage.log(job)
    for index in (0, 1):
        lines = stage.log(job, index=index).splitlines()
        assert lines[1].startswith(f"{index} of 127."), lines
        assert sum(line.startswith("127.") for line in lines) == 2, lines


async def test_hooks_need_nothing_of_the_variable_path(stage: Stage) -> None:
    """R53: of a job that sets PATH, to `/opt/env/bin:$PATH` for example, which names no folder of the system."""
    hangs = ["/bin/sh", "-c", "trap '' TERM; while :; do /bin/sleep 1; done"]
    replica = {"name": "my-worker", "hooks": {"after": hangs}, "resources": {"cpu": 0.5, "memory": 256}}
    replica |= {"command": ["/usr/bin/printenv", "PAI_HOST_IP_my-worker_0"]}
    document = {"name": "lost", "grace": 2, "env": {"PATH": "/opt/env/bin"}, "model": {"save": False}}
    job = await stage.submit({**document, "roles": [replica]})
    view = await stage.ended(job)
    assert view.state == "succeeded", stage.log(job)
    assert ["grace period of 2" in note for note in _notes(view)] == [True]


@pytest.mark.parametrize(
    ("hooks", "code"),
    [
        ({"before": "A=1 python prepare.py"}, "command_assignment"),
        ({"before": "mkdir x && cp a x"}, "command_statements"),
        ({"before": "  "}, "command_empty"),
        ({"before": ["sh", 3]}, "not_text"),
        ({"before": 7}, "not_text"),
    ],
)
async def test_a_hook_follows_the_rules_of_commands(stage: Stage, hooks: dict[str, Any], code: str) -> None:
    """R53, R119, R120: the field, the rule and the remedy; for `after` as well."""
    for name in ("before", "after"):
        given = {name: hooks["before"]}
        with pytest.raises(InvalidSpec) as refused:
            await stage.submit(spec("wrong", hooks=given))
        (found,) = refused.value.problems
        assert (found.path, found.code) == (f"roles.0.hooks.{name}", code)
        assert found.rule
        assert found.remedy


async def test_hooks_that_cannot_be(stage: Stage) -> None:
    """R53: an unknown hook, no object, no time for `after`, a secret's value in the words of a hook."""

    async def problem(hooks: Any, **fields: Any) -> tuple[str, str]:
        with pytest.raises(InvalidSpec) as refused:
            await stage.submit(spec("wrong", hooks=hooks, **fields))
        (found,) = refused.value.problems
        return found.path, found.code

    assert await problem({"befor": "true"}) == ("roles.0.hooks.befor", "unknown_key_near")
    assert await problem("true") == ("roles.0.hooks", "not_object")
    assert await problem({"after": "true"}, grace=0) == ("roles.0.hooks.after", "after_without_grace")
    found = await problem({"before": "login $TOKEN"}, secrets=["TOKEN"])
    assert found == ("roles.0.hooks.before", "secret_in_command")


async def test_hooks_without_a_sandbox(tmp_path: Path) -> None:
    """R53: the same where tasks have no sandbox: order, ends, and nothing left running."""
    async with Stage(tmp_path / "home", {"local": {"sandbox": "none"}}) as stage:
        hooks = {"before": ["sh", "-c", "sleep 600 & echo first"], "after": "false"}
        job = await stage.submit(spec("bare", "echo work; kill -TERM $$", hooks=hooks))
        view = await stage.ended(job)
        assert view.verdict is not None
        assert (view.verdict.code, view.verdict.signal) == ("signal", 15)
        assert ["exit code 1" in note for note in _notes(view)] == [True]
        assert [line for line in stage.log(job).splitlines() if "hooks" not in line] == ["first", "work"]
        job = await stage.submit(spec("bare-fails", "echo never", hooks={"before": "false"}))
        view = await stage.ended(job)
        assert view.verdict is not None
        assert view.verdict.code == "before_failed"
