"""What breaks below a job on a cluster, through the whole server: nothing is lost, nothing runs twice, every end has
its reason.

TRAINMASTER_TEST_KILLS sets how often the controller is killed (default 20).
"""

import contextlib
import logging
import os
import signal
import time
from pathlib import Path
from typing import Any, Final

import pytest

from tests.slurm.bed import Bed, until
from tests.slurm.served import POOL, Served, job

pytestmark = pytest.mark.timeout(300)

log = logging.getLogger(__name__)
KILLS: Final = min(int(os.environ.get("TRAINMASTER_TEST_KILLS", "20")), 20)
RAN: Final = 'echo ran >> "$TRAINMASTER_OUTPUT_DIR/ran"; '
GO: Final = (
    RAN + 'until [ -e "$TRAINMASTER_OUTPUT_DIR/go" ]; do sleep 0.1; done; echo end >> "$TRAINMASTER_OUTPUT_DIR/ran"'
)
ONCE: Final = "ran\nend\n"


@pytest.fixture(autouse=True)
def _whole(served: Served) -> None:
    """Begin on a cluster that is whole and idle. A node that Slurm told of a duplicate is drained, and what it lost on
    a busy machine is told again after half a minute: that is the end of the test before.
    """
    for number in range(1, served.bed.nodes + 1):
        served.bed.run("scontrol", "update", f"NodeName=n{number}", "State=RESUME")
    served.bed.until_idle()


def go(served: Served, *jobs: str) -> None:
    """Let jobs that run GO end."""
    for one in jobs:
        Path(served.layout.outputs(one), "go").touch()


def plain(view: dict[str, Any]) -> tuple[str, str, str]:
    """Return what people see of an end: state, verdict, words."""
    return view["state"], view["verdict"]["code"], view["verdict"]["message"]["en"]


def says(view: dict[str, Any], words: str) -> bool:
    """Whether this is the reason for which a job waits; it may have had another one before."""
    return view["reason"] is not None and words in view["reason"]["message"]["en"]


def die(served: Served, job_id: str) -> None:
    """kill -9 everything that a job has on its nodes, as the death of the nodes does: agents, tasks, Slurm's own."""
    number = served.bed.ask(
        "squeue", "-h", "-o", "%A", f"--jobs={served.number(job_id)}"
    ).strip()  # of an element its own
    for pid in served.bed.processes(f"slurmstepd: [{number}.") + served.bed.processes(job_id):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def closed(bed: Bed) -> Any:
    """Let what is submitted wait."""
    bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=DOWN")
    yield
    bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=UP")


def test_a_controller_that_is_killed_right_after_every_submit(served: Served) -> None:
    """Seen: it has forgotten the job, or repeats one that runs and is told of a duplicate. Then it may cancel what
    runs, too.
    """
    jobs = []
    for number in range(KILLS):
        text = RAN + 'sleep 0.5; echo end >> "$TRAINMASTER_OUTPUT_DIR/ran"'
        jobs.append(served.submit(job(f"killed-{number}", text)))
        if number % 2:  # in the middle of the hand-over, and just after it
            served.until(jobs[-1], lambda view: view["state"] not in ("queued", "initialising"), "handed over")
        served.bed.kill("slurmctld")
        served.bed.start_controller()
    ends = [(*plain(served.ended(one)), served.output(one, "ran")) for one in jobs]
    others = [end for end in ends if end != ("succeeded", "ok", "", ONCE)]
    log.warning("%d of %d succeeded; the others: %s", KILLS - len(others), KILLS, others)
    for state, code, words, ran in others:
        assert (state, ran) == ("failed", "ran\n"), "what ran to its end has succeeded, and nothing runs twice"
        assert code in ("stopped", "lost")
        assert words.startswith("Slurm reports for the job: ")
    assert len(others) < KILLS / 2


