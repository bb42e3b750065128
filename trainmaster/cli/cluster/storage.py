"""Storage quotas: how they are typed and shown."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.language import memory, words

if TYPE_CHECKING:
    from trainmaster import answers

NONE = "none"
"""Instead of an amount: not limited."""
_NAMES = {"storage": "mib", "files": "files"}
"""How people write what the API calls otherwise."""

Storage = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help=words(
            "How much may be kept at most: 500GiB, 2TiB; none: any amount.",
            "存储配额，如 500GiB、2TiB；none 表示不限。",
        ),
        show_default=words("unchanged", "不变"),
    ),
]
Files = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help=words("How many files may be kept at most; none: any number.", "最多保存的文件数；none 表示不限。"),
        show_default=words("unchanged", "不变"),
    ),
]


def quota_of(known: "answers.WorkspaceView | None", storage: str | None, files: str | None) -> dict[str, float | None]:
    """Return the storage quota of a workspace as it is to be; what is None stays."""
    use = known.storage.use if known is not None else None
    made = {} if use is None else {"mib": use.limit_mib, "files": use.limit_files}
    for name, text in (("storage", storage), ("files", files)):
        if text is not None:
            made[_NAMES[name]] = read_amount(name, text)
    return {name: amount for name, amount in made.items() if amount is not None}


def read_amount(name: str, text: str) -> float | None:
    """Return an amount of storage in MiB, or a number of files; None for `none`. Exits with a message for anything
    else.
    """
    from trainmaster.core.formats.units import NotRead, parse_memory_mib

    if text == NONE:
        return None
    try:
        return parse_memory_mib(text) if name == "storage" else _read_files(text)
    except (NotRead, ValueError):
        raise typer.BadParameter(
            words(
                f"{text!r} is no amount; write for example storage 500GiB, or files 1000000",
                f"{text!r} 不是有效的数量；例如存储写 500GiB，文件数写 1000000",
            )
        ) from None


def _read_files(text: str) -> int:
    if (number := int(text)) < 0:
        raise ValueError(text)
    return number


def split(text: str) -> tuple[str, dict[str, float | None]]:
    """Return what of RESOURCE=MOST,... is of a pool, and what of it is of storage."""
    of_pool, made = [], dict[str, float | None]()
    for pair in text.split(","):
        name, equals, amount = pair.strip().partition("=")
        if equals and name in _NAMES:
            made[_NAMES[name]] = read_amount(name, amount)
        else:
            of_pool.append(pair)
    return ",".join(of_pool), made


def storage_lines(one: "answers.WorkspaceView", people: bool = False) -> Iterator[str]:
    """Yield what is kept for a workspace and may be, and for persons in it; `people`: for each of them."""
    storage = one.storage
    if people or storage.use.limit_mib is not None or storage.use.limit_files is not None:
        yield f"{words('storage', '存储')}  {_use(storage.use)}"
    if storage.per_person:
        yield f"{words('storage', '存储')}  {words('each person', '每人')}  {_most(storage.per_person)}"
    known = {person.person for person in storage.by_person}
    for name, most in storage.people.items():
        if not people or name not in known:
            yield f"{words('storage', '存储')}  {name}  {_most(most)}"
    for person in storage.by_person if people else ():
        yield f"{words('storage', '存储')}  {person.person}  {_use(person)}"


def _use(use: "answers.StorageView") -> str:
    kept = memory(use.used_bytes / 2**20)
    kept = kept if use.limit_mib is None else f"{kept} / {memory(use.limit_mib)}"
    files = f"{use.used_files:,}" if use.limit_files is None else f"{use.used_files:,} / {use.limit_files:,.0f}"
    full = "" if use.warning is None else f"  {words('full', '已满')}"
    noun = "file" if use.used_files == 1 and use.limit_files is None else "files"
    return words(f"{kept}, {files} {noun}{full}", f"{kept}，{files} 个文件{full}")


def _most(most: "dict[str, float | None]") -> str:
    texts = []
    if "mib" in most:
        size = most["mib"]
        texts.append(words("any size", "大小不限") if size is None else memory(size))
    if "files" in most:
        files = most["files"]
        number = words("any", "不限") if files is None else f"{files:,.0f}"
        texts.append(words(f"{number} files", f"文件数 {number}"))
    return words(", ", "，").join(texts)
