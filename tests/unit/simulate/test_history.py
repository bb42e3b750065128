"""The platform's own past as a workload: a simulated job asks for exactly what its job asked for."""

from dataclasses import replace
from typing import Any

import msgspec

from tests.builders import job, node
from tests.unit.simulate.workloads import machines
from trainmaster import answers
from trainmaster.core.records import Job, Node, PortRequest, Resources, Role
from trainmaster.core.states import Priority
from trainmaster.queue.ordering.classes import pending_of
from trainmaster.simulate.history import asked_view, from_history, nodes_of
from trainmaster.simulate.run import SimulationOutcome, SimulationSetting, Watcher, simulate
from trainmaster.simulate.workload import Workload
from trainmaster.simulate.world import World


def past(*jobs: Job) -> Workload:
    """Return the workload of jobs whose past came over the API."""
    sent = msgspec.json.encode([asked_view(one) for one in jobs])
    return from_history(msgspec.json.decode(sent, type=list[answers.AskedView]))


def ended(name: str, submitted: float, started: float | None, end: float, *roles: Role, **fields: Any) -> Job:
    made = Job(name, name, "ann", roles, "", submitted, workspace="lab", started_at=started, ended_at=end, **fields)
    return replace(made, policy=replace(made.policy, duration_s=600.0))


CARD = Role("card", 1, Resources(0.5, 256, 1, gpu_milli=460), flavor="half")
GANG = Role("gang", 4, Resources(2, 512, 2, "A100"), (PortRequest("http", 2),), min_replicas=2)


def test_ended_jobs_become_records() -> None:
    one, two = Role("worker", 1, Resources(2, 512, 1)), Role("worker", 4, Resources(1, 256, 8))
    work = past(
        ended("a", 1000.2, 1001.0, 1031.4, one),
        ended("b", 1100.5, 1105.0, 1200.0, one, two),
        ended("c", 1150.0, None, 1160.0, one),
    )
    first, second = work.jobs
    assert (first.id, first.submit_s, first.work_s, first.limit_s, first.workspace) == ("a", 0, 30, 600, "lab")
    assert (second.submit_s, second.work_s, second.cards) == (100, 95, 33)
    assert work.notes == ("1 job that never ran is left out",)


class _Seen(Watcher):
    """Keeps every job as it was submitted in the simulation."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submitted(self, world: World, job: Job, now: int) -> None:
        self.jobs.append(job)


def run(*jobs: Job, nodes: tuple[Node, ...]) -> tuple[SimulationOutcome, list[Job]]:
    seen = _Seen()
    return simulate(past(*jobs), nodes, SimulationSetting(), watcher=seen), seen.jobs


def test_a_simulated_job_asks_for_what_the_job_asked_for() -> None:
    """Shares of cards, the fewest replicas, ports, flavors in order, chosen nodes, driver, virtual cluster,
    priority.
    """
    big = Role("card", 1, Resources(8, 256, 4, "V100"), flavor="four")
    nodes = (node("n1", gpus=8, driver="535"), node("n2", gpus=8, driver="535"))
    jobs = (
        ended("shared", 0.0, 5.0, 9.0, CARD, priority=Priority.URGENT, preemptible=True, virtual_cluster="vc"),
        ended("gang", 1.0, 5.0, 9.0, GANG, CARD, node_names=("n2",), driver="535"),
        ended("flavors", 2.0, 5.0, 9.0, CARD, shapes=((CARD,), (big,))),
    )
    _, simulated = run(*jobs, nodes=nodes)
    assert len(simulated) == 3
    for had, made in zip(jobs, simulated, strict=True):
        wanted = replace(
            pending_of(replace(had, started_at=None)), order=(had.submitted_at, made.seq), queued_at=made.queued_at
        )
        assert pending_of(made) == wanted
        assert made.preemptible == had.preemptible


def test_two_halves_of_a_card_run_at_once() -> None:
    half = Role("half", 1, Resources(0.5, 256, 1, gpu_milli=500))
    outcome, _ = run(*(ended(name, 0.0, 0.0, 100.0, half) for name in "abc"), nodes=machines("1x1"))
    assert [row.wait_s for row in outcome.rows] == [0, 0, 100]
    assert [row.job.cards for row in outcome.rows] == [0.5] * 3


def test_a_job_that_ran_with_fewer_replicas_has_as_much_to_do() -> None:
    """With the whole gang it takes half of what it took with half of it."""
    whole = Role("gang", 4, Resources(1, 256, 1), min_replicas=1)
    ran = replace(whole, replicas=2)
    small = ended("small", 0.0, 0.0, 100.0, ran, shapes=((whole,),))
    assert [run(small, nodes=machines(text))[0].rows[0].end_s for text in ("1x4", "1x2")] == [50, 100]


def test_a_job_that_no_machine_can_run_as_it_was_asked_for_is_refused() -> None:
    far, new = ended("far", 0.0, 0.0, 9.0, CARD, node_names=("n9",)), ended("new", 0.0, 0.0, 9.0, CARD, driver="9")
    assert [row.state for row in run(far, new, nodes=machines("1x8"))[0].rows] == ["refused", "refused"]


def test_jobs_of_one_second_keep_their_order() -> None:
    batch = [replace(job(name).role(gpu=1).done(), started_at=2e9, ended_at=2e9) for name in ("z", "a", "m")]
    assert [one.id for one in past(*batch).jobs] == [one.id for one in batch]


def test_the_machines_of_the_cluster_page() -> None:
    card = answers.CardView(index=0, model="A100", uses=[], utilisation=None, memory_mib=None, memory_total_mib=None)
    nodes = [
        answers.NodeView(
            name="n1",
            host="10.0.0.1",
            pool="default",
            schedulable=False,
            reason=None,
            simulated=False,
            facts={"driver": driver},
            cpu=answers.Used(used=0, total=8),
            memory_mib=answers.Used(used=0, total=1024),
            gpus=[card],
            tasks=[],
        )
        for driver in ("535.1", "none")
    ]
    queue, sandbox = answers.QueueView(waiting=0, running=0), answers.Sandbox(kind="none", detail="")
    found, other = nodes_of(answers.ClusterView(nodes=nodes, pools=[], queue=queue, sandbox=sandbox))
    assert (found.cpu, found.memory_mib, found.gpus, found.schedulable) == (8.0, 1024, ("A100",), True)
    assert (found.driver, other.driver) == ("535.1", "")
