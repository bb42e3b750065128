"""Who writes a program against the SDK is told by a type checker what an answer holds, and what it does not (R241)."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainmaster.sdk.administration.cluster import ClusterCalls
from trainmaster.sdk.client import Client
from trainmaster.sdk.jobs import Job

ROOT = Path(__file__).parents[3]
GOOD = """
from collections.abc import Iterator
from typing import assert_type

from trainmaster import Client, answers
from trainmaster.core.states import Shown

client = Client()
job = client.get("x")
assert_type(job.state, Shown)
assert_type(job.state == "running", bool)
assert_type(job.seen, answers.JobView)
assert_type(job.detail.attempt_list[0].tasks[0].gpus, list[int])
assert_type(job.verdict.message.en if job.verdict else None, str | None)
assert_type(job.progress, answers.ProgressView | None)
assert_type(job.logs(tail=3), str)
assert_type(job.logs(follow=True), Iterator[str])
assert_type(job.metrics().series[0].values, list[float | None])
assert_type(job.explain().suggestions[0].change, answers.Json)
assert_type([hit.line for hit in job.search("x")], list[int])
assert_type(client.preview({}).roles[0].tasks[0].argv, tuple[str, ...])
assert_type(client.would_start({}).when, answers.When)
assert_type(client.meta().limits.max_upload_mib, int)
assert_type(client.cluster().nodes[0].gpus[0].uses[0].job, str | None)
assert_type(client.admin.put_workspace("x").quotas[0].share[0].cap, float | None)
assert_type(client.models()[0].latest, int)
assert_type(client.admin.audit()[0].text.zh, str)
assert_type(client.admin.retention()[0].oldest, float | None)
assert_type([one.run_s for one in client.admin.history()], list[float | None])
"""
BAD = """
from trainmaster import Client
client = Client()
job = client.get("x")
job.detail.attempt_lists
job.seen.task_list
job.seen["state"]
job.data
job.seen.state = "running"
job.state == 3
client.model("x").versions[0].metric
client.admin.queue().items[0].reason.message
client.admin.node("x").cards[0].used.total
"""


def run(path: Path) -> str:
    """What mypy says of programs, with this project's settings; what it has found out of the project it knows from the
    last time.
    """
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--no-pretty", *map(str, sorted(path.glob("*.py")))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


@pytest.mark.timeout(600)  # without a cache it reads all that the SDK imports
def test_a_type_checker_knows_every_answer(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    said = run(tmp_path)
    found = [(Path(file).name, int(line)) for file, line in re.findall(r"^(.*?):(\d+): error:", said, re.MULTILINE)]
    wrong = [number for number, line in enumerate(BAD.splitlines(), 1) if line.startswith(("job.", "client."))]
    assert sorted(set(found)) == [("bad.py", number) for number in wrong], said


def returned(kind: type) -> Iterator[tuple[str, str]]:
    """Each public method and property, and what it says that it returns."""
    for name, one in vars(kind).items():
        function = one.fget if isinstance(one, property) else one
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, str(inspect.signature(function).return_annotation)


@pytest.mark.parametrize("kind", [Client, Job, ClusterCalls])
def test_nothing_is_answered_without_a_type(kind: type) -> None:
    """But for documents, which their dialect defines."""
    untyped = {name for name, answer in returned(kind) if re.search(r"\b(Any|dict)\b", answer)}
    assert untyped <= {"body", "spec"}, untyped
    assert len(dict(returned(kind))) > 15
