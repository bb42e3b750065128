"""Passwords and API tokens."""

from typing import Annotated

import typer

from trainmaster.cli.context import AsJson, client


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    token = typer.Typer(no_args_is_help=True, help="API tokens for programs.")
    token.command("create", epilog="Example: [bold]tm token create ci --days 90[/]")(create)
    token.command("list")(list_tokens)
    token.command("delete")(delete)
    app.add_typer(token, name="token")
    app.command(epilog="On the server's own machine the old password is not asked for.")(password)


def create(
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    days: Annotated[
        float | None, typer.Option(min=0.001, help="It expires after so many days.", show_default="never")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a token; it is shown once."""
    from trainmaster import answers
    from trainmaster.cli.render import emit_json

    body = {"name": name, **({} if days is None else {"expires_in_s": days * 86400})}
    made = client().http.read(answers.NewToken, "POST", "/tokens", json=body)
    emit_json(made) if as_json else print(made.token)


def list_tokens(as_json: AsJson = False) -> None:
    """List tokens."""
    from datetime import UTC, datetime

    from trainmaster import answers
    from trainmaster.cli.render import emit_json, table

    found = client().http.read(answers.Tokens, "GET", "/tokens").items
    if as_json:
        emit_json(found)
        return

    def day(at: float | None) -> str:
        return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")

    table(
        ("id", "name", "created", "expires", "last used"),
        [
            (one.id, one.name, day(one.created_at), day(one.expires_at) or "never", day(one.last_used_at))
            for one in found
        ],
    )


def delete(token_id: Annotated[str, typer.Argument(metavar="ID", help="The token's id, as list shows it.")]) -> None:
    """Delete a token; programs that use it are refused from now on."""
    client().http.request("DELETE", f"/tokens/{token_id}", repeat=False)


def password() -> None:
    """Set a new password for the console."""
    import getpass
    import sys

    from trainmaster.core.errors import Unauthenticated

    server = client()
    if sys.stdin.isatty():
        new = getpass.getpass("New password: ")
        if new != getpass.getpass("Once more:    "):
            print("The two are not the same; nothing was changed.", file=sys.stderr)
            sys.exit(2)
    else:
        new = sys.stdin.readline().rstrip("\n")
    try:
        server.http.json("POST", "/session/password", json={"new": new})
    except Unauthenticated:
        if not sys.stdin.isatty():
            raise
        server.http.json("POST", "/session/password", json={"old": getpass.getpass("Old password: "), "new": new})
    print("The password is changed; every other session has ended.")
