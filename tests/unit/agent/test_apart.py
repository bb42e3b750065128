"""Who is kept apart from whom, and by what: the sandbox or the thread that starts it."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fixtures.gangs import gang
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.sandbox import apart, sandbox
from trainmaster.agent.sandbox.apart import Restrictions
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting.gangs import Gangs
from trainmaster.agent.tasks.prepare import prepare
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang
from trainmaster.messages.render import text

ONE = gang().role("w", 1, "true").build()
TWO = gang().role("w", 2, "true").build()
PRIVATE = Settings(bwrap="/usr/bin/bwrap", environment="/usr", package="/usr/lib/x", network="private", cgroups=False)


@pytest.fixture
def not_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Somebody who is not root, as far as anybody asks."""
    sandbox._namespaces.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    yield
    sandbox._namespaces.cache_clear()


def notes(at: Path, of: Gang) -> list[str]:
    layout = Layout(str(at))
    os.makedirs(layout.path("run", "live"))
    made = Gangs(layout, Cgroups(str(at)), lambda seconds, call: None).ready(of, PRIVATE, b"{}")
    return [code for code, _ in made.notes]


@pytest.mark.parametrize(("of", "own"), [(ONE, True), (TWO, False)])
@pytest.mark.usefixtures("not_root")
def test_who_is_not_root_has_a_network_made_by_the_sandbox_for_one_task_alone(
    tmp_path: Path, of: Gang, own: bool
) -> None:
    assert {"--unshare-net" in task.options for task in prepare(of, Layout(str(tmp_path)), PRIVATE)} == {own}
    assert not apart.restrictions_of(of, PRIVATE).network
    assert notes(tmp_path, of) == ["network_private" if own else "network_shared"]


@pytest.mark.parametrize("of", [ONE, TWO])
def test_root_makes_one_for_all_tasks_of_a_job(tmp_path: Path, of: Gang) -> None:
    assert os.geteuid() == 0
    assert {"--unshare-net" in task.options for task in prepare(of, Layout(str(tmp_path)), PRIVATE)} == {False}
    assert apart.restrictions_of(of, PRIVATE).network
    assert notes(tmp_path, of) == ["network_private"]


def test_without_a_sandbox_nobody_is_kept_apart() -> None:
    assert apart.restrictions_of(ONE, replace(PRIVATE, bwrap="")) == Restrictions()


def test_tasks_on_one_node_that_two_agents_start_are_not_kept_apart_from_each_other() -> None:
    """Two components of a cluster's job may share a node."""
    first, second = TWO.placement
    assert apart.is_whole(replace(TWO, here=((0, 0), (0, 1))))
    assert not apart.is_whole(replace(TWO, here=((0, 0),)))
    assert apart.is_whole(replace(TWO, here=((0, 0),), placement=(first, replace(second, node="node-2"))))


def test_an_error_of_the_thread_is_its_callers_and_the_caller_loses_nothing() -> None:
    network = os.readlink("/proc/self/ns/net")
    seen: list[str] = []

    def work() -> None:
        seen.append(os.readlink("/proc/thread-self/ns/net"))
        raise OSError(12, "no memory")

    with pytest.raises(OSError, match="no memory"):
        apart.run(work, Restrictions(network=True))
    assert seen != [network]
    assert os.readlink("/proc/thread-self/ns/net") == network


def test_a_kernel_without_landlock_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_call", lambda *given: apart.SCOPES_SINCE - 1)
    apart.missing.cache_clear()
    try:
        assert "6.12" in text(apart.sharing("/usr/bin/bwrap", "shared"))
        assert apart.restrictions_of(ONE, replace(PRIVATE, network="shared")) == Restrictions()
    finally:
        apart.missing.cache_clear()


def test_who_is_not_root_cannot_be_kept_apart_by_a_bubblewrap_that_becomes_root(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").touch(0o755)
    (tmp_path / "bwrap").chmod(0o4755)
    monkeypatch.setattr(apart, "_call", lambda *given: apart.SCOPES_SINCE)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "set-uid" in text(apart.missing(str(tmp_path / "bwrap")))
