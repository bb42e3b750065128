"""`tm list` cuts and orders as the API does, and counts the replicas of jobs that ended (R194)."""

import json
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.shell import ONE_NODE, Shell, serving, write
from trainmaster.api.routes.jobs import Filter
from trainmaster.cli.commands.jobs import list_jobs
from trainmaster.cli.commands.marks import bulk


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        folder = tmp_path_factory.mktemp("jobs")
        jobs: list[tuple[str, dict[str, Any]]] = [
            ("first", {"labels": {"round": "1"}, "parameters": {"lr": 0.25}}),
            (
                "second",
                {
                    "labels": {"round": "2"},
                    "framework": "pytorch",
                    "replicas": 2,
                    "resources": {"cpu": 0.1, "memory": 64, "gpu": 1},
                },
            ),
        ]
        for name, more in jobs:
            made = shell.json("submit", write(folder / f"{name}.json", "true", name=name, **more), "--wait")
            assert made["state"] == "succeeded"
        yield shell


def names(tm: Shell, *words: str) -> list[str]:
    return [job["name"] for job in json.loads(tm.here("list", *words, "--json"))]


def test_each_filter_cuts(tm: Shell) -> None:
    assert names(tm) == ["second", "first"]
    for words in (
        ("first",),
        ("--search", "first"),
        ("lr=0.25",),
        ("--label", "round=1"),
        ("--label", "round", "--sort", "name", "--limit", "1"),
        ("--sort", "gpus", "--reverse", "--limit", "1"),
        ("--framework", "single"),
        ("--mine", "--state", "Succeeded", "--workspace", "default", "--pool", "default", "--search", "first"),
    ):
        assert names(tm, *words) == ["first"], words
    assert names(tm, "--sort", "gpus") == ["second", "first"]
    assert names(tm, "--node", "node-1", "--since", "1h", "--limit", "0") == ["second", "first"]
    for words in (("--owner", "nobody"), ("--until", "2020-01-01"), ("--state", "running"), ("--workspace", "nobody")):
        assert names(tm, *words) == [], words
    assert tm.here("list", "--owner", "nobody") == "No jobs.\n"


def test_there_is_an_option_for_each_filter_of_the_api() -> None:
    """A filter that the API learns is learned here, too (R194), and what is listed by it can be changed by it."""
    named = {"query": "q", "tagged": "tag"}
    for command in (list_jobs, bulk):
        options = {named.get(name, name) for name in signature(command).parameters}
        assert set(Filter.model_fields) - options == set(), command.__name__


def test_several_are_changed_by_the_filters_of_the_list(tm: Shell) -> None:
    (first,) = json.loads(tm.here("list", "first", "--json"))
    tm.here("star", first["id"])
    for words, number in (
        (("--favorite",), 1),
        (("--framework", "pytorch"), 1),
        (("--framework", "pytorch", "--favorite"), 0),
    ):
        assert f"done: {number}" in tm.here("bulk", "tag", "--add", "seen", *words, "--yes"), words
    tm.here("star", first["id"], "--remove")
    assert "no sweep 'nothing'" in tm("bulk", "stop", "--sweep", "nothing", "--yes", code=1)


def test_a_view_keeps_filters_and_order_and_options_win(tm: Shell) -> None:
    """What it keeps is what the console reads and writes behind the question mark of its address."""
    said = tm.here(
        "view", "save", "rounds", "--label", "round", "--state", "Succeeded", "--since", "7d", "--sort", "name"
    )
    assert said == "rounds  q=label%3Around&who=all&state=succeeded&since=7d&order=name\n"
    assert names(tm, "--view", "rounds") == ["first", "second"]
    assert names(tm, "--view", "rounds", "--sort", "name", "--reverse") == ["second", "first"]
    assert names(tm, "--view", "rounds", "--search", "label:round=2") == ["second"]
    assert names(tm, "--view", "rounds", "--state", "failed") == []
    tm.here("view", "save", "rounds", "--mine", "--until", "2020-01-01")  # instead of the one before
    assert names(tm, "--view", "rounds") == []
    (kept,) = json.loads(tm.here("view", "list", "--json"))
    assert (kept["name"], kept["query"]) == ("rounds", "who=mine&until=2020-01-01&order=-submitted_at")
    assert "who=mine  until=2020-01-01" in tm.here("view", "list")
    tm.here("view", "delete", "rounds")
    assert tm.here("view", "list") == "No views.\n"
    assert "no saved view 'rounds'" in tm("list", "--view", "rounds", code=1)


def test_what_a_view_cannot_keep_is_said(tm: Shell) -> None:
    assert "is not a time such as 30m" in tm.here("view", "save", "bad", "--since", "yesterday", code=2)
    assert "not '7d'" in tm.here("view", "save", "bad", "--until", "7d", code=2)
    assert "no order 'age'" in tm.here("view", "save", "bad", "--sort", "age", code=2)
    assert "workspace" in tm("view", "save", "bad", "--share-with", "nobody", code=2)
    assert tm.here("view", "list") == "No views.\n"


def test_what_is_no_order_and_no_time_is_said(tm: Shell) -> None:
    assert "there are submitted, started" in tm.here("list", "--sort", "age", code=2)
    assert "is not a time such as 30m" in tm.here("list", "--since", "yesterday", code=2)


def test_replicas_of_a_job_that_ended_are_counted(tm: Shell) -> None:
    head, *rows = (line.split("\t") for line in tm.here("list").splitlines())
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(one["name"], one["replicas"], one["state"]) for one in found] == [
        ("second", "2/2", "Succeeded"),
        ("first", "1/1", "Succeeded"),
    ]


def test_memory_of_a_pool_is_told_in_its_unit(tm: Shell) -> None:
    """Not as memory_mib 0/4096."""
    assert "memory 0/4 GiB" in tm.here("pool", "list")
    assert json.loads(tm.here("pool", "list", "--json"))[0]["amounts"]


def test_where_the_server_is_may_be_said_behind_the_command(tm: Shell, tmp_path: Path) -> None:
    home = tm.env.pop("TRAINMASTER_HOME")
    try:
        assert "first" in tm("list", "--home", home)
    finally:
        tm.env["TRAINMASTER_HOME"] = home
