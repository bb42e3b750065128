"""What something was made of, and what was made of it: `tm lineage`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import RESULTS, add
from trainmaster.cli.language import words
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

KINDS: Final = {
    "job": words("job", "任务"),
    "dataset": words("data set", "数据集"),
    "model": words("model", "模型"),
    "algorithm": words("algorithm", "算法"),
    "image": words("image", "镜像"),
    "volume": words("volume", "存储卷"),
}
_NAMES: Final = {**KINDS, "storage": words("object storage", "对象存储")}
_STATES: Final = {
    "bin": words("in the bin", "在回收站中"),
    "deleted": words("deleted", "已删除"),
    "unseen": words("deleted, or not shared with you", "已删除或未与您共享"),
}
_HOW: Final = {
    "written": words("may be written", "可写"),
    "base": words("base", "基础镜像"),
}
_BRANCH, _LAST, _DOWN, _NONE = "├─ ", "└─ ", "│  ", "   "


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        lineage,
        "显示一个任务或一个版本的来源与去向。\n\n"
        "KIND 是 job、dataset、model、algorithm、image 或 volume。"
        "每行输出一个任务或版本，越往右离它越远；您看不到的内容不会列出。",
        "tm lineage model digits@4",
        "tm lineage job 3f2a91c0 --json",
        panel=RESULTS,
    )


def lineage(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=words("What it is: ", "类型：") + ", ".join(KINDS),
            autocompletion=completing.one_of(*KINDS),
        ),
    ],
    ref: Annotated[
        str,
        typer.Argument(
            metavar="NAME[@VERSION]",
            help=words(
                "NAME or NAME@VERSION, or ID; of a job its ID or short name.",
                "名称、名称@版本或 ID；任务用 ID 或短名称。",
            ),
        ),
    ],
    depth: Annotated[
        int, typer.Option(min=1, max=12, help=words("Steps each way.", "每个方向的步数。"), show_default=True)
    ] = 4,
    as_json: AsJson = False,
) -> None:
    """Show what a job or a version was made of, and what was made of it.

    KIND is job, dataset, model, algorithm, image or volume. Prints a line for each job and version, the further to the
    right the further away; what you may not see is not there.
    """
    from trainmaster.cli.showing.console import emit_json

    if kind not in KINDS:
        raise typer.BadParameter(
            words(f"{kind!r} is none of {', '.join(KINDS)}", f"{kind!r} 不是 {'、'.join(KINDS)} 之一")
        )
    found = client().lineage(kind, ref, depth=depth)
    if as_json:
        emit_json(found)
        return
    for line in lines(found):
        print(line)


def lines(found: "answers.LineageView") -> Iterator[str]:
    """Yield the lines of a lineage: what was asked for, then a tree each way. What several came of stands once with
    what is behind it, and then by its name alone.
    """
    tree = _Tree(found)
    yield tree.title(found.center)
    for title, upwards in (
        (words("made of", "来源"), True),
        (words("made of it, or using it", "去向"), False),
    ):
        yield ""
        behind = list(tree.behind(found.center, upwards))
        yield title + words(":", "：") + ("" if behind else words(" nothing", "无"))
        yield from tree.below(found.center, upwards, "")
    if found.more:
        yield ""
        yield words("… There is more: ask for what has … behind it.", "… 还有更多内容：请查询后面带 … 的项。")


class _Tree:
    def __init__(self, found: "answers.LineageView") -> None:
        self._nodes = {one.id: one for one in found.nodes}
        self._edges = found.edges
        self._shown: set[tuple[str, bool]] = set()

    def behind(self, id_: str, upwards: bool) -> Iterator[tuple[str, str]]:
        """Yield what is behind a node, and as what; only on the side of the middle that is drawn."""
        for edge in self._edges:
            near, far = (edge.target, edge.source) if upwards else (edge.source, edge.target)
            if near == id_ and (self._nodes[far].layer < 0) == upwards:
                yield far, edge.how

    def below(self, id_: str, upwards: bool, before: str) -> Iterator[str]:
        """Yield the lines below a node."""
        behind = list(self.behind(id_, upwards))
        for at, (far, how) in enumerate(behind):
            last = at == len(behind) - 1
            again = (far, upwards) in self._shown
            self._shown.add((far, upwards))
            yield before + (_LAST if last else _BRANCH) + self.title(far, how)
            if not again:
                yield from self.below(far, upwards, before + (_NONE if last else _DOWN))

    def title(self, id_: str, how: str = "") -> str:
        """Return the line of a node."""
        from trainmaster.cli.showing.jobs import state_name

        one = self._nodes[id_]
        name = visible(one.name) + (f"@{one.version}" if one.version is not None else "")
        told_of = [_NAMES[one.kind], name]
        if one.kind == "job" and one.ref:
            told_of += [one.ref[:12], state_name(one.status or "")]
        about = [*([_HOW[how]] if how in _HOW else []), *([_STATES[one.state]] if one.state in _STATES else [])]
        told_of += [words(f"({', '.join(about)})", f"（{'，'.join(about)}）")] if about else []
        return "  ".join(filter(None, told_of)) + (" …" if one.more else "")
