"""Ports that something outside the platform listens on are never given out (R80-R83, R101, D6)."""

import socket
from dataclasses import replace

from tests.builders import job, node
from trainmaster.core.config import LocalConfig
from trainmaster.core.records import PortRequest, Role
from trainmaster.queue.explaining.reasons import Known
from trainmaster.queue.placing.fit import fit
from trainmaster.service.scheduling.busy_ports import AGAIN_S, BusyPorts, first_for, is_free
from trainmaster.service.scheduling.scheduling import Scheduling


def a_listener() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


def a_job(ports: PortRequest, seq: int = 1):
    return replace(job("a").done(), roles=(Role("w", 1, ports=(ports,)),), seq=seq)


def scheduling(first: int, last: int) -> Scheduling:
    found = Scheduling(LocalConfig(port_first=first, port_last=last), "/home-of-a-test", lambda _: 1)
    found.set_nodes([node("n1")])
    return found


def test_a_port_somebody_listens_on_is_passed_over() -> None:
    with a_listener() as listener:
        taken = listener.getsockname()[1]
        assert not is_free(taken)
        world = scheduling(taken, taken + 40)
        world.capacity.port_begin = taken
        world.queue.add(a_job(PortRequest("http")))
        [event] = world.schedule(1000.0)
        [[_, [port]]] = event.data["placement"][0]["ports"]
        assert port > taken
        assert is_free(port)


def test_a_fixed_port_in_use_waits_and_is_tried_again() -> None:
    with a_listener() as listener:
        taken = listener.getsockname()[1]
        world = scheduling(21000, 21100)
        waiting = a_job(PortRequest("http", begin_at=taken))
        world.queue.add(waiting)
        assert world.schedule(1000.0) == []
        reason = world.reason(waiting, Known)
        assert reason is not None
        assert reason.code == "waiting_ports"
        assert world.again_s == AGAIN_S
    assert len(world.schedule(1000.0 + AGAIN_S + 1)) == 1


def test_the_search_goes_round_once_and_finds_the_last_free_block() -> None:
    world = scheduling(21000, 21009)
    world.capacity.port_begin = 21008
    placed = fit(world.capacity, a_job(PortRequest("x", count=2)).roles, "default")
    assert placed is not None
    assert placed[0].ports == (("x", (21008, 21009)),)
    world.capacity.port_begin = 21009
    placed = fit(world.capacity, a_job(PortRequest("x", count=10)).roles, "default")
    assert placed is not None
    assert placed[0].ports == (("x", tuple(range(21000, 21010))),)
    assert fit(world.capacity, a_job(PortRequest("x", count=11)).roles, "default") is None


def test_homes_begin_at_different_places_and_always_at_the_same_one() -> None:
    begins = {first_for(f"/home/{name}", 21000, 28999) for name in range(50)}
    assert len(begins) > 40
    assert all(21000 <= begin <= 28999 for begin in begins)
    assert first_for("/x", 21000, 28999) == first_for("/x", 21000, 28999)


def test_what_was_busy_is_believed_for_a_while_only() -> None:
    with a_listener() as listener:
        port = listener.getsockname()[1]
        busy = BusyPorts()
        placed = fit(scheduling(port, port).capacity, a_job(PortRequest("x")).roles, "default")
        assert placed is not None
        assert busy.look([placed], now=0.0)
        assert busy.busy_at(1.0) == {port}
    assert busy.busy_at(100.0) == frozenset()
