"""What would start a waiting job now (B1): every change that is named works, and the first one is the cheapest that
does.
"""

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.builders import job, node, snapshot
from tests.fixtures.examples import examples
from tests.unit.queue.worlds import World, worlds
from trainmaster.core.records import Job, Resources, Role
from trainmaster.core.states import Priority
from trainmaster.messages.render import text
from trainmaster.queue.explaining.changes import DEAR, LAST, Suggestion
from trainmaster.queue.explaining.explain import explain, preview
from trainmaster.queue.explaining.suggest import DECIDING_S, MINUTE_S, suggest
from trainmaster.queue.ordering.classes import PendingQueue, pending_of, without
from trainmaster.queue.ordering.quota import Account, Quota
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED, QueuePolicy
from trainmaster.queue.snapshot import Pending, Reason, Request, Snapshot, Start, Usage

NODES = (node("n1", gpus=4), node("n2", gpus=4, model="V100"), node("n3", cpu=4, memory_mib=8192))


def running(attempt: str, what: Job, room: Capacity) -> Usage:
    """Let a job run where it fits in `room`."""
    from trainmaster.queue.placing.fit import fit

    placed = fit(room, what.roles, what.pool)
    assert placed is not None
    room.hold(attempt, what.roles, placed)
    return Usage(attempt, what.id, what.roles, placed)


def waiting(name: str, gpu: int, seq: int, duration_s: float | None = None) -> Pending:
    """One that waits since second 0."""
    made = job(name).role(gpu=gpu).policy(duration_s=duration_s).seq(seq).fields(submitted_at=0.0).done()
    return pending_of(made)


def queue(*jobs: Pending) -> PendingQueue:
    made = PendingQueue()
    for one in jobs:
        made.put(one)
    return made


def found(seen: Snapshot, waits: Pending, policy: QueuePolicy = DEFAULT) -> tuple[Suggestion, ...]:
    """Return what is suggested to one who waits."""
    made = plan(seen, 0.0, policy)
    return suggest(seen, waits, explain(seen, waits, made), made, policy=policy)


def only(seen: Snapshot) -> Pending:
    return seen.pending[0].jobs[0]


def test_suggestions_are_changes_that_would_start_it_now() -> None:
    """Another card model, fewer cards, fewer replicas; each alone is enough."""
    room = Capacity(NODES)
    running("holder-1", job("holder").role(gpu=3, gpu_type="A100").done(), room)
    seen = snapshot(NODES, job("waits").role("w", 2, gpu=2, gpu_type="A100").done(), capacity=room)
    assert [s.change for s in found(seen, only(seen))] == [{"roles.0.resources.gpu_type": "V100"}]
    running("holder-2", job("other").role(gpu=3, gpu_type="V100").done(), room)
    seen = snapshot(NODES, job("waits").role("w", 1, gpu=2, gpu_type="A100").done(), capacity=room)
    (one,) = found(seen, only(seen))
    assert (one.change, text(one.message)) == ({"roles.0.resources.gpu": 1}, "Use 1 GPU instead of 2 for sub-task w")
    four = snapshot(NODES, job("four").role("w", 4, gpu=1).done(), capacity=room)
    assert [s.change for s in found(four, only(four))] == [{"roles.0.replicas": 2}]


EASY = NAMED["fifo-easy"]
ONE = (node("n1", gpus=4),)


def half_held(*jobs: Pending) -> Snapshot:
    """One node of four cards, of which two are held for ten minutes more; `jobs` wait."""
    room = Capacity(ONE)
    holds = replace(running("holds-1", job("holds").role(gpu=2).done(), room), ends_at=600.0)
    return Snapshot(ONE, (holds,), queue(*jobs).snapshot_classes(), capacity=room)


def test_a_limit_is_suggested_that_still_fits_when_the_person_has_read_it() -> None:
    """It has to be gone before the head starts, and somebody has to decide first."""
    late = waiting("late", 2, 3, 1000)
    shorter, urgent = found(half_held(waiting("head", 4, 2), late), late, EASY)
    assert shorter.change == {"duration": 600.0 - DECIDING_S}
    assert text(shorter.message) == "Shorten the time limit to 9m"
    assert urgent.change == {"priority": "urgent"}
    endless = waiting("endless", 2, 3)
    given, _ = found(half_held(waiting("head", 4, 2), endless), endless, EASY)
    assert (given.change, text(given.message)) == ({"duration": 540.0}, "Set a time limit of 9m")


