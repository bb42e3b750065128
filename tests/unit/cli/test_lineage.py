"""`tm lineage` prints a tree each way."""

from trainmaster import answers
from trainmaster.cli.assets.lineage import lines
from trainmaster.core.states import Shown


def node(id_: str, layer: int, **more: object) -> answers.LineageNode:
    kind, _, name = id_.partition(":")
    name, _, number = name.partition("@")
    told: dict[str, object] = {
        "id": id_,
        "kind": kind,
        "name": name,
        "version": int(number) if number else None,
        "ref": name * 4,
        "state": "there",
        "status": Shown.SUCCEEDED if kind == "job" else None,
        "owner": "ann",
        "workspace": "default",
        "at": 1.0,
        "layer": layer,
        "more": False,
    }
    return answers.LineageNode(**{**told, **more})  # type: ignore[arg-type]


def edge(source: str, target: str, how: str) -> answers.LineageEdge:
    return answers.LineageEdge(source=source, target=target, how=how)  # type: ignore[arg-type]


def test_a_tree_each_way_and_what_is_not_there_by_name() -> None:
    view = answers.LineageView(
        center="model:digits@4",
        nodes=[
            node("dataset:flowers@3", -2, state="unseen", ref=""),
            node("volume:scratch", -2),
            node("job:train", -1),
            node("model:digits@4", 0),
            node("job:tune", 1),
            node("job:test", 1, more=True),
            node("model:digits@5", 2),
        ],
        edges=[
            edge("job:train", "model:digits@4", "output"),
            edge("dataset:flowers@3", "job:train", "input"),
            edge("volume:scratch", "job:train", "written"),
            edge("model:digits@4", "job:tune", "input"),
            edge("model:digits@4", "job:test", "input"),
            edge("job:tune", "model:digits@5", "output"),
        ],
        more=True,
    )
    assert list(lines(view)) == [
        "model  digits@4",
        "",
        "made of:",
        "└─ job  train  traintraintr  Succeeded",
        "   ├─ data set  flowers@3  (deleted, or not shared with you)",
        "   └─ volume  scratch  (may be written)",
        "",
        "made of it, or using it:",
        "├─ job  tune  tunetunetune  Succeeded",
        "│  └─ model  digits@5",
        "└─ job  test  testtesttest  Succeeded …",
        "",
        "… There is more: ask for what has … behind it.",
    ]


def test_nothing_each_way_is_said() -> None:
    view = answers.LineageView(center="job:a", nodes=[node("job:a", 0)], edges=[], more=False)
    assert list(lines(view)) == [
        "job  a  aaaa  Succeeded",
        "",
        "made of: nothing",
        "",
        "made of it, or using it: nothing",
    ]
