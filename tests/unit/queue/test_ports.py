"""Ports of a gang: however many it takes of one host, nobody looks at the same port again and again (B7)."""

from trainmaster.core.records import Node, PortRequest, Resources, Role
from trainmaster.queue.placing.capacity import Room
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.ports import PortChoice

MANY = 2048
FIRST, LAST = 21_000, 60_000


class Counted(frozenset[int]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, port: object) -> bool:
        Counted.asked += 1
        return super().__contains__(port)


def test_the_work_for_a_gang_grows_with_its_ports_not_with_their_square() -> None:
    """A job of 4,096 tasks of 4 ports each is some kilobytes; asked port by port from the first one it took minutes."""
    Counted.asked = 0
    room = Room([Node("n", "10.0.0.1", 256.0, 1 << 20)], FIRST, LAST, Counted(range(FIRST, FIRST + 1000)))
    labels = tuple(PortRequest(f"p{at}", 1 + at % 2, 0) for at in range(4))
    placed = fit(room, [Role("r", MANY, Resources(0.01, 16), ports=labels)], "default")
    assert placed is not None
    given = [port for task in placed for _, ports in task.ports for port in ports]
    assert len(given) == len(set(given)) == MANY * 6
    assert min(given) == FIRST + 1000
    assert Counted.asked < 4 * (len(given) + 1000)


def test_what_was_not_taken_in_the_end_is_found_again() -> None:
    """The second block is not to be had, so that the first one is free for the next who asks; the search goes round
    once.
    """
    room = Room([Node("n", "10.0.0.1", 1.0, 1024)], 100, 109, frozenset())
    room.port_begin = 105
    ports = PortChoice(room)
    wanted = [PortRequest("a", 2, 0), PortRequest("b", 9, 0)]
    assert ports.choose("10.0.0.1", wanted) is None
    taken = [ports.choose("10.0.0.1", [PortRequest("a", 1, 0)]) for _ in range(11)]
    assert [one[0][1][0] for one in taken if one] == [105, 106, 107, 108, 109, 100, 101, 102, 103, 104]
    assert taken[-1] is None
    other = ports.copy()
    assert other.choose("10.0.0.1", [PortRequest("a", 1, 0)]) is None
    assert ports.choose("10.0.0.2", [PortRequest("a", 1, 0)]) == (("a", (105,)),)