def test_what_is_over_of_a_limit_counts_with_a_shorter_one() -> None:
    """A job that ran for a minute and waits again: its duration counts from its first start, that of a copy anew."""
    late = replace(waiting("late", 2, 3), limit_s=940.0)
    seen = half_held(waiting("head", 4, 2), late)
    made = plan(seen, 0.0, EASY)
    first = suggest(seen, late, explain(seen, late, made), made, policy=EASY, spent_s=60.0)[0]
    assert (first.change, first.job.limit_s) == ({"duration": 600.0}, 540.0)


def test_a_shorter_limit_may_also_bring_its_turn_before_the_head() -> None:
    """Three quarters of what it asks for count as time in the line: with less than the head it is before it."""
    policy, late = replace(DEFAULT, fair_weight_s=0.0), waiting("late", 2, 3, 7200)
    told = found(half_held(waiting("head", 4, 2, 3600), late), late, policy)
    assert [one.change for one in told] == [{"priority": "urgent"}, {"duration": 3540.0}]


def test_before_the_submit_a_limit_is_suggested_that_keeps_its_turn_while_the_person_decides() -> None:
    """Who is not in the line yet comes later by as much: 0.75 x 58 minutes and that minute are less than 0.75 x 60."""
    policy, late = replace(DEFAULT, fair_weight_s=0.0), replace(waiting("late", 2, 3, 7200), order=(0.0, LAST))
    head = replace(waiting("head", 4, 2, 3600), order=(0.0, 1))
    told = found(half_held(head, late), late, policy)
    assert [one.change for one in told] == [{"priority": "urgent"}, {"duration": 3480.0}]


def test_a_copy_does_not_have_the_turn_of_the_first() -> None:
    """With a card less it would fit; but the first gives up its turn, and who is next is promised all four cards."""
    first, next_one = waiting("first", 3, 1), waiting("next", 4, 2)
    assert [s.change for s in found(half_held(first), first, EASY)] == [{"roles.0.resources.gpu": 2}]
    assert found(half_held(first, next_one), first, EASY) == ()


FLAVORS = {
    "core": Resources(0.5, 512),
    "card": Resources(1.0, 512, 1),
    "card-b": Resources(1.0, 512, 1, "B"),
    "four": Resources(4.0, 4096, 4),
}
SHARES = {(Account("cluster", name), "default"): Quota({"gpu": most}) for name, most in (("", 1000), ("vc", 3000))}
policies = st.sampled_from((*NAMED.values(), replace(DEFAULT, backfill="easy-shortest")))


@st.composite
def settled(draw: st.DrawFn) -> tuple[World, QueuePolicy]:
    """A cluster on which nobody can start any more. Some who wait have flavors, or a virtual cluster."""
    world, policy = draw(worlds()), draw(policies)
    flavored, shared = draw(st.sets(st.integers(0, 9))), draw(st.sets(st.integers(0, 9)))
    if draw(st.booleans()):
        world.quotas |= SHARES
    for name, usage in world.running.items():  # limits long enough for shorter ones to be named
        world.running[name] = replace(usage, ends_at=world.now + 10 * (usage.ends_at - world.now))
    for number, (name, one) in enumerate(world.waiting.items()):
        shapes = [tuple(replace(role, flavor="four") for role in shape) for shape in one.request.shapes[:1]]
        request = Request(one.pool, tuple(shapes)) if number in flavored else one.request
        tenant = one.tenant._replace(cluster="vc") if number in shared and one.pool == "default" else one.tenant
        world.waiting[name] = replace(one, request=request, tenant=tenant, limit_s=10 * one.limit_s)
    while (made := plan(world.snapshot(), world.now, policy)).starts:
        world.start(made)
    return world, policy


def starts(world: World, policy: QueuePolicy, name: str, changed: Pending) -> bool:
    """Whether the next pass starts one that waits, once it is changed so."""
    after = replace(world, waiting={**world.waiting, name: changed})
    return name in {start.job for start in plan(after.snapshot(), world.now, policy).starts}


@settings(max_examples=examples(80))
@given(settled())
def test_every_change_works_when_applied(cluster: tuple[World, QueuePolicy]) -> None:
    """With nothing else changed the very next pass starts the job as changed."""
    world, policy = cluster
    seen = world.snapshot()
    made = plan(seen, world.now, policy)
    for name, one in world.waiting.items():
        for change in suggest(seen, one, explain(seen, one, made), made, FLAVORS, policy):
            assert one.roles[0].flavor is None or not any(".resources." in path for path in change.change)
            assert starts(world, policy, name, change.job), change.change