def test_a_controller_that_has_forgotten_what_it_had_and_gives_the_same_ids_again(served: Served) -> None:
    bed = served.bed
    bed.keep()
    runs = served.running(job("forgotten-runs", RAN + "sleep 600"))
    with closed(bed):
        waits = served.submit(job("forgotten-waits", GO))
        served.state(waits, "pending")
        number = served.number(waits)
        with served.halted():  # else the id may be given to its own next attempt
            bed.forget()
            bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=DOWN")
            wraps = ("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 600")
            others = [bed.ask(*wraps).strip() for _ in range(2)]
        assert number in others
    assert plain(served.ended(runs)) == ("failed", "lost", "Slurm reports for the job: is no longer known to Slurm")
    again = served.until(waits, lambda view: view["attempts"] == 2 and view["state"] == "running", "another attempt")
    assert again["attempt_list"][0]["verdict"]["code"] == "lost"
    go(served, waits)
    assert plain(served.ended(waits)) == ("succeeded", "ok", "")
    assert (served.output(runs, "ran"), served.output(waits, "ran")) == ("ran\n", ONCE)
    assert bed.ask("squeue", "-h", "-o", "%T", f"--jobs={number}").strip() == "RUNNING", "somebody else's is left alone"
    bed.ask("scancel", *others)
    assert bed.processes(runs) == []


def test_nodes_that_die_and_nodes_whose_daemon_dies(served: Served) -> None:
    """The daemon alone: the job goes on. The whole node: lost, and started again where the job says so. What is
    orphaned ends with it.
    """
    bed = served.bed
    lives, stopped, dead, again = jobs = served.all_running(
        job(name, GO, cpu=4, fault_restarts=int(name == "again")) for name in ("lives", "stopped", "dead", "again")
    )
    node = {one: served.view(one)["nodes"][0] for one in jobs}
    for name in node.values():
        bed.kill(name)
    die(served, dead)
    die(served, again)
    try:
        assert plain(served.ended(dead)) == ("failed", "lost", "Slurm reports for the job: lost a node")
        served.until(again, lambda view: view["attempts"] == 2, "another attempt")

        def away() -> bool:  # Slurm notices one node after the other
            seen = {one["name"]: one for one in served.asking.ask("GET", "/cluster")["nodes"]}
            told = [seen[name]["reason"] for name in node.values() if not seen[name]["schedulable"]]
            return len(told) == len(jobs) and all("not responding" in one["en"].lower() for one in told)

        until(away, "the nodes are told as away")
        assert [served.view(one)["state"] for one in (lives, stopped)] == ["running", "running"]
        assert bed.processes(stopped)
        served.stop(stopped)
        assert served.ended(stopped)["state"] == "stopped"
        until(lambda: not bed.processes(stopped), "its agent leaves")
        go(served, lives, again)
        assert plain(served.ended(lives)) == ("succeeded", "ok", "")
    finally:
        for name in node.values():
            bed.start_node(name)
    assert plain(served.ended(again)) == ("succeeded", "ok", "")
    assert (served.output(lives, "ran"), served.output(again, "ran")) == (ONCE, "ran\n" + ONCE)


def test_a_server_killed_while_jobs_are_submitted_run_and_end(served: Served) -> None:
    jobs = []
    for moment in range(4):  # the hand-over takes about a tenth of a second, the start another
        jobs.append(served.submit(job(f"submitted-{moment}", GO)))
        time.sleep(0.06 * moment)  # the moment of the kill is what is tested
        served.restart()
    jobs.append(served.running(job("runs", GO)))
    served.restart()
    for one in jobs:
        served.until(one, lambda view: view["state"] == "running", "running")
    go(served, *jobs)
    served.until(jobs[0], lambda view: served.output(jobs[0], "ran") == ONCE, "the end of its program")
    served.restart()
    for one in jobs:
        view = served.ended(one)
        assert (plain(view), view["attempts"], served.output(one, "ran")) == (("succeeded", "ok", ""), 1, ONCE)


def test_what_ended_while_the_server_was_away_is_told_from_what_vanished(served: Served) -> None:
    """After so long that Slurm has forgotten all of them."""
    bed = served.bed
    bed.keep()
    ended, failed, vanished = served.all_running(
        job(name, GO + f"; exit {code}") for name, code in (("ended", 0), ("failed", 3), ("gone", 0))
    )
    served.kill_server()
    go(served, ended, failed)
    die(served, vanished)
    while bed.processes(ended) or bed.processes(failed):
        time.sleep(0.1)  # they are no children of ours
    bed.forget()
    served.spawn()
    assert plain(served.ended(ended))[:2] == ("succeeded", "ok")
    view = served.ended(failed)
    assert (plain(view)[:2], view["task_list"][0]["exit_code"]) == (("failed", "exit_code"), 3)
    assert plain(served.ended(vanished)) == ("failed", "lost", "Slurm reports for the job: is no longer known to Slurm")
    assert [served.output(one, "ran") for one in (ended, failed, vanished)] == [ONCE, ONCE, "ran\n"]


