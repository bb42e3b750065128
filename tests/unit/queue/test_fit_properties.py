"""What is true of every fit on any small cluster: complete, exact, and blind to nothing that it remembers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.unit.queue.clusters import PORTS, gangs, nodes
from trainmaster.core.records import Assignment, Node, Resources, Role
from trainmaster.queue.placing.buckets import Buckets
from trainmaster.queue.placing.capacity import Free, Room, holding
from trainmaster.queue.placing.failures import Demand, Failures
from trainmaster.queue.placing.fit import fit, place
from trainmaster.queue.placing.need import Need
from trainmaster.queue.placing.packing import Packing, mix_of
from trainmaster.queue.placing.ports import PortChoice
from trainmaster.queue.rules.rehearsal import earliest

few = settings(max_examples=examples(150))
POOL = "default"

shares = st.builds(
    lambda replicas, milli, model: (Role("s", replicas, Resources(0.5, 100, 1, model, gpu_milli=milli)),),
    st.integers(1, 5),
    st.sampled_from((200, 300, 500, 700)),
    st.sampled_from((None, None, "A", "B")),
)
asked = st.one_of(gangs, gangs, shares)
named = st.sampled_from((frozenset[str](), frozenset[str](), frozenset({"n0", "n2"})))
driver = st.sampled_from((None, None, "535"))
demands = st.builds(lambda roles, names, version: Demand.of(roles, POOL, names, version), asked, named, driver)
singles = demands.filter(lambda demand: len(demand.roles) == 1)
MIX = mix_of([(Role("w", 1, Resources(1.0, 512, 1, gpu_milli=milli)), 3) for milli in (300, 500, 1000)])
packings = st.sampled_from([Packing(), Packing("best-fit", "worst-fit"), Packing("worst-fit"), Packing("fgd", mix=MIX)])


@st.composite
def rooms(draw: st.DrawFn) -> Room:
    """A room on which some gangs run."""
    members = tuple(replace(node, driver=draw(st.sampled_from(("535", "470")))) for node in draw(nodes()))
    room = Room(members, *PORTS, frozenset({103}))
    for demand in draw(st.lists(demands, max_size=4)):
        placed = where(room, demand)
        if placed is not None:
            room.take(demand.roles, placed)
    return room


def where(room: Room, demand: Demand, packing: Packing | None = None) -> tuple[Assignment, ...] | None:
    pool, names, version = demand.view
    return fit(room, demand.roles, pool, nodes=names, driver=version, packing=packing or Packing())


def state(room: Room) -> tuple[object, ...]:
    """Everything that can be seen of a room, read without what it has sorted."""
    free = [room.node(at) for at in range(len(room.nodes))]
    return free, [sorted(room.ports_of(each.node.host)) for each in free]


def sorted_afresh(room: Room, demand: Demand) -> list[object]:
    """What can be found in the view of `demand`, kept up to date and made anew."""
    members = room.nodes_of(*demand.view)
    fresh = Buckets()
    for at in range(len(room.nodes)):
        if room.node(at) in members:
            fresh.add(room.node(at), at)
    views = (room.view(*demand.view), fresh)
    found = [[list(view.find(model, 0, -(10**9), -(10**9))) for model in ("", "A", "B")] for view in views]
    used = [[list(view.find_shared(model, 0, -(10**9), -(10**9))) for model in "AB"] for view in views]
    return [
        found[0] == found[1],
        used[0] == used[1],
        views[0].free.items() >= {m: n for m, n in fresh.free.items() if n}.items(),
    ]


@few
@given(rooms(), demands, packings)
def test_a_placement_is_the_gang_and_never_more_than_is_free(room: Room, demand: Demand, packing: Packing) -> None:
    before = state(room)
    placed = where(room, demand, packing)
    assert state(room) == before
    if placed is None:
        return
    wanted = [(at, index) for at, role in enumerate(demand.roles) for index in range(role.replicas)]
    assert [(a.role, a.index) for a in placed] == wanted
    assert {a.node for a in placed} <= {free.node.name for free in room.nodes_of(*demand.view)}
    for a in placed:
        ask, node = demand.roles[a.role].resources, room.nodes[[n.name for n in room.nodes].index(a.node)]
        assert len(a.gpus) == ask.gpu
        assert len({node.gpus[card] for card in a.gpus} | ({ask.gpu_type} - {None})) <= 1
    held = holding(demand.roles, placed)
    for free in room.nodes_of(*demand.view):
        mine = [one for one in held if one.node == free.node.name]
        assert sum(one.cpu for one in mine) <= max(free.cpu, 0)
        assert sum(one.memory_mib for one in mine) <= max(free.memory_mib, 0)
        cards = Counter[int]()
        for one in mine:
            cards.update(dict.fromkeys(one.gpus, one.milli))
        there = dict.fromkeys((card for whole in free.cards.values() for card in whole), 1000) | dict(free.parts)
        assert all(amount <= there[card] for card, amount in cards.items())
    ports = [(one.host, number) for one in held for number in one.ports]
    assert len(ports) == len(set(ports))
    assert not any(number == 103 or number in room.ports_of(host) for host, number in ports)


@few
@given(rooms(), st.lists(demands, min_size=1, max_size=4), demands)
def test_giving_back_undoes_taking_and_what_is_sorted_stays_true(room: Room, line: list[Demand], look: Demand) -> None:
    room.view(*look.view)
    states, placed = [state(room)], list[tuple[Demand, tuple[Assignment, ...]]]()
    for demand in line:
        found = where(room, demand)
        if found is not None:
            room.take(demand.roles, found)
            placed.append((demand, found))
            states.append(state(room))
            assert all(sorted_afresh(room, look))
    for demand, found in reversed(placed):
        assert state(room) == states.pop()
        room.give(demand.roles, found)
        assert all(sorted_afresh(room, look))
    assert state(room) == states.pop()


@few
@given(rooms(), demands, demands)
def test_a_fork_and_its_original_do_not_see_each_other(room: Room, one: Demand, other: Demand) -> None:
    for view in (one.view, other.view):
        room.view(*view)
    fork = room.fork()
    for first, second, demand in ((fork, room, one), (room, fork, other)):
        untouched = state(second)
        placed = where(first, demand)
        if placed is not None:
            first.take(demand.roles, placed)
        assert state(second) == untouched
        assert all(sorted_afresh(second, demand))
        assert all(sorted_afresh(first, demand))


def naive(room: Room, demand: Demand) -> bool:
    """Whether one role fits: the replicas that each node takes, counted one node after the other, are enough."""
    (role,) = demand.roles
    need, free = Need.of(role), room.nodes_of(*demand.view)
    models = sorted({model for each in free for model in each.cards})
    each_alone = [[model] for model in models] if need.model is None else [[need.model]]
    sets = [*each_alone, models] if need.gpu and need.model is None else each_alone if need.gpu else [[]]
    return any(sum(takes(room, each, need, wanted) for each in free) >= role.replicas for wanted in sets)


def takes(room: Room, free: Free, need: Need, models: Sequence[str]) -> int:
    """How many replicas one node takes, one after the other."""
    ports, count, cpu, memory = PortChoice(room), 0, free.cpu, free.memory_mib
    cards = {model: len(free.cards.get(model, ())) for model in models}
    left = [milli for card, milli in free.parts if free.node.gpus[card] in models]
    left += [1000] * sum(cards.values())
    while cpu >= need.cpu and memory >= need.memory_mib and count < 20:
        if need.gpu and need.milli < 1000:
            at = next((i for i, milli in enumerate(sorted(left)) if milli >= need.milli), None)
            if at is None:
                break
            left = [milli - need.milli * (i == at) for i, milli in enumerate(sorted(left))]
        elif need.gpu and max(cards.values(), default=0) < need.gpu * (count + 1):
            break
        if ports.choose(free.node.host, need.ports) is None or (need.fixed and count):
            break
        count, cpu, memory = count + 1, cpu - need.cpu, memory - need.memory_mib
    return count


@few
@given(rooms(), singles, packings)
def test_one_role_is_placed_whenever_there_is_a_placement(room: Room, demand: Demand, packing: Packing) -> None:
    """Complete: as many as a count node by node finds, whichever way they are packed."""
    assert (where(room, demand, packing) is not None) == naive(room, demand)


@few
@given(rooms(), st.lists(demands, min_size=1, max_size=12))
def test_what_is_remembered_hides_no_fit(room: Room, line: list[Demand]) -> None:
    """With and without memory the same gangs are placed, while the room only gets less; also in a part of the room."""
    known = Failures()
    for demand in line:
        alone = where(room, demand)
        assert place(room, demand, known) == alone
        inner = Failures(known)
        assert (alone is not None) or inner.rules_out(demand)
        if alone is not None:
            room.take(demand.roles, alone)


@few
@given(st.lists(nodes(), min_size=1, max_size=1), st.lists(demands, max_size=6), demands)
def test_a_rehearsal_finds_the_first_release_that_lets_the_gang_start(
    members: list[tuple[Node, ...]], line: list[Demand], head: Demand
) -> None:
    room = Room(members[0], *PORTS, frozenset())
    running = list[tuple[Demand, tuple[Assignment, ...]]]()
    for demand in line:
        placed = where(room, demand)
        if placed is not None:
            room.take(demand.roles, placed)
            running.append((demand, placed))
    before, later = state(room), room.fork()
    first = 0 if where(later, head) is not None else None
    for count, (demand, placed) in enumerate(running, 1):
        later.give(demand.roles, placed)
        if first is None and where(later, head) is not None:
            first = count
    found = earliest(room, head, [holding(demand.roles, placed) for demand, placed in running])
    assert state(room) == before
    named = None if found is None else found.releases
    if len(head.roles) > 1 and first is not None:  # more room can be harder to use: the first may be passed over
        assert named is None or named >= first
    else:
        assert named == first


@few
@given(rooms(), singles, st.lists(demands, max_size=4))
def test_what_fits_beside_a_reservation_does_not_delay_it(room: Room, head: Demand, line: list[Demand]) -> None:
    """Whatever runs on in the reduced room, the head still starts at the time it was promised."""
    running = list[tuple[Demand, tuple[Assignment, ...]]]()
    while (placed := where(room, head)) is not None and len(running) < 4:
        room.take(head.roles, placed)
        running.append((head, placed))
    found = earliest(room, head, [holding(demand.roles, placed) for demand, placed in running])
    if found is None:
        return
    reduced, later = room.reduced(found.room, head.roles, found.placement), found.room.fork()
    for demand in line:
        placed = where(reduced, replace(demand, roles=tuple(replace(role, ports=()) for role in demand.roles)))
        if placed is not None:
            reduced.take(demand.roles, placed)
            later.take(demand.roles, placed)
    alone = replace(head, roles=tuple(replace(role, ports=()) for role in head.roles))
    assert where(later, alone) is not None