@settings(max_examples=examples(80))
@given(settled(), st.booleans())
def test_a_change_made_before_the_submit_works_too(cluster: tuple[World, QueuePolicy], beside: bool) -> None:
    """Of one that would come beside all who wait, or instead of one of them."""
    world, policy = cluster
    for one in world.waiting.values():
        me = replace(one, job="me", order=(world.now, LAST))
        seen = world.snapshot()
        if not beside:
            seen = replace(seen, pending=without(seen.pending, one))
        judged = preview(seen, me, world.now, policy)
        if isinstance(judged.found, Reason):
            for change in suggest(judged.snapshot, me, judged.found, judged.made, FLAVORS, policy):
                assert isinstance(preview(seen, change.job, world.now, policy).found, Start), change.change


def every(world: World, one: Pending) -> Iterator[tuple[float, Pending]]:
    """Yield (what is given up, the job as changed) for every change there is, by its own arithmetic."""
    if one.priority < Priority.VERY_URGENT:
        yield DEAR, replace(one, priority=one.priority + 1)
    for minutes in range(1, 40):
        if minutes * MINUTE_S < one.limit_s:
            loss = 1 - minutes * MINUTE_S / one.limit_s if one.limit_s < 1e9 else DEAR
            yield loss, replace(one, limit_s=minutes * MINUTE_S)
    copy = replace(one, order=(world.now, LAST))
    clusters = ["", "vc"] if world.quotas.keys() & SHARES.keys() else [""]
    pools = {n.pool for n in world.nodes if n.schedulable}
    for pool, cluster in [(pool, "") for pool in pools] + [("default", cluster) for cluster in clusters]:
        if (pool, cluster) != (one.pool, one.tenant.cluster):
            tenant = one.tenant._replace(cluster=cluster)
            yield 0.0, replace(copy, request=replace(one.request, pool=pool), tenant=tenant)
    role = one.roles[0]
    for loss, changed in _roles(role, world):
        roles = [(changed(shape[0]),) for shape in one.request.shapes]
        yield loss, replace(copy, request=replace(one.request, shapes=tuple(dict.fromkeys(roles))))


def _roles(role: Role, world: World) -> Iterator[tuple[float, object]]:
    ask = role.resources
    if role.flavor is not None:
        for name, other in FLAVORS.items():
            if name != role.flavor and (other.gpu or not ask.gpu):  # nobody gives up all cards
                had, has = (ask.gpu, ask.cpu, ask.memory_mib), (other.gpu, other.cpu, other.memory_mib)
                loss = max(0.0, *(1 - new / old for old, new in zip(had, has, strict=True) if old))
                yield loss, lambda each, o=other, n=name: replace(each, resources=replace(o, shm_mib=0), flavor=n)
    else:
        for name in ("gpu", "cpu"):
            asked = getattr(ask, name)
            for less in range(1, 4):
                if less < asked:
                    yield 1 - less / asked, lambda each, f=name, n=less: _asking(each, **{f: n})
        for model in {model for n in world.nodes if n.schedulable for model in n.gpus}:
            if ask.gpu and ask.gpu_type not in (None, model):
                yield 0.0, lambda each, m=model: _asking(each, gpu_type=m)
    least = role.min_replicas or role.replicas
    for fewer in range(1, least):
        if role.min_replicas is None:
            yield 1 - fewer / least, lambda each, n=fewer: replace(each, replicas=n)
        else:
            yield 1 - fewer / least, lambda each, n=fewer: replace(each, min_replicas=n)


def _asking(role: Role, **fields: object) -> Role:
    return replace(role, resources=replace(role.resources, **fields))


@settings(max_examples=examples(120))
@given(settled(), st.integers(0, 9))
def test_the_first_is_the_cheapest_of_all_that_work(cluster: tuple[World, QueuePolicy], which: int) -> None:
    """Every change there is, each tried by a pass of its own: none that works gives up less.

    As long as somebody takes to decide is left out: what starts only because it is gone just in time. So is quota that
    is kept for somebody: of what it would be with the change only a pass of its own would tell.
    """
    world, policy = cluster
    assume(which < len(world.waiting))
    name, one = list(world.waiting.items())[which]
    seen = world.snapshot()
    made = plan(seen, world.now, policy)
    told = suggest(seen, one, explain(seen, one, made), made, FLAVORS, policy)
    best = min((each.loss for each in told), default=2.0)
    assume(not any(books.claims.any for books in made.books.values()))
    assert not told or told[0].loss == best
    for loss, changed in every(world, one):
        slow = replace(changed, limit_s=changed.limit_s + DECIDING_S)
        if loss < best - 1e-9 and starts(world, policy, name, changed):
            assert not starts(world, policy, name, slow), (loss, best, changed)
