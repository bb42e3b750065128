"""What the commands about assets have in common, whatever their kind: by what a list is narrowed, and `star`."""

from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from trainmaster.cli.context import AsJson, each
from trainmaster.cli.helping import add
from trainmaster.cli.language import words
from trainmaster.core.formats.terminal import visible

Query = Annotated[
    str,
    typer.Argument(metavar="[TEXT]", help=words("Words of name, description, owner.", "名称、描述、所有者中的词。")),
]
Own = Annotated[
    bool,
    typer.Option("--mine/--all", help=words("Your own, or all that you may see.", "只列出自己的，或列出所有可见的。")),
]
Shared = Annotated[
    bool, typer.Option("--shared", help=words("Only what others share with you.", "只列出他人共享给您的。"))
]
Favorite = Annotated[bool, typer.Option("--favorite", help=words("Only favorites.", "只列出收藏的。"))]
Remove = Annotated[bool, typer.Option("--remove", help=words("Make them none any more.", "取消收藏。"))]

_NAME: Final = words("A name, an id, or its beginning (4 characters or more).", "名称、ID 或其开头（至少 4 个字符）。")


def add_star(
    part: typer.Typer,
    group: str,
    called: tuple[str, str],
    names: Callable[..., Any],
    favor: Callable[[], Callable[[str, bool], Any]],
) -> None:
    """Add the command that makes assets favorites to the commands of `group`. `called`: several of them, in English and
    Chinese; `names` completes theirs; `favor` returns what does it for one.
    """

    def star(given: list[str], remove: Remove = False, as_json: AsJson = False) -> None:
        from trainmaster.cli.commands.jobs import leave, print_each

        act = favor()
        found, good = each(given, lambda ref: act(ref, not remove))
        done = words("no favorite", "未收藏") if remove else words("favorite", "已收藏")
        print_each(found, as_json, lambda one: print(f"{visible(one.name)}  {done}"))
        leave(good)

    english, chinese = called
    star.__doc__ = (
        f"Make {english} favorites, which nobody else sees.\n\n"
        f"Prints the name of each. List them: tm {group} list --favorite"
    )
    star.__annotations__["given"] = Annotated[
        list[str], typer.Argument(metavar="NAME...", help=_NAME, show_default=False, autocompletion=names)
    ]
    said = f"收藏{chinese}；收藏只有自己可见。\n\n每行输出一个名称。用 tm {group} list --favorite 列出。"
    add(part, star, said, f"tm {group} star digits", f"tm {group} star digits --remove", name="star")
