"""Suggestions to gangs of several roles, with shares of cards, ports, chosen nodes: what is named works, the cheapest
is first.
"""

from dataclasses import replace

from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.unit.queue.worlds import World, mixed
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.explaining.suggest import suggest
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED, QueuePolicy

policies = st.sampled_from((*NAMED.values(), replace(DEFAULT, packing="worst-fit"), replace(DEFAULT, packing="fgd")))


@settings(max_examples=examples(120))
@given(mixed(), policies)
def test_every_change_works_when_applied(world: World, policy: QueuePolicy) -> None:
    for name, usage in world.running.items():  # limits long enough for shorter ones to be named
        world.running[name] = replace(usage, ends_at=world.now + 10 * (usage.ends_at - world.now))
    world.waiting = {name: replace(one, limit_s=10 * one.limit_s) for name, one in world.waiting.items()}
    while (made := plan(world.snapshot(), world.now, policy)).starts:
        world.start(made)
    seen, mix = world.snapshot(), world.mix
    for name, one in world.waiting.items():
        told = suggest(seen, one, explain(seen, one, made), made, policy=policy)
        assert [change.loss for change in told] == sorted(change.loss for change in told)
        for change in told:
            event(next(iter(change.change)).split(".")[-1])
            after = replace(world, waiting={**world.waiting, name: change.job})
            again = plan(replace(after.snapshot(), mix=mix), world.now, policy)
            assert name in {start.job for start in again.starts}, change.change