def test_a_cluster_that_is_down_for_a_while(served: Served) -> None:
    bed = served.bed
    before = served.running(job("before", GO))
    for name in ("n1", "n2", "n3", "n4", "slurmctld"):  # who has lost its controller may wait for it as it ends
        bed.kill(name, signal.SIGTERM)
    during = served.submit(job("during", GO))
    view = served.until(during, lambda view: says(view, "does not answer"), "the reason")
    assert view["reason"]["decided_by"] == "cluster"
    near = served.submit({**job("near", "true"), "pool": "default"})
    assert served.ended(near)["state"] == "succeeded"
    assert served.view(before)["state"] == "running"
    go(served, before)
    for name in ("n1", "n2", "n3", "n4"):
        bed.start_node(name)
    bed.start_controller()
    served.state(during, "running")
    go(served, during)
    assert [plain(served.ended(one)) for one in (before, during)] == [("succeeded", "ok", "")] * 2
    assert [served.output(one, "ran") for one in (before, during)] == [ONCE, ONCE]


def test_a_shared_folder_that_cannot_be_written(served: Served) -> None:
    """Nothing is submitted meanwhile; it goes on when it is mended."""
    jobs = Path(served.layout.bulk, "jobs")
    aside = jobs.rename(jobs.with_name("aside"))
    jobs.touch()
    try:
        one = served.submit(job("unwritable", RAN + 'echo end >> "$TRAINMASTER_OUTPUT_DIR/ran"'))
        view = served.until(one, lambda view: says(view, "The shared folder cannot be written: "), "the reason")
        assert (view["state"], served.number(one)) == ("initialising", "")
    finally:
        jobs.unlink()
        aside.rename(jobs)
    assert plain(served.ended(one)) == ("succeeded", "ok", "")
    assert served.output(one, "ran") == ONCE


def test_what_the_clusters_administrator_does(served: Served) -> None:
    bed = served.bed
    cancelled, put_back = served.all_running(job(name, GO, fault_restarts=1) for name in ("cancelled", "put-back"))
    bed.ask("scancel", served.number(cancelled))
    number = served.number(put_back)
    bed.ask("scontrol", "update", f"JobId={number}", "Requeue=1")
    bed.ask("scontrol", "requeue", number)
    assert plain(served.ended(cancelled)) == ("failed", "stopped", "Slurm reports for the job: was cancelled in Slurm")
    first = served.until(put_back, lambda view: view["attempts"] == 2, "another attempt")["attempt_list"][0]["verdict"]
    assert (first["code"], first["message"]["en"]) == ("lost", "Slurm reports for the job: was requeued")
    go(served, put_back)
    assert plain(served.ended(put_back)) == ("succeeded", "ok", "")
    assert served.output(put_back, "ran") == "ran\n" + ONCE
    with closed(bed):
        held, never = served.submit(job("held", GO)), served.submit(job("never", GO))
        for one in (held, never):
            served.state(one, "pending")
        bed.ask("scontrol", "hold", served.number(held))
        bed.ask("scancel", served.number(never))
    words = "Slurm ended the job before it ran: was cancelled in Slurm"
    assert plain(served.ended(never)) == ("failed", "stopped", words)
    view = served.until(held, lambda view: "Held" in (view["reason"] or {"code": ""})["code"], "held")
    assert view["reason"]["message"]["en"] == "Held by an administrator of the cluster"
    bed.ask("scontrol", "release", served.number(held))
    served.state(held, "running")
    go(served, held)
    assert plain(served.ended(held)) == ("succeeded", "ok", "")


def test_jobs_that_must_make_room_for_others_of_the_cluster(served: Served) -> None:
    bed = served.bed
    ends, again = served.all_running(
        job(name, GO, cpu=4, replicas=2, fault_restarts=int(name == "again")) for name in ("ends", "again")
    )
    other = bed.ask(
        "sbatch", "--parsable", "-p", "urgent", "-N2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600"
    ).strip()
    victim = ends if "n1" in served.view(ends)["nodes"] else again
    words = "Slurm reports for the job: was preempted by another job in Slurm"
    view = served.until(victim, lambda view: view["attempt_list"][0]["verdict"], "preempted")
    assert view["attempt_list"][0]["verdict"]["message"]["en"] == words
    bed.ask("scancel", other)
    go(served, ends, again)
    for one in (ends, again):
        assert served.ended(one)["state"] == ("failed" if one == victim == ends else "succeeded")
