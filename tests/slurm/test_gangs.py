"""Gangs on a real cluster: the script and the step as the engine uses them, by the oldest Python that is at hand."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.slurm.site import Site, ends, gang_of
from trainmaster.core.launch import Hook, RoleCommand
from trainmaster.core.records import PortRequest, Resources, Role
from trainmaster.engines.slurm.client.commands import ClusterDown
from trainmaster.engines.slurm.script import Terms

SAY = (
    'echo "$CUDA_VISIBLE_DEVICES|$PAI_HOST_IP_worker_1|$VC_WORKER_HOSTS|$PAI_PORT_LIST_worker_0_web'
    '|$TRAINMASTER_NODE"; exit $CODE'
)


async def test_a_heterogeneous_gang_runs_and_tells(site: Site) -> None:
    server = Role("ps", 1, Resources(cpu=1, memory_mib=256))
    worker = Role("worker", 3, Resources(cpu=1, memory_mib=512, gpu=1, gpu_type="fake"), (PortRequest("web"),))
    story = gang_of((server, "CODE=3; " + SAY), (worker, "CODE=$TRAINMASTER_INDEX; " + SAY))
    await site.submit(story)
    assert (await site.ended(story)).words == ("COMPLETED",), site.told(story)
    facts = site.facts(story)
    assert ends(facts) == {(0, 0): 3, (1, 0): 0, (1, 1): 1, (1, 2): 2}
    parts = {fact["part"] for fact in facts if fact["event"] == "began"}
    assert sum(fact["event"] == "left" for fact in facts) == len(parts) >= 3
    logs = {task: site.log(story, *task).strip().split("|") for task in ends(facts)}
    assert logs[0, 0][0] == ""
    hosts = [logs[1, index][4].replace("n", "127.0.0.") for index in range(3)]  # each node has an address of its own
    assert {tuple(log[1:3]) for log in logs.values()} == {(hosts[1], ",".join(hosts))}
    assert len({log[3] for log in logs.values()}) == 1
    told = {(task["role"], task["index"]): task for fact in facts if fact["event"] == "began" for task in fact["tasks"]}
    assert {task: place["node"] for task, place in told.items()} == {task: log[4] for task, log in logs.items()}
    cards = [(place["node"], card) for place in told.values() for card in place["gpus"]]
    assert len(set(cards)) == len(cards) == 3


async def test_hooks_run_around_a_command_on_a_node(site: Site) -> None:
    """R53: the same on a cluster, by the same agent; what became of `after` is told with the end."""
    story = gang_of((Role("w", 2, Resources(cpu=1, memory_mib=256)), "cat /tmp/prepared; exit 3"))
    before = Hook(argv=("/bin/sh", "-c", "echo by before > /tmp/prepared"))
    hooked = replace(story.commands[0], before=before, after=Hook(text="sh -c 'exit 5'"), after_s=30.0)
    story = replace(story, commands=(hooked,))
    await site.submit(story, sandbox="auto")
    await site.ended(story)
    facts = site.facts(story)
    assert ends(facts) == {(0, 0): 3, (0, 1): 3}, site.told(story)
    ended = [fact for fact in facts if fact["event"] == "task" and fact["kind"] == "exited"]
    assert [[said["code"] for said in fact["notes"]] for fact in ended] == [["after_hook_failed"]] * 2
    assert "\n[hooks.before] exit 0\nby before\n[hooks.after] " in site.log(story, 0, 0)
    refused = replace(story, attempt=2, commands=(replace(hooked, before=Hook(argv=("/bin/false",))),))
    await site.submit(refused, sandbox="auto")
    await site.ended(refused)
    verdicts = {fact["verdict"]["code"] for fact in site.facts(refused) if fact.get("kind") == "exited"}
    assert verdicts == {"before_failed"}


async def test_a_plain_gang_has_its_cards_and_a_cpu_job_beside_it_none(site: Site) -> None:
    with_cards = gang_of((Role("w", 4, Resources(cpu=1, memory_mib=256, gpu=2)), "echo $CUDA_VISIBLE_DEVICES; sleep 2"))
    without = gang_of((Role("w", 4, Resources(cpu=1, memory_mib=256)), 'echo "<$CUDA_VISIBLE_DEVICES>"'))
    await site.submit(with_cards, sandbox="auto")
    await site.submit(without)
    for story in (with_cards, without):
        await site.ended(story)
        assert ends(site.facts(story)) == dict.fromkeys([(0, 0), (0, 1), (0, 2), (0, 3)], 0), site.told(story)
    assert [site.log(with_cards, 0, index) for index in range(4)] == ["0,1\n"] * 4
    assert [site.log(without, 0, index) for index in range(4)] == ["<>\n"] * 4


async def test_a_job_that_slurm_runs_twice_runs_the_command_once(site: Site) -> None:
    story = gang_of(
        (
            Role("w", 2, Resources(cpu=1, memory_mib=256)),
            "echo ran >> $TRAINMASTER_OUTPUT_DIR/$TRAINMASTER_INDEX; sleep 600",
        )
    )
    number = str(await site.submit(story))
    await site.until(lambda: sum(fact.get("kind") == "running" for fact in site.facts(story)) == 2, "both run")
    await site.commands.run("scontrol", "update", f"JobId={number}", "Requeue=1")
    again: list[Path] = []
    for _ in range(3):  # a run that Slurm itself fails to start, as it may so soon after the first, says nothing
        await site.commands.run("scontrol", "requeue", number)
        while (await site.state(story)).words != ("PENDING",):
            await asyncio.sleep(0.2)
        await site.commands.run("scontrol", "update", f"JobId={number}", "StartTime=now")
        state = await site.ended(story)
        if again := list(Path(site.folder(story).path).glob("again-*.jsonl")):
            break
    assert again, site.told(story)
    assert state.words == ("COMPLETED",), site.told(story)
    outputs = Path(site.layout.outputs(story.job))
    assert {path.name: path.read_text() for path in outputs.iterdir()} == {"0": "ran\n", "1": "ran\n"}
    assert "started before" in site.words(story)
    assert len(ends(site.facts(story))) == 2


async def test_scancel_gives_the_grace_and_leaves_nothing(site: Site) -> None:
    text = "trap 'echo asked; exit 5' TERM; echo up; while :; do sleep 0.1; done"
    story = gang_of((Role("w", 2, Resources(cpu=3, memory_mib=256)), text))
    number = await site.submit(story, grace_s=4.0)  # after 5 Slurm itself kills them
    await site.until(lambda: sum(fact.get("kind") == "running" for fact in site.facts(story)) == 2, "both run")
    await site.until(lambda: all(site.log(story, 0, index) for index in (0, 1)), "both are up")
    await site.commands.run("scancel", str(number))
    assert (await site.ended(story)).code == "stopped"
    await site.until(lambda: sum(fact["event"] == "left" for fact in site.facts(story)) == 2, "both have left")
    assert ends(site.facts(story)) == {(0, 0): 5, (0, 1): 5}


async def test_a_gang_that_cannot_start_on_one_node_starts_on_none(site: Site) -> None:
    good, bad = Role("good", 1, Resources(cpu=1, memory_mib=256)), Role("bad", 1, Resources(cpu=2, memory_mib=256))
    story = gang_of((good, "sleep 600"), (bad, "true"))
    story = replace(story, commands=(story.commands[0], RoleCommand(argv=("/no/such/program",))))
    await site.submit(story)
    await site.ended(story)
    facts = site.facts(story)
    assert [fact["code"] for fact in facts if fact["event"] == "refused"] == ["command_not_found"]
    assert (0, 0) not in [task for task, code in ends(facts).items() if code == 0]


async def test_before_slurms_time_limit_a_job_is_asked_to_end(site: Site) -> None:
    """Slurm's clock is coarse: with a minute left the signal comes when it looks next. It comes once, and to what runs
    by then alone.
    """
    story = gang_of((Role("w", 1, Resources(cpu=1, memory_mib=256)), "sleep 600"))
    number = await site.submit(story, Terms("batch", limit_s=300, grace_s=1))
    await site.until(lambda: any(fact.get("kind") == "running" for fact in site.facts(story)), "it runs")
    await site.commands.run("scontrol", "update", f"JobId={number}", "TimeLimit=1")
    await site.until(lambda: site.facts(story)[-1]["event"] == "left", "Slurm ends it")
    assert "ending" in [fact["event"] for fact in site.facts(story)]
    assert (await site.ended(story)).standing == "ended"


async def test_a_cluster_that_is_away_is_said_and_comes_back(site: Site) -> None:
    story = gang_of((Role("w", 1, Resources(cpu=1, memory_mib=256)), "sleep 3; echo survived"))
    await site.submit(story)
    await site.until(lambda: any(fact.get("kind") == "running" for fact in site.facts(story)), "it runs")
    site.bed.ask("scontrol", "ping")
    site.bed.kill("slurmctld", signal.SIGTERM)
    with pytest.raises(ClusterDown, match="does not answer"):
        await site.state(story)
    await site.until(lambda: ends(site.facts(story)) == {(0, 0): 0}, "it goes on without its controller")
    site.bed.start_controller()
    await site.ended(story)
    assert site.log(story, 0, 0) == "survived\n"
    assert not os.path.exists(site.folder(story).again("0-n1"))
