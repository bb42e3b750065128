"""What a cluster foresees, through the whole server: before a submit, while a job waits, and what it would refuse."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.slurm.bed import Bed, until
from tests.slurm.served import Served, job
from trainmaster.answers import PreviewView, WouldStart
from trainmaster.cli.showing.jobs import why
from trainmaster.core.errors import InvalidSpec


@contextmanager
def full(bed: Bed) -> Iterator[float]:
    """Let somebody else have all nodes; give when that ends, epoch seconds."""
    words = ("--parsable", "--nodes=4", "--exclusive", "--time=10", "--output=/dev/null")
    number = bed.ask("sbatch", *words, given="#!/bin/sh\nsleep 600\n").strip()
    try:
        until(lambda: bed.ask("squeue", "-h", "-j", number, "-t", "running").strip(), "the other's start")
        yield float(bed.ask("squeue", "-h", "-j", number, "-o", "%e"))
    finally:
        bed.ask("scancel", number)
        until(lambda: not bed.run("squeue", "-h", "-j", number).stdout.strip(), "the other's end")


def asked(served: Served, document: dict[str, Any]) -> tuple[PreviewView, WouldStart]:
    """Return the preview of a document, and whether it would start."""
    server = served.sdk()
    return server.preview(document), server.would_start(document)


def test_before_a_submit_slurm_says_when_and_where_it_would_start(served: Served) -> None:
    document = job("a", "true", gpu=2, replicas=2, duration=300)
    preview, would = asked(served, document)
    assert would.forecast is not None
    assert preview.native is not None
    assert (preview.ok, would.when, would.forecast.by) == (True, "now", "cluster")
    assert len(would.forecast.nodes) == 2
    assert "#SBATCH --gpus-per-task=2\n" in preview.native.document["script"]
    with full(served.bed) as free_at:
        preview, would = asked(served, {**document, "duration": 360})  # another script: an answer is kept for a while
        for shown in (preview.fits, would):
            assert shown is not None
            assert shown.reason is not None
            assert shown.forecast is not None
            assert (shown.when, shown.reason.decided_by, shown.forecast.by) == ("queue", "cluster", "cluster")
            assert shown.forecast.at is not None
            assert abs(shown.forecast.at - free_at) < 120
            assert len(shown.forecast.nodes) == 2
    assert served.view()["items"] == []


def test_what_slurm_would_refuse_is_a_problem_before_a_submit(served: Served) -> None:
    preview, would = asked(served, job("c", "true", gpu=9))
    assert [one.code for one in preview.problems] == ["cluster_refused"]
    assert preview.problems[0].rule.endswith("Requested node configuration is not available")
    assert would.when == "never"


def test_of_unlike_roles_no_start_is_guessed(served: Served) -> None:
    """Slurm says "now" of two roles that each need every card."""
    document = job("d", "true", gpu=2, replicas=4)
    document["roles"].append(
        {**document["roles"][0], "name": "other", "resources": {"cpu": 2, "memory": 256, "gpu": 2}}
    )
    _, would = asked(served, document)
    assert would.forecast is not None
    assert would.reason is not None
    assert (would.when, would.forecast.when) == ("queue", "unknown")
    assert "heterogeneous" in would.reason.message.en


def test_while_a_job_waits_slurms_expected_start_is_shown_as_its_word(served: Served) -> None:
    """In the job's page, in the list, and in a terminal."""
    with full(served.bed) as free_at:
        waits = served.submit(job("e", "true", gpu=2, replicas=2, duration=300))

        def foreseen(view: dict[str, Any]) -> bool:
            return (view["forecast"] or {}).get("at") is not None

        view = served.until(waits, foreseen, "an expected start")
        assert (view["state"], view["reason"]["decided_by"], view["forecast"]["by"]) == (
            "pending",
            "cluster",
            "cluster",
        )
        assert abs(view["forecast"]["at"] - free_at) < 120
        assert len(view["forecast"]["nodes"]) == 2
        (listed,) = (one.seen for one in served.sdk().list())
        assert listed.forecast is not None
        assert listed.forecast.by == "cluster"
        assert why(listed).startswith("cluster: ")
        assert ", start about " in why(listed)
        told = served.sdk().get(waits).explain()
        assert told.forecast is not None
        assert told.reason is not None
        assert (told.forecast.by, told.reason.decided_by) == ("cluster", "cluster")
    assert served.ended(waits)["state"] == "succeeded"


def test_a_limit_above_the_partitions_is_refused_at_the_submit(served: Served) -> None:
    """Slurm itself would take it in and let it wait for ever."""
    served.bed.ask("scontrol", "update", "PartitionName=batch", "MaxTime=60")
    try:
        until(lambda: not served.sdk().preview(job("f", "true", duration=7200)).ok, "the limit to be read")
        with pytest.raises(InvalidSpec) as refused:
            served.sdk().submit(job("f", "true", duration=7200))
        assert [(one.path, one.code) for one in refused.value.problems] == [("duration", "partition_time")]
        for name, duration in (("g", 3600), ("h", None)):
            fits = served.submit(job(name, "true", duration=duration))
            assert served.ended(fits)["state"] == "succeeded"
    finally:
        served.bed.ask("scontrol", "update", "PartitionName=batch", "MaxTime=INFINITE")
