"""Several policies, and machines with and without more nodes, on one workload."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from trainmaster.core.records import Node
from trainmaster.simulate.clusters import added
from trainmaster.simulate.policies import parse_policy
from trainmaster.simulate.run import Fault, Outcome, Progress, Setting, simulate
from trainmaster.simulate.workload import Workload, check_limits


def settings(
    policies: Sequence[str], limits: str = "auto", start_cost_s: int = 0, faults: tuple[Fault, ...] = ()
) -> list[Setting]:
    """Return one setting per policy as asked for by name; one that orders by limit alone is told exact ones.

    Raises InvalidSpec.
    """
    check_limits(limits)
    found = {text: parse_policy(text) for text in policies}
    return [
        Setting(policy, text, "exact" if policy.ordering == "sjf" else limits, start_cost_s=start_cost_s, faults=faults)
        for text, policy in found.items()
    ]


def compare(
    workload: Workload, nodes: Sequence[Node], wanted: Sequence[Setting], add_nodes: str | None = None,
    line: Callable[[str], Progress] | None = None,
) -> Iterator[Outcome]:  # fmt: skip
    """Yield the outcome of every setting; with `add_nodes` also on more machines. `line` gives the progress of a label."""
    machines = [("", tuple(nodes))]
    if add_nodes is not None:
        machines.append(
            (f" + {add_nodes} nodes" if add_nodes.isdigit() else f" + {add_nodes}", added(nodes, add_nodes))
        )
    for setting in wanted:
        for words, where in machines:
            label = setting.label + words
            yield simulate(workload, where, replace(setting, label=label), line(label) if line else None)
