"""Where a job may mount, judged by what bubblewrap is really told (R138)."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.gangs import gang
from trainmaster.agent.sandbox import sandbox
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting import spawn
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.folders.layout import IN_WORKSPACE, Layout
from trainmaster.core.folders.targets import within
from trainmaster.core.launch import Mount
from trainmaster.messages import render
from trainmaster.spec.check import check
from trainmaster.spec.inputs import mount_problems

NAMES = ["workspace", "outputs", "algorithm", "model", "code", "usr", "lib32", "tmp", "root", "env", "data", "x"]
TARGETS = st.lists(st.sampled_from(NAMES), max_size=4).map(lambda names: "/" + "/".join(names))
ENVIRONMENT = sandbox.Environment("/site/env/bin", ("/site/env",), "/h/package")


def told(*mounts: Mount) -> list[str]:
    """Where bubblewrap puts something, in order."""
    view = sandbox.View(
        name="w-0",
        hidden=(),
        etc="/h/etc",
        tmp="/h/tmp",
        work="/h/work",
        metrics="/h/metrics",
        model="/h/model",
        outputs="/h/outputs",
        shm_mib=1,
        environment=ENVIRONMENT,
        mounts=mounts,
        cards=("/dev/nvidia0",),
    )
    args, found = iter(sandbox.options(view, cwd="/", env={})), []
    for arg in args:
        if arg in ("--ro-bind", "--bind", "--dev-bind-try", "--symlink"):
            next(args)
            found.append(next(args))
        elif arg in ("--tmpfs", "--proc", "--dev"):
            found.append(next(args))
    return found


def accepted(targets: list[str]) -> bool:
    """Whether a job may mount there, on a machine with that environment."""
    inputs = [{"name": f"i{at}", "path": "/d", "mount": target} for at, target in enumerate(targets)]
    document: dict[str, Any] = {"name": "a", "command": "true", "inputs": inputs}
    try:
        return not [*mount_problems(check(document), ENVIRONMENT.folders)]
    except InvalidSpec:
        return False


@given(st.lists(TARGETS, min_size=1, max_size=3))
@settings(max_examples=300)
def test_no_accepted_mount_hides_what_the_platform_places_nor_another(targets: list[str]) -> None:
    if not accepted(targets):
        return
    for place in told():
        for target in targets:
            assert not within(place, target), f"{target} hides {place}"
            assert place == IN_WORKSPACE or not within(target, place), f"{target} lies in {place}"
    assert not any(within(one, other) for one, other in itertools.permutations(targets, 2))


@pytest.mark.parametrize("target", ["/dataset", "/workspace/data", "/workspace/dataset/a/b", "/site/data", "/opt/x"])
def test_what_hides_nothing_is_accepted(target: str) -> None:
    assert accepted([target])


@given(st.lists(TARGETS, min_size=1, max_size=2))
@settings(max_examples=300)
def test_a_node_refuses_what_a_submit_would_have_refused(targets: list[str]) -> None:
    """A job that was accepted by an earlier release, or for other machines, loses nothing either."""
    mounts = [Mount("/d", target) for target in dict.fromkeys(targets) if target != "/code"]
    assert all(accepted([mount.target]) for mount in mounts) == (not sandbox.covered(mounts, ENVIRONMENT))


def test_a_mount_over_the_environment_is_refused_in_words() -> None:
    story = (
        gang(mounts=(Mount("/c", "/code"), Mount("/d", "/site"), Mount("/e", "/site/env/x")))
        .role("w", 1, "true")
        .build()
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "environment", lambda prefix, package: ENVIRONMENT)
        with pytest.raises(spawn.StartRefused) as refused:
            spawn.refuse_covering(story, Layout("/h"), Settings(bwrap="/usr/bin/bwrap"))
        spawn.refuse_covering(story, Layout("/h"), Settings())  # nothing is mounted without a sandbox
    assert refused.value.code == "mount_hides"
    assert render.text(refused.value.said) == (
        "a mount would hide what the replicas need on this node: /site would hide /site/env, "
        "/site/env/x would be inside /site/env; "
        "mount it elsewhere, for example at /dataset"
    )


def test_each_folder_on_the_way_to_a_deep_mount_is_a_mount_itself() -> None:
    """Else the task could put a link in its place."""
    deep = told(Mount("/d", "/workspace/a/b/c"), Mount("/e", "/workspace/a/e"))
    way = [at for at in deep if within(at, "/workspace/a")]
    assert way == ["/workspace/a", "/workspace/a/b", "/workspace/a/b/c", "/workspace/a/e"]
