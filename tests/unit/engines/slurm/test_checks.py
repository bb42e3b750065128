"""What is judged about a cluster before jobs are sent there."""

import ast
import base64
import inspect
import json
from typing import Any

import pytest

from trainmaster.engines.adding import Check
from trainmaster.engines.slurm.checks import checks, examine, probed, trial
from trainmaster.engines.slurm.client import states
from trainmaster.engines.slurm.messages import slurm, slurm_files
from trainmaster.messages import render
from trainmaster.messages.jobs import starting
from trainmaster.messages.said import verbatim
from trainmaster.service import adding

CONFIG = {
    "ClusterName": "alps",
    "SLURM_VERSION": "22.05.8",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "MaxJobCount": "10000",
}
FOUND: dict[str, Any] = {
    "event": "survey",
    "word": "w",
    "node": "n1",
    "machine": "m",
    "python": "3.9.2",
    "user": 0,
    "writing": "",
    "private": "",
    "sandbox": True,
    "degraded": "",
    "cards": [],
    "devices": [],
    "environment": None,
    "environment_there": False,
    "at": 0.0,
    "pythons": ["python", "python3"],
}


def bad(found: list[Check]) -> dict[str, str]:
    """Return by name what keeps jobs away."""
    return {check.name: check.text for check in found if check.bad}


def test_every_check_has_a_name_in_both_languages() -> None:
    made = set()
    for module in (checks, probed, examine, trial, adding):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Check" and node.args:
                assert isinstance(node.args[0], ast.Constant), ast.unparse(node)
                made.add(node.args[0].value)
    labels = {**checks.LABELS, **adding.LABELS}
    assert made == set(labels)
    assert all(render.text(label, language) for label in labels.values() for language in ("en", "zh"))


@pytest.mark.parametrize(
    ("version", "ok", "says"),
    [
        ((20, 2, 7), False, "too old"),
        ((20, 11, 0), True, "20.11.0"),
        ((22, 5, 8), True, "22.05.8"),
        ((24, 11, 5), True, "newer than 22.05"),
    ],
)
def test_versions(version: tuple[int, int, int], ok: bool, says: str) -> None:
    check = checks.version(version)
    assert (check.ok, says in check.text) == (ok, True)


def test_a_controller_of_another_version_is_only_told() -> None:
    assert checks.controller(CONFIG, (22, 5, 2)).ok
    other = checks.controller(CONFIG, (21, 8, 0))
    assert not other.ok
    assert not other.bad


@pytest.mark.parametrize(
    ("low", "high", "ok", "keeps_away"),
    [
        (-1.0, 0.5, True, False),
        (-40.0, 40.0, True, False),
        (3.0, 4.0, False, False),
        (-9.0, -3.0, False, False),
        (61.0, 90.0, False, True),
    ],
)
def test_a_clock_is_wrong_only_where_no_delay_explains_it(low: float, high: float, ok: bool, keeps_away: bool) -> None:
    check = checks.clock(low, high)
    assert (check.ok, check.bad) == (ok, keeps_away)


def test_the_least_of_all_limits_counts() -> None:
    assert checks.pending(1000, 2, CONFIG, []).ok
    few = checks.pending(1000, 2, CONFIG, [500, 5000])
    assert "accepts only 500" in few.text
    assert "most_pending = 125 " in few.remedy
    assert not few.bad


def test_a_folder_in_memory_is_refused_and_one_that_may_be_served_from_here_is_not() -> None:
    assert "memory of the server" in checks.folder("/dev/shm/x", True, "tmpfs", "").text
    assert checks.folder("/srv/x", True, "ext4", "").ok
    assert checks.folder("/srv/x", True, "nfs4", "").text == "/srv/x (nfs4)"
    assert not checks.folder("/srv/a b", True, "nfs4", "").ok


def test_a_node_that_has_everything() -> None:
    assert bad(probed.survey("gpu", FOUND, "w", "auto", 0)) == {}


@pytest.mark.parametrize(
    ("change", "sandbox", "cards", "name"),
    [
        ({"word": "old"}, "auto", 0, "shared"),
        ({"writing": "Read-only file system (/s)"}, "auto", 0, "shared"),
        ({"private": "No space left on device (/tmp)"}, "auto", 0, "private"),
        ({"sandbox": False}, "bubblewrap", 0, "sandbox"),
        ({"environment": "/opt/x"}, "auto", 0, "environment"),
        ({}, "auto", 1, "cards"),
        ({"cards": ["0"]}, "none", 0, "cards"),
    ],
)
def test_what_a_node_lacks(change: dict[str, Any], sandbox: str, cards: int, name: str) -> None:
    assert list(bad(probed.survey("gpu", {**FOUND, **change}, "w", sandbox, cards))) == [name]


@pytest.mark.parametrize("there", [["python3"], []])
def test_a_node_where_tasks_find_no_python_is_told_with_what_to_name(there: list[str]) -> None:
    """A job may bring its own: so jobs are sent all the same."""
    told = probed.survey("gpu", {**FOUND, "pythons": there}, "w", "auto", 0)
    (check,) = [check for check in told if not check.ok]
    assert (check.name, check.bad) == ("environment", False)
    assert check.text.startswith(f"replicas on n1 find no python{', only python3' if there else ''}, ")
    assert "--environment PREFIX" in check.remedy
    assert render.text(check.said, "zh") != check.text


