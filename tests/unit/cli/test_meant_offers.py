"""Which of what is published somebody means who subscribes from the command line."""

from types import SimpleNamespace
from typing import Any

import pytest

from trainmaster import answers
from trainmaster.cli.assets.subscriptions import DATASET, meant
from trainmaster.core.errors import Conflict, NotFound


def offered(id_: str, name: str) -> answers.PublishedView:
    return answers.PublishedView(
        id=id_,
        kind="dataset",
        name=name,
        description="",
        workspace="vision",
        owner="ann",
        latest=1,
        versions=1,
        size_bytes=0,
        files=0,
        changed_at=1.0,
        taken_as=None,
    )


def server(*found: answers.PublishedView) -> Any:
    """Return what answers as the server does: each word is looked for in names and ids."""

    def published(workspace: str, q: str) -> list[answers.PublishedView]:
        return [one for one in found if q in one.name or q in one.id]

    return SimpleNamespace(datasets=SimpleNamespace(published=published))


def test_of_several_of_one_name_the_id_that_is_told_means_one() -> None:
    first, second = offered("d" + "1" * 32, "flowers"), offered("d" + "2" * 32, "flowers")
    there = server(first, second, offered("d3", "d" + "2" * 11))
    with pytest.raises(Conflict) as why:
        meant(DATASET, there, "speech", "flowers")
    told = str(why.value.said.args["ids"]).split(", ")
    assert [meant(DATASET, there, "speech", one).id for one in told] == [first.id, "d3"]  # a name comes before
    assert meant(DATASET, server(first, second), "speech", told[1]) == second
    assert meant(DATASET, there, "speech", second.id) == second
    with pytest.raises(Conflict):
        meant(DATASET, server(offered("d1111", "a"), offered("d1112", "b")), "speech", "d111")
    for ref in ("flow", "d11", "none"):
        with pytest.raises(NotFound):
            meant(DATASET, there, "speech", ref)
