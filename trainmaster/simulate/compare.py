"""Several policies, each as it is and with more machines or other quotas and weights, on one workload."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from trainmaster.core.records import Node
from trainmaster.queue.ordering.rights import Rights
from trainmaster.simulate.clusters import added
from trainmaster.simulate.policies import parse_policy
from trainmaster.simulate.run import Fault, Progress, SimulationOutcome, SimulationSetting, simulate
from trainmaster.simulate.workload import Workload, check_limits


@dataclass(frozen=True, slots=True)
class Variation:
    """What is different the second time: the machines, or who may hold what. `label` follows that of the setting."""

    label: str
    nodes: Callable[[tuple[Node, ...]], tuple[Node, ...]] = lambda nodes: nodes
    rights: Callable[[Rights], Rights] = lambda rights: rights


def more_nodes(description: str) -> Variation:
    """Return the change to more machines, `clusters.added`."""
    words = f"{description} {'node' if description == '1' else 'nodes'}" if description.isdigit() else description
    return Variation(f" + {words}", lambda nodes: added(nodes, description))


def settings(
    policies: Sequence[str],
    limits: str = "auto",
    start_cost_s: int = 0,
    faults: tuple[Fault, ...] = (),
    rights: Rights | None = None,
) -> list[SimulationSetting]:
    """Return one setting per policy as asked for by name; one that orders by limit alone is told exact ones.

    Raises InvalidSpec.
    """
    check_limits(limits)
    found = {text: parse_policy(text) for text in policies}
    return [
        SimulationSetting(
            policy,
            text,
            "exact" if policy.ordering == "sjf" else limits,
            start_cost_s=start_cost_s,
            faults=faults,
            rights=rights or Rights(),
        )
        for text, policy in found.items()
    ]


def compare(
    workload: Workload,
    nodes: Sequence[Node],
    wanted: Sequence[SimulationSetting],
    changes: Sequence[Variation] = (),
    line: Callable[[str], Progress] | None = None,
) -> Iterator[SimulationOutcome]:
    """Yield the outcome of every setting, as it is and, if there are any, with all of `changes`.

    `line` gives the progress of a label.
    """
    for setting in wanted:
        yield _outcome(workload, nodes, setting, line)
        if changes:
            there, rights = tuple(nodes), setting.rights
            for change in changes:
                there, rights = change.nodes(there), change.rights(rights)
            label = setting.label + "".join(change.label for change in changes)
            yield _outcome(workload, there, replace(setting, label=label, rights=rights), line)


def _outcome(
    workload: Workload, nodes: Sequence[Node], setting: SimulationSetting, line: Callable[[str], Progress] | None
) -> SimulationOutcome:
    return simulate(workload, nodes, setting, line(setting.label) if line else None)