def test_what_a_sandbox_of_a_node_leaves_open_is_told() -> None:
    left = {
        "unfiltered": starting.no_filter_in_kernel("Bad").to_json(),
        "reachable": verbatim("an old kernel").to_json(),
    }
    told = {check.name: check for check in probed.survey("gpu", {**FOUND, **left}, "w", "auto", 0)}["sandbox"]
    assert told.text.endswith(
        "; system calls are not filtered: the kernel does not support the filter (Bad); "
        "abstract sockets are not isolated: an old kernel"
    )
    assert "内核不支持过滤（Bad）" in render.text(told.said, "zh")


def test_a_node_without_sandboxes_is_told_where_they_are_not_required() -> None:
    for degraded in ("bubblewrap is not installed", starting.no_bubblewrap().to_json()):
        told = probed.survey("gpu", {**FOUND, "sandbox": False, "degraded": degraded}, "w", "auto", 0)
        (check,) = [check for check in told if not check.ok]
        assert (check.name, check.text.partition(";")[0]) == ("sandbox", "bubblewrap is not installed")
        assert bad(told) == {}


@pytest.mark.parametrize(
    ("log", "name", "says"),
    [
        (
            "Python 3.9 or newer is needed on the nodes, this is 3.6.8 (default)\nsrun: error",
            "python",
            "is Python 3.6.8",
        ),
        ("slurmstepd: error: execve(): /opt/py: No such file or directory\n", "python", "there is no /opt/py on n1"),
        ("srun: error: Unable to create step: out of cheese\n", "probe", "out of cheese"),
        ("", "shared", "wrote nothing into /s; Slurm reports for the job: failed"),
        (None, "shared", "wrote nothing into /s"),
    ],
)
def test_why_a_node_said_nothing(log: str | None, name: str, says: str) -> None:
    printed = verbatim(log) if log is not None else None
    check = probed.silent("gpu", "/opt/py", "/s", "n1", states.read("FAILED"), printed)
    assert (check.name, check.bad, check.where) == (name, True, "gpu")
    assert says in check.text
    assert render.text(check.said, "zh") != check.text


def test_why_nothing_comes_from_a_node_that_shares_no_folder_is_said_in_both_languages() -> None:
    broken = slurm_files.failed_on_node("No space left on device (/s)")
    check = probed.silent("gpu", "/opt/py", "/d", "n1", states.read("RUNNING"), broken, "/s")
    assert (check.name, check.bad, check.where) == ("probe", True, "gpu")
    assert check.text == "the connection to n1 broke: on the node: No space left on device (/s)"
    assert render.text(check.said, "zh") == "与 n1 的连接中断：节点上出错：No space left on device (/s)"


def test_a_queue_that_cannot_be_read_or_hides_our_jobs_keeps_them_away() -> None:
    assert probed.queue("gpu", True, None).ok
    why = verbatim("slurmrestd: no jobs in its answer")
    hidden, unread = probed.queue("gpu", False, None), probed.queue("gpu", False, why)
    assert (hidden.bad, unread.bad, unread.text) == (True, True, "slurmrestd: no jobs in its answer")


def part(claims: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("said", "trouble", "ok", "says"),
    [
        (f"{part({'alg': 'HS256'})}.{part({'exp': 9200})}.sign\n", "", True, "/t, expires in 2.3 hours"),
        (f"{part({})}.{part({'sun': 'tm'})}.sign", "", True, "/t"),
        (f"{part({})}.{part({'exp': 1000})}.sign", "", False, "the token in /t has expired"),
        (f"SLURM_JWT={part({})}.{part({'exp': 9200})}.sign", "", False, "/t has no token"),
        (f"{part({})}.{part({'exp': 9200})}", "", False, "/t has no token"),
        (f"{part({})}.{part([])}.sign", "", False, "/t has no token"),
        ("hello", "", False, "/t has no token"),
        ("", "", False, "/t has no token"),
        ("", "Permission denied", False, "/t cannot be read: Permission denied"),
    ],
)
def test_tokens_of_slurmrestd(said: str, trouble: str, ok: bool, says: str) -> None:
    check = checks.token("/t", said, trouble, 1000.0)
    assert (check.ok, check.bad, check.text) == (ok, not ok, says)
    assert ok or (check.remedy and render.remedy(check.said, "zh") != check.remedy)


def test_a_slurmrestd_that_says_no_remedy_gets_one() -> None:
    assert checks.rest("unix:/s", None).text == "answers at unix:/s"
    given = checks.rest("unix:/s", slurm.slurmrestd_status(500))
    assert given.text == "slurmrestd answered with status 500"
    assert given.remedy.startswith("Check that slurmrestd listens at unix:/s ")
    own = slurm.slurmrestd_lets_nobody_in()
    assert checks.rest("unix:/s", own).remedy == render.remedy(own)
