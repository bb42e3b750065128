"""Public keys of SSH, and which account is whose at the sign-in provider."""

from typing import Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client, removed
from trainmaster.cli.helping import SERVER, add, group
from trainmaster.cli.language import words

Account = Annotated[
    str, typer.Argument(metavar="NAME", help=words("The user's name.", "用户名。"), autocompletion=completing.users)
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "ssh-key", "Your SSH public keys.", "您的 SSH 公钥。", SERVER)
    add(
        part,
        add_key,
        "添加 SSH 公钥；从以 .pub 结尾的文件读取，- 表示标准输入。\n\n输出指纹和类型。",
        "tm ssh-key add ~/.ssh/id_ed25519.pub",
        name="add",
    )
    add(
        part,
        list_keys,
        "列出您的 SSH 公钥。\n\n每行一个：指纹、类型、位数、注释、添加时间和来源地址。",
        "tm ssh-key list",
        name="list",
    )
    add(part, delete_key, "删除 SSH 公钥。\n\n输出已删除的指纹。", "tm ssh-key delete SHA256:3f9...", name="delete")


def add_links(part: typer.Typer) -> None:
    """Add the commands about the sign-in provider to those of users."""
    add(
        part,
        link,
        "将账户与身份提供方的用户关联；不写 SUBJECT 时显示现有关联。\n\n输出用户名和 SUBJECT。",
        "tm user link ann 7c1e-92",
    )
    add(part, unlink, "解除账户与身份提供方的关联；其会话随即结束。\n\n输出用户名。", "tm user unlink ann")


def add_key(
    file: Annotated[
        typer.FileText,
        typer.Argument(
            metavar="FILE",
            help=words("The file that ends in .pub; - reads standard input.", "以 .pub 结尾的文件；- 表示标准输入。"),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Add an SSH public key, from the file that ends in .pub or from standard input.

    Prints its fingerprint and type.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().people.add_ssh_key(file.read(16_384).strip())
    emit_json(made) if as_json else print(f"{made.fingerprint}  {made.kind}")


def list_keys(as_json: AsJson = False) -> None:
    """List your SSH public keys.

    Prints a line for each: fingerprint, type, size, comment, when and from where it was added.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().people.ssh_keys()
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("fingerprint", "指纹")),
        column(words("type", "类型")),
        column(words("bits", "位数"), right=True, leaves=3),
        column(words("comment", "注释"), least=8, wraps=True),
        column(words("added", "添加时间"), leaves=1),
        column(words("from", "来源"), leaves=2),
    )
    rows = [
        (one.fingerprint, one.kind, one.bits, one.comment, clock(one.created_at), one.address) for one in found.items
    ]
    tables.show(columns, rows) if rows else print(words("No SSH public keys.", "没有 SSH 公钥。"))


def delete_key(
    fingerprint: Annotated[
        str,
        typer.Argument(help=words("As tm ssh-key list shows it.", "指纹，见 tm ssh-key list。")),
    ],
    as_json: AsJson = False,
) -> None:
    """Delete an SSH public key.

    Prints its fingerprint.
    """
    client().people.delete_ssh_key(fingerprint)
    removed("ssh-key", fingerprint, as_json)


def link(
    name: Account,
    subject: Annotated[
        str | None,
        typer.Argument(
            help=words("How the provider calls the person (the claim sub).", "身份提供方对该用户的标识（声明 sub）。"),
            show_default=words("shows the link", "显示现有关联"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Link an account to a person at the sign-in provider; without SUBJECT, show the link.

    Prints the user and the subject.
    """
    from trainmaster.cli.showing.console import emit_json

    people = client().people
    found = people.identity(name) if subject is None else people.link(name, subject)
    emit_json(found) if as_json else print(f"{found.user}  {found.subject}  {found.issuer}")


def unlink(name: Account, as_json: AsJson = False) -> None:
    """Unlink an account from the sign-in provider; its sessions end.

    Prints the user.
    """
    from trainmaster.cli.showing.console import emit_json

    client().people.unlink(name)
    done = {"kind": "identity", "name": name, "deleted": True}
    emit_json(done) if as_json else print(words(f"{name} is no longer linked", f"{name} 已解除关联"))
