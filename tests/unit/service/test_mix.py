"""What is asked for of late reaches the fgd packing: in the service, over a restart, and in the simulator."""

from dataclasses import replace

from tests.builders import EPOCH, job, node
from tests.unit.simulate.workloads import of
from trainmaster.core.config import LocalConfig
from trainmaster.core.records import Job, Resources, Role
from trainmaster.core.states import JobState
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.service.scheduling.scheduling import Scheduling
from trainmaster.simulate.run import SimulationSetting, simulate
from trainmaster.simulate.workload import Recorded

NODES = (node("n1", cpu=16, gpus=2), node("n2", cpu=34, gpus=4))
MANY_CORES, GREEDY = (Role("w", 1, Resources(cpu=cpu, memory_mib=0, gpu=1)) for cpu in (8.0, 10.0))
FGD = replace(DEFAULT, packing="fgd")
"""Where cards are asked for with eight cores each, ten of sixteen leave n1's other card without enough."""


def small(number: int) -> Job:
    return job(f"small{number}").seq(number).fields(roles=(MANY_CORES,)).done()


def scheduling(policy: QueuePolicy) -> Scheduling:
    found = Scheduling(LocalConfig(), "/home-of-a-test", lambda _: 1)
    found.set_nodes(NODES)
    found.set_rules(policy, {}, {})
    return found


def goes_to(found: Scheduling) -> str:
    """Submit the greedy job and return its node."""
    found.moved(None, job("greedy").seq(99).fields(roles=(GREEDY,)).done())
    (placed,) = found.schedule(EPOCH)
    return str(placed.data["placement"][0]["node"])


def test_jobs_that_are_gone_still_say_what_is_asked_for_of_late() -> None:
    for policy, where in ((DEFAULT, "n1"), (FGD, "n2")):
        found = scheduling(policy)
        for number in range(10):
            found.moved(None, small(number))
            found.moved(small(number), replace(small(number), state=JobState.STOPPED))
        assert goes_to(found) == where


def test_after_a_restart_it_is_known_from_the_ledger() -> None:
    found = scheduling(FGD)
    found.restore([small(9)], [(MANY_CORES,)] * 10)
    found.moved(small(9), replace(small(9), state=JobState.STOPPED))
    assert goes_to(found) == "n2"


def test_the_simulator_packs_by_what_it_was_asked_for() -> None:
    early = [Recorded(str(n), n, 0, 5, (MANY_CORES,), None) for n in range(6)]
    late = Recorded("greedy", 7, 1000, 5, (GREEDY,), None)
    for policy, where in ((DEFAULT, "n1"), (FGD, "n2")):
        assert simulate(of(*early, late), NODES, SimulationSetting(policy=policy)).rows[-1].nodes == (where,)
